//! One mesh of Undertone, Rust and JavaScript GossipSub: messages, GRAFT, PRUNE.

use undertone_conformance::{PeerProcess, programs::WAKU_RELAY};

use crate::live::support::TOPIC;
use crate::live::support::network::{
    Kind, MESHSUB, OTHERS, expect_message, line, publish, quit, spread, start,
};

async fn everyone_gets_everything(protocol: &str) {
    use Kind::{Js, Rust, Undertone};
    // Every pair with Undertone in it is a neighbourhood, and Undertone forwards between all kinds.
    let kinds = [Rust, Undertone, Js, Undertone, Undertone, Rust, Js];
    let mut peers = line(kinds.map(|kind| kind.on(protocol))).await;
    for from in 0..peers.len() {
        for (turn, size) in [(0, 100), (1, 100 << 10)] {
            spread(&mut peers, from, 10 * turn + from as u64, size).await;
        }
    }
    quit(peers).await;
}

#[tokio::test]
async fn every_message_reaches_every_other_peer_on_meshsub() {
    everyone_gets_everything(MESHSUB).await;
}

#[tokio::test]
async fn every_message_reaches_every_other_peer_on_the_waku_id() {
    everyone_gets_everything(WAKU_RELAY).await;
}

/// `grafter` does all the grafting; the mesh must then stand on both sides and carry messages.
async fn grafts(grafter: Kind, other: Kind, protocol: &str) {
    let quiet = other.on(protocol).option("flood-publish", false);
    let quiet = quiet.option("d", 0).option("d-low", 0);
    let mut quiet = start(quiet).await;
    let grafter = grafter.on(protocol).option("flood-publish", false);
    let mut grafter = start(grafter).await;
    grafter.connect(quiet.addr()).await.unwrap();
    grafter.wait_mesh(TOPIC, 1).await.unwrap();
    quiet.wait_mesh(TOPIC, 1).await.unwrap();

    let (sent, received) = (
        grafter.control().await.unwrap(),
        quiet.control().await.unwrap(),
    );
    assert_eq!(sent.sent.graft, 1, "{} {protocol}", grafter.label());
    assert_eq!(received.received.graft, 1, "{} {protocol}", quiet.label());
    assert_eq!((sent.received.graft, received.sent.graft), (0, 0));

    let mut peers = [grafter, quiet];
    spread(&mut peers, 0, 1, 100).await;
    spread(&mut peers, 1, 2, 100).await;
    for peer in &mut peers {
        // Had there been no mesh, the messages would have come by gossip.
        assert_eq!(peer.control().await.unwrap().received.iwant, 0);
    }
    quit(peers).await;
}

#[tokio::test]
async fn each_side_grafts_the_other() {
    for protocol in [MESHSUB, WAKU_RELAY] {
        for other in OTHERS {
            grafts(Kind::Undertone, other, protocol).await;
            grafts(other, Kind::Undertone, protocol).await;
        }
    }
}

/// Both sides counted the same.
async fn agree(undertone: &mut PeerProcess, other: &mut PeerProcess) {
    let (ours, theirs) = (
        undertone.control().await.unwrap(),
        other.control().await.unwrap(),
    );
    let label = other.label();
    assert_eq!(ours.sent.graft, theirs.received.graft, "{label}");
    assert_eq!(ours.received.graft, theirs.sent.graft, "{label}");
    assert_eq!(ours.sent.prune, theirs.received.prune, "{label}");
    assert_eq!(ours.received.prune, theirs.sent.prune, "{label}");
    assert_eq!(
        ours.sent.prune_with_backoff, theirs.received.prune_with_backoff,
        "{label}"
    );
    assert_eq!(
        ours.received.prune_with_backoff, theirs.sent.prune_with_backoff,
        "{label}"
    );
}

/// Who leaves a topic prunes its mesh, with the backoff for leaving.
async fn leaving_prunes(kind: Kind, protocol: &str) {
    for undertone_leaves in [true, false] {
        let mut peers = line([Kind::Undertone.on(protocol), kind.on(protocol)]).await;
        let [undertone, other] = &mut peers[..] else {
            unreachable!("two peers were started")
        };
        let (leaver, left) = if undertone_leaves {
            (&mut *undertone, &mut *other)
        } else {
            (&mut *other, &mut *undertone)
        };
        leaver.unsubscribe(TOPIC).await.unwrap();
        left.wait_control(|control| control.received.prune == 1)
            .await
            .unwrap();
        let carried = undertone_leaves || kind.sends_backoff(protocol);
        let heard = left.control().await.unwrap().received;
        assert_eq!(heard.prune_with_backoff, u64::from(carried), "{kind:?}");
        assert_eq!(left.mesh(TOPIC).await.unwrap(), [""; 0]);
        agree(undertone, other).await;
        if undertone_leaves {
            // Waku's backoff for leaving, in seconds.
            let heard = other.control().await.unwrap().received;
            assert_eq!(heard.prune_backoff_s, Some(5));
        }
        quit(peers).await;
    }
}

#[tokio::test]
async fn leaving_prunes_with_a_backoff_in_both_directions() {
    for protocol in [MESHSUB, WAKU_RELAY] {
        for other in OTHERS {
            leaving_prunes(other, protocol).await;
        }
    }
}

/// With JavaScript only: the Rust library takes the UNSUBSCRIBE that goes before the PRUNE for a PRUNE
/// without a backoff, and keeps us out for its own 60 s.
#[tokio::test]
async fn undertone_comes_back_after_the_backoff_of_leaving() {
    let mut peers = line([Kind::Undertone.on(MESHSUB), Kind::Js.on(MESHSUB)]).await;
    peers[0].unsubscribe(TOPIC).await.unwrap();
    peers[1]
        .wait_control(|control| control.received.prune == 1)
        .await
        .unwrap();
    peers[0].subscribe(TOPIC).await.unwrap();
    peers[0].wait_mesh(TOPIC, 1).await.unwrap();
    peers[1].wait_mesh(TOPIC, 1).await.unwrap();
    // A GRAFT that comes too early is answered with a PRUNE.
    let (ours, theirs) = (
        peers[0].control().await.unwrap(),
        peers[1].control().await.unwrap(),
    );
    assert_eq!((theirs.sent.prune, theirs.received.prune), (0, 1));
    assert_eq!((ours.sent.prune, ours.received.prune), (1, 0));
    let id = publish(&mut peers[1], 1, 100).await;
    expect_message(&mut peers[0], &id).await;
    quit(peers).await;
}
