//! Pushes to clients of both kinds, over TCP.

use futures::AsyncWriteExt as _;
use libp2p::swarm::Stream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use undertone_message::NetworkPreset;
use undertone_relay::RelayConfig;
use undertone_services::PeerNo;

use super::*;
use crate::services::finished_work::FinishedWork;
use crate::services::framing::read_frame;
use crate::services::pusher::Pusher;
use undertone_network::driver::{NodeOptions, RunningNode, start};
use undertone_network::swarm::{InboundStream, ServiceStreams, StreamChannels};

/// Guards against hangs only.
const HANG: Duration = Duration::from_secs(60);

/// Longest frame of these tests.
const FRAME_MAX: usize = 2 << 20;

const CLIENT: PeerNo = PeerNo(7);

/// Node that carries streams of pushed messages and nothing else.
async fn bare_node() -> (RunningNode, StreamChannels) {
    let preset = NetworkPreset::by_name("local").unwrap();
    let mut relay = RelayConfig::for_network(&preset);
    relay.rln = None;
    let (streams, channels) = ServiceStreams::new(vec![StreamProtocol::new(PUSH_PROTOCOL_ID)]);
    let options = NodeOptions::for_network(&preset)
        .listen(["/ip4/127.0.0.1/tcp/0".parse().unwrap()])
        .relay(relay)
        .services(streams);
    (start(options).await.unwrap(), channels)
}

/// Server and client, connected.
struct Pair {
    _server: RunningNode,
    server_streams: StreamOpener,
    client: RunningNode,
    pushed: mpsc::UnboundedReceiver<InboundStream>,
}

impl Pair {
    async fn connected() -> Self {
        let (server, server_channels) = bare_node().await;
        let (client, client_channels) = bare_node().await;
        let address = client.addresses[0].clone();
        let address = address.with_p2p(client.peer_id).unwrap();
        server.handle.connect(address).await.unwrap();
        Self {
            _server: server,
            server_streams: server_channels.opener,
            client,
            pushed: client_channels.inbound,
        }
    }

    fn outlet(&self) -> PushStreams {
        PushStreams::new(self.server_streams.clone(), self.client.peer_id)
    }

    /// Pusher of the server, and what its tasks report.
    fn pusher(&self) -> (Pusher, mpsc::UnboundedReceiver<FinishedWork>) {
        let (done, results) = mpsc::unbounded_channel();
        (Pusher::new(self.server_streams.clone(), done), results)
    }

    /// The client's next stream.
    async fn stream(&mut self) -> Stream {
        let next = timeout(HANG, self.pushed.recv()).await;
        next.unwrap().unwrap().stream
    }

    fn has_another_stream(&mut self) -> bool {
        self.pushed.try_recv().is_ok()
    }
}

fn frame(number: u32) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}

/// Reads the next frame of a stream.
async fn next(stream: &mut Stream) -> Option<Bytes> {
    let read = timeout(HANG, read_frame(stream, FRAME_MAX)).await;
    read.unwrap().unwrap()
}

async fn delivered(results: &mut mpsc::UnboundedReceiver<FinishedWork>) {
    let report = timeout(HANG, results.recv()).await.unwrap();
    assert!(
        matches!(
            report,
            Some(FinishedWork::Pushed {
                peer: CLIENT,
                delivered: true
            })
        ),
        "a message was not delivered"
    );
}

#[tokio::test]
async fn a_client_that_reads_many_messages_gets_all_on_one_stream() {
    let mut pair = Pair::connected().await;
    let mut outlet = pair.outlet();
    assert_eq!(outlet.push(&frame(0)).await.unwrap(), PushEnd::Sent);
    let behind = KEPT_FEW as u32 + 1;
    for number in 1..=behind {
        assert_eq!(outlet.push(&frame(number)).await.unwrap(), PushEnd::Kept);
    }
    let mut stream = pair.stream().await;
    for number in 0..=behind {
        assert_eq!(next(&mut stream).await, Some(frame(number)));
    }
    let learnt = timeout(HANG, outlet.learn()).await.unwrap();
    assert_eq!(learnt, KeptEnd::Sent(behind as usize));
    assert_eq!(outlet.push(&frame(99)).await.unwrap(), PushEnd::Sent);
    assert_eq!(next(&mut stream).await, Some(frame(99)));
    assert!(!pair.has_another_stream());
}

