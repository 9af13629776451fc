//! Peers that are slow, and bursts.

use std::collections::BTreeSet;

use libp2p::Multiaddr;
use undertone_conformance::programs::WAKU_RELAY;
use undertone_conformance::protocol::{Command, Content, Published};

use crate::live::support::network::{Kind, MESHSUB, expect_message, line, publish, quit};
use crate::live::support::raw_peer::RawPeer;
use crate::live::support::{TOPIC, rpc};

#[tokio::test]
async fn a_burst_of_large_messages_crosses_a_line_of_five() {
    let mut peers = line([Kind::Undertone; 5].map(|kind| kind.on(WAKU_RELAY))).await;
    let mut pending = Vec::new();
    for seq in 0..8 {
        let topic = TOPIC.to_owned();
        let size = 150_000;
        let content = Content::Stamped { seq, size };
        let command = Command::Publish { topic, content };
        pending.push(peers[0].send("publish", command).await.unwrap());
    }
    let mut sent = BTreeSet::new();
    for reply in pending {
        sent.insert(peers[0].reply::<Published>(reply).await.unwrap().id);
    }
    assert_eq!(sent.len(), 8);
    for peer in &mut peers[1..] {
        let mut received = BTreeSet::new();
        for _ in 0..8 {
            received.insert(peer.next_message().await.unwrap().id);
        }
        assert_eq!(received, sent, "{}", peer.label());
    }
    quit(peers).await;
}

/// Length of the messages that are not read, bytes.
const UNREAD_BYTES: usize = 1_000_000;
/// How many: far more bytes than may wait, and fewer than the control frames that may.
const UNREAD: u64 = 200;
/// What the node may hold, KiB: 32 MiB for the peer, 64 MiB in the cache, and room to work in.
const GROWTH_MAX_KIB: u64 = 120 << 10;

#[tokio::test]
async fn a_peer_that_does_not_read_costs_no_more_than_its_queue_and_delays_nobody() {
    let mut peers = line([Kind::Undertone; 3].map(|kind| kind.on(MESHSUB))).await;
    let node: Multiaddr = peers[1].addr().parse().unwrap();
    let mut deaf = RawPeer::connect_deaf(&node).await;
    deaf.send(&rpc::subscribe()).await;
    peers[1].wait_mesh(TOPIC, 3).await.unwrap();
    let before_kib = peers[1].stat().await.unwrap().rss_kib;

    let mut largest_kib = before_kib;
    for seq in 1..=UNREAD {
        // Each only when the last has arrived: one that waited for the deaf peer would never arrive.
        let size = UNREAD_BYTES;
        let content = Content::Stamped { seq, size };
        let id = peers[0].publish(TOPIC, content).await.unwrap();
        expect_message(&mut peers[1], &id).await;
        expect_message(&mut peers[2], &id).await;
        if seq % 10 == 0 {
            let rss_kib = peers[1].stat().await.unwrap().rss_kib;
            largest_kib = largest_kib.max(rss_kib);
        }
    }
    assert!(
        largest_kib - before_kib < GROWTH_MAX_KIB,
        "{before_kib} KiB grew to {largest_kib} KiB"
    );
    assert_eq!(peers[1].mesh(TOPIC).await.unwrap().len(), 3, "still there");

    // It is told of each large message; when 256 such frames wait, it is clear that it does not read.
    let mut seq = UNREAD;
    while peers[1].mesh(TOPIC).await.unwrap().len() == 3 {
        seq += 1;
        assert!(seq <= 300, "the deaf peer is still connected");
        let id = publish(&mut peers[0], seq, 2_000).await;
        expect_message(&mut peers[1], &id).await;
        expect_message(&mut peers[2], &id).await;
    }
    deaf.closed().await;
    quit(peers).await;
}
