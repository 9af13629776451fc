//! IHAVE, IWANT and IDONTWANT between Undertone and the others, in both directions.

use undertone_conformance::programs::WAKU_RELAY;
use undertone_conformance::{PeerCommand, PeerProcess};

use crate::live::support::TOPIC;
use crate::live::support::network::{Kind, MESHSUB, OTHERS, line, quit, spread, start};

/// Above every program's threshold for IDONTWANT.
const LARGE_BYTES: usize = 25 << 10;

/// A hub whose mesh holds one peer only, a peer in it, and one that was refused.
async fn hub_and_two(hub: Kind, spokes: Kind, protocol: &str) -> [PeerProcess; 3] {
    let mesh_only = |command: PeerCommand| command.option("flood-publish", false);
    let small = |command: PeerCommand| {
        let command = command.option("d", 1).option("d-low", 1);
        command.option("d-high", 1)
    };
    let mut hub = start(small(mesh_only(hub.on(protocol)))).await;
    let mut inside = start(mesh_only(spokes.on(protocol))).await;
    inside.connect(hub.addr()).await.unwrap();
    inside.wait_mesh(TOPIC, 1).await.unwrap();
    hub.wait_mesh(TOPIC, 1).await.unwrap();
    let mut outside = start(mesh_only(spokes.on(protocol))).await;
    outside.connect(hub.addr()).await.unwrap();
    outside
        .wait_control(|control| control.received.prune == 1)
        .await
        .unwrap();
    assert_eq!(
        hub.mesh(TOPIC).await.unwrap(),
        [inside.peer_id()],
        "{}",
        hub.label()
    );
    [hub, inside, outside]
}

/// The refused peer gets the messages by gossip and stays away for as long as it was told.
async fn refused_peer_lives_on_gossip(kind: Kind, spokes: Kind, protocol: &str) {
    let mut peers = hub_and_two(kind, spokes, protocol).await;
    // Each takes a heartbeat: the refused peer has had its chances to break the backoff.
    for seq in 1..=4 {
        spread(&mut peers, 0, seq, 1_000).await;
    }
    let [hub, _, outside] = &mut peers;
    let (sender, reader) = (
        hub.control().await.unwrap(),
        outside.control().await.unwrap(),
    );
    let who = format!("{} to {} on {protocol}", hub.label(), outside.label());
    assert!(sender.sent.ihave >= 4, "{who}: {sender:?}");
    assert!(reader.received.ihave >= 4, "{who}: {reader:?}");
    assert!(reader.sent.iwant >= 4, "{who}: {reader:?}");
    assert!(sender.received.iwant >= 4, "{who}: {sender:?}");
    // One GRAFT, one PRUNE, and then peace.
    assert_eq!((reader.sent.graft, reader.received.prune), (1, 1), "{who}");
    let backoffs = u64::from(kind.sends_backoff(protocol));
    assert_eq!(reader.received.prune_with_backoff, backoffs, "{who}");
    assert_eq!(sender.sent.prune_with_backoff, backoffs, "{who}");
    if reader.received.prune_backoff_s.is_some() {
        assert_eq!(reader.received.prune_backoff_s, Some(60), "{who}");
    }
    quit(peers).await;
}

#[tokio::test]
async fn undertone_gossips_to_those_it_refused() {
    for protocol in [MESHSUB, WAKU_RELAY] {
        for other in OTHERS {
            refused_peer_lives_on_gossip(Kind::Undertone, other, protocol).await;
        }
    }
}

#[tokio::test]
async fn undertone_lives_on_gossip_where_it_was_refused() {
    for protocol in [MESHSUB, WAKU_RELAY] {
        for other in OTHERS {
            refused_peer_lives_on_gossip(other, Kind::Undertone, protocol).await;
        }
    }
}

/// Of three in a line, the one in the middle tells the last that it has the message.
async fn middle_says_idontwant(ends: Kind, middle: Kind, protocol: &str, expected: u64) {
    let kinds = [ends, middle, ends];
    let mut peers = line(kinds.map(|kind| kind.on(protocol))).await;
    spread(&mut peers, 0, 1, LARGE_BYTES).await;
    // Below every threshold: nothing is said. Behind the large one on each stream.
    spread(&mut peers, 0, 2, 64).await;
    let who = format!("{} on {protocol}", peers[1].label());
    peers[2]
        .wait_control(|control| control.received.idontwant == expected)
        .await
        .unwrap();
    let said = peers[1].control().await.unwrap().sent.idontwant;
    assert_eq!(said, expected, "{who}");
    quit(peers).await;
}

#[tokio::test]
async fn idontwant_goes_both_ways_on_meshsub() {
    for other in OTHERS {
        middle_says_idontwant(other, Kind::Undertone, MESHSUB, 1).await;
        middle_says_idontwant(Kind::Undertone, other, MESHSUB, 1).await;
    }
}

/// nim-libp2p sends it on Waku's id and so do we; the others must put up with it.
#[tokio::test]
async fn others_bear_our_idontwant_on_the_waku_id() {
    for other in OTHERS {
        middle_says_idontwant(other, Kind::Undertone, WAKU_RELAY, 1).await;
        middle_says_idontwant(Kind::Undertone, other, WAKU_RELAY, 0).await;
    }
}
