use std::future::poll_fn;
use std::task::Poll;

use libp2p::swarm::NetworkBehaviour as _;

use super::*;
use undertone_network::swarm::ServiceStreams;

/// Pusher on a network without connections, and what its tasks report.
fn alone() -> (Pusher, mpsc::UnboundedReceiver<FinishedWork>) {
    let (mut streams, channels) = ServiceStreams::new(Vec::new());
    tokio::spawn(poll_fn(move |cx| {
        let _ = streams.poll(cx);
        Poll::<()>::Pending
    }));
    let (done, results) = mpsc::unbounded_channel();
    (Pusher::new(channels.opener, done), results)
}

#[tokio::test]
async fn the_task_of_a_peer_without_connection_fails_ends_and_is_forgotten() {
    let (mut pusher, mut results) = alone();
    let peer = PeerNo(7);
    for _ in 0..3 {
        pusher.push(peer, PeerId::random(), Bytes::from_static(b"frame"));
    }
    for _ in 0..3 {
        let report = results.recv().await;
        let is_failed = |report| matches!(report, Some(FinishedWork::Pushed { peer: of, delivered: false }) if of == peer);
        assert!(is_failed(report));
    }
    assert!(pusher.pushes_to(peer));
    let report = results.recv().await;
    assert!(matches!(report, Some(FinishedWork::Idle { peer: of }) if of == peer));
    pusher.forget_ended(peer);
    assert!(pusher.tasks.is_empty());
}

#[tokio::test]
async fn a_task_that_was_started_again_is_not_forgotten() {
    let (mut pusher, mut results) = alone();
    let (peer, identity) = (PeerNo(7), PeerId::random());
    pusher.push(peer, identity, Bytes::from_static(b"frame"));
    while !matches!(results.recv().await, Some(FinishedWork::Idle { .. })) {}
    pusher.push(peer, identity, Bytes::from_static(b"another"));
    pusher.forget_ended(peer);
    assert!(pusher.pushes_to(peer));
}
