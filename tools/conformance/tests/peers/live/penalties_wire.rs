//! What costs an attacker its connection, and that it stays outside.

use std::time::Duration;

use libp2p::identity::Keypair;
use undertone_node::driver::NodeEvent;

use crate::live::support::network::waku_data;
use crate::live::support::raw_peer::RawPeer;
use crate::live::support::rpc;
use crate::live::support::victim::Victim;

/// Messages that a topic's counter of invalid ones takes to -100 n² < -10000.
const INVALID_TO_GRAYLIST: usize = 11;

/// Data that is no `WakuMessage`, each time another.
fn invalid(n: usize) -> Vec<u8> {
    format!("\x0a\x7fcut short {n}").into_bytes()
}

#[tokio::test]
async fn invalid_messages_cost_the_connection() {
    let mut victim = Victim::start().await;
    let mut attacker = RawPeer::connect(victim.addr()).await;
    for n in 0..INVALID_TO_GRAYLIST {
        attacker.send(&rpc::message(&invalid(n))).await;
    }
    for _ in 0..INVALID_TO_GRAYLIST {
        let from = victim
            .event(|event| match event {
                NodeEvent::Rejected { from, .. } => Some(from),
                _ => None,
            })
            .await;
        assert_eq!(from, attacker.id);
    }
    assert_eq!(victim.graylisted(attacker.id).await, -12_100.0);
    attacker.closed().await;
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn one_invalid_message_fewer_does_not() {
    let mut victim = Victim::start().await;
    let mut attacker = RawPeer::connect(victim.addr()).await;
    for n in 1..INVALID_TO_GRAYLIST {
        attacker.send(&rpc::message(&invalid(n))).await;
    }
    let frames = INVALID_TO_GRAYLIST as u64 - 1;
    victim.wait_frames(frames).await;
    let score = victim.peer(attacker.id).await.unwrap().score;
    assert_eq!(score, -10_000.0);
    attacker.send(&rpc::subscribe()).await;
    victim
        .wait_peer(attacker.id, |peer| !peer.topics.is_empty())
        .await;
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn the_graylisted_are_refused_at_the_door() {
    let mut victim = Victim::start().await;
    let key = Keypair::generate_ed25519();
    let id = key.public().to_peer_id();
    let mut attacker = RawPeer::connect_as(key.clone(), victim.addr())
        .await
        .unwrap();
    for n in 0..INVALID_TO_GRAYLIST {
        attacker.send(&rpc::message(&invalid(n))).await;
    }
    attacker.closed().await;
    victim.graylisted(id).await;

    let before = victim.gossip().await.stats;
    for n in 0..20 {
        if let Some(mut attacker) = RawPeer::connect_as(key.clone(), victim.addr()).await {
            // A valid message this time; it comes too late.
            attacker.send(&rpc::message(&waku_data(n, 100))).await;
            attacker.closed().await;
        }
        victim.graylisted(id).await;
    }
    let after = victim.gossip().await;
    assert_eq!(after.stats.messages_received, before.messages_received);
    assert!(after.usage.departed <= 1, "{:?}", after.usage);
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn churning_identities_leave_nothing_but_their_indices() {
    let mut victim = Victim::start().await;
    for _ in 0..50 {
        let mut attacker = RawPeer::connect(victim.addr()).await;
        let frame = rpc::control(|rpc| {
            rpc::unknown_topics(0, 200).for_each(|name| rpc.subscription(true, &name));
        });
        attacker.send(&frame).await;
        let id = attacker.id;
        victim.wait_peer(id, |peer| !peer.topics.is_empty()).await;
        drop(attacker);
        victim
            .event(|event| match event {
                NodeEvent::PeerDisconnected { peer } if peer == id => Some(()),
                _ => None,
            })
            .await;
    }
    let usage = victim.gossip().await.usage;
    assert_eq!((usage.topics, usage.departed), (1, 50));
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn bytes_that_are_no_protobuf_cost_the_connection() {
    let mut victim = Victim::start().await;
    let mut attacker = RawPeer::connect(victim.addr()).await;
    let bad: [&[u8]; 5] = [
        b"\x0a\xff\xff\xff\xff\x7f", // a length past the end
        b"\x0b",                     // a group
        b"\x02\x00",                 // field number 0
        b"\x0a\x03\x08\x01\x10",     // a subscription that ends in a tag
        b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", // a number of more than 64 bits
    ];
    // -10 n² < -10000.
    for frame in bad.iter().cycle().take(32) {
        attacker.send(&rpc::framed(frame)).await;
    }
    assert_eq!(victim.graylisted(attacker.id).await, -10_240.0);
    attacker.closed().await;
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn grafting_during_backoff_costs_the_connection() {
    let mut victim = Victim::start().await;
    let mut attacker = RawPeer::connect(victim.addr()).await;
    attacker.send(&rpc::subscribe()).await;
    victim.wait_mesh(attacker.id).await;
    attacker
        .send(&rpc::control(|rpc| rpc.prune(&rpc::topic(), Some(60), &[])))
        .await;
    // Two counts each, within seconds of the PRUNE: -10 (2 n)² < -10000 for the sixteenth.
    for _ in 0..15 {
        attacker.send(&rpc::graft()).await;
        while attacker.rpc().await.prune.is_empty() {}
    }
    let score = victim.peer(attacker.id).await.unwrap().score;
    assert_eq!(score, -9_000.0);
    attacker.send(&rpc::graft()).await;
    assert_eq!(victim.graylisted(attacker.id).await, -10_240.0);
    attacker.closed().await;
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn broken_promises_cost_score() {
    let quick = Duration::from_millis(50);
    let mut victim = Victim::with(|gossip| {
        gossip.heartbeat = quick;
        gossip.iwant_followup = quick;
    })
    .await;
    let mut attacker = RawPeer::connect(victim.addr()).await;
    let ids = rpc::unknown_ids(0, 20);
    attacker
        .send(&rpc::control(|rpc| rpc.ihave(&rpc::topic(), &ids)))
        .await;
    victim.wait_peer(attacker.id, |peer| peer.score < 0.0).await;
    // One of the twenty was tracked.
    assert_eq!(victim.peer(attacker.id).await.unwrap().score, -10.0);
    victim.wait(|router| router.usage.iwant_requests == 0).await;
    victim.unharmed().await;
    victim.stop().await;
}