#[tokio::test]
async fn the_first_message_takes_the_stream_that_was_opened_when_the_client_subscribed() {
    let mut pair = Pair::connected().await;
    let (mut pusher, mut results) = pair.pusher();
    let client = pair.client.peer_id;
    pusher.prepare(CLIENT, client);
    let mut stream = pair.stream().await;
    for number in 0..2 {
        pusher.push(CLIENT, client, frame(number));
        assert_eq!(next(&mut stream).await, Some(frame(number)));
    }
    delivered(&mut results).await;
    assert!(!pair.has_another_stream());
}

#[tokio::test]
async fn a_client_that_ends_the_stream_before_the_first_message_gets_it_on_another() {
    let mut pair = Pair::connected().await;
    let mut outlet = pair.outlet();
    outlet.prepare().await.unwrap();
    // Dropping the stream resets it.
    drop(pair.stream().await);
    let Habit::Unknown(Some(ready)) = &mut outlet.habit else {
        panic!("no stream was opened");
    };
    timeout(HANG, ready.ends()).await.unwrap();
    assert_eq!(outlet.push(&frame(0)).await.unwrap(), PushEnd::Sent);
    let mut stream = pair.stream().await;
    assert_eq!(next(&mut stream).await, Some(frame(0)));
    outlet.prepare().await.unwrap();
    assert!(!pair.has_another_stream(), "one is in use");
}

#[tokio::test]
async fn a_client_that_reads_one_message_of_a_stream_gets_each_once_and_in_order() {
    let mut pair = Pair::connected().await;
    let (mut pusher, mut results) = pair.pusher();
    let client = pair.client.peer_id;
    for number in 0..4 {
        pusher.push(CLIENT, client, frame(number));
    }
    // Only the first message is reported until the client shows how it reads.
    delivered(&mut results).await;
    let mut last = pair.stream().await;
    // A stream that is closed but not dropped is not reset by further data.
    let mut closed = Vec::new();
    for number in 0..4 {
        assert_eq!(next(&mut last).await, Some(frame(number)));
        if number == 0 {
            // The messages behind the first one go unread.
            assert!(results.try_recv().is_err());
        } else {
            assert_eq!(next(&mut last).await, None, "a stream of its own is closed");
        }
        last.close().await.unwrap();
        if number < 3 {
            closed.push(std::mem::replace(&mut last, pair.stream().await));
        }
    }
    for _ in 1..4 {
        delivered(&mut results).await;
    }
    // From now on the client's kind is known.
    for number in 4..6 {
        pusher.push(CLIENT, client, frame(number));
        delivered(&mut results).await;
    }
    for number in 4..6 {
        let mut stream = pair.stream().await;
        assert_eq!(next(&mut stream).await, Some(frame(number)));
        assert_eq!(next(&mut stream).await, None);
    }
    assert!(!pair.has_another_stream());
}

#[tokio::test]
async fn messages_behind_a_reset_stream_come_again_and_the_client_is_asked_anew() {
    let mut pair = Pair::connected().await;
    let (mut pusher, mut results) = pair.pusher();
    let client = pair.client.peer_id;
    pusher.push(CLIENT, client, frame(0));
    delivered(&mut results).await;
    pusher.push(CLIENT, client, frame(1));
    let mut first = pair.stream().await;
    assert_eq!(next(&mut first).await, Some(frame(0)));
    // A stream that is dropped before it is closed is reset.
    drop(first);
    let mut apart = pair.stream().await;
    assert_eq!(next(&mut apart).await, Some(frame(1)));
    delivered(&mut results).await;
    for number in 2..4 {
        pusher.push(CLIENT, client, frame(number));
    }
    let mut stream = pair.stream().await;
    assert_eq!(next(&mut stream).await, Some(frame(2)));
    assert_eq!(next(&mut stream).await, Some(frame(3)));
    assert!(!pair.has_another_stream());
}

#[tokio::test]
async fn a_client_that_reads_late_finds_whole_frames_after_a_push_that_was_given_up() {
    let mut pair = Pair::connected().await;
    let mut outlet = pair.outlet();
    outlet.push(&frame(0)).await.unwrap();
    outlet.push(&frame(1)).await.unwrap();
    // More than the stream accepts while the client does not read.
    let long = Bytes::from(vec![7; FRAME_MAX]);
    let push = timeout(Duration::from_millis(200), outlet.push(&long)).await;
    assert!(push.is_err());
    assert_eq!(outlet.give_up(), 1);
    let mut stream = pair.stream().await;
    let frames = [frame(0), frame(1), long, frame(2)];
    let (pushed, ()) = tokio::join!(outlet.push(&frames[3]), async {
        for frame in &frames {
            assert!(next(&mut stream).await.as_ref() == Some(frame));
        }
    });
    assert_eq!(pushed.unwrap(), PushEnd::Kept);
    assert!(!pair.has_another_stream());
}
