//! Floods that are about memory, against a node in a process of its own.

use libp2p::Multiaddr;
use undertone_conformance::PeerProcess;

use crate::live::support::network::{Kind, MESHSUB, expect_message, line, publish, quit, start};
use crate::live::support::raw_peer::RawPeer;
use crate::live::support::{TOPIC, rpc};

/// What a flood may cost the node, KiB: one frame and its decoded form, buffers of the connections.
const GROWTH_MAX_KIB: u64 = 24 << 10;
/// Frames so long that 349 525 SUBSCRIBEs fit one.
const MESSAGE_BYTES_MAX: usize = 4 << 20;

/// Connections that claim lengths, and streams that each opens beside its first. Whoever opens one more loses
/// the connection.
const CLAIMING_CONNECTIONS: usize = 40;
const MORE_STREAMS: usize = 4;

/// Frames of each kind in the flood of control, and ids in each of those that name messages.
const TURNS: usize = 40;
const IDS: usize = 4_000;

/// The node under attack, warmed up by an honest peer that stays.
async fn node_and_friend() -> (PeerProcess, PeerProcess, Multiaddr, u64) {
    let node = Kind::Undertone.on(MESHSUB);
    let node = node.option("max-message-bytes", MESSAGE_BYTES_MAX);
    let mut peers = line([node, Kind::Undertone.on(MESHSUB)]).await;
    let (mut friend, mut node) = (peers.remove(1), peers.remove(0));
    let id = publish(&mut friend, 1, 100_000).await;
    expect_message(&mut node, &id).await;
    let addr = node.addr().parse().unwrap();
    let rss_kib = node.stat().await.unwrap().rss_kib;
    (node, friend, addr, rss_kib)
}

/// The node is not much larger than it was, and still relays.
async fn unharmed(mut node: PeerProcess, mut friend: PeerProcess, rss_before_kib: u64) {
    let mut newcomer = start(Kind::Undertone.on(MESHSUB)).await;
    newcomer.connect(node.addr()).await.unwrap();
    newcomer.wait_mesh(TOPIC, 1).await.unwrap();
    let id = publish(&mut friend, 2, 100_000).await;
    expect_message(&mut node, &id).await;
    expect_message(&mut newcomer, &id).await;
    let grown_kib = (node.stat().await.unwrap().rss_kib).saturating_sub(rss_before_kib);
    assert!(
        grown_kib < GROWTH_MAX_KIB,
        "{rss_before_kib} KiB grew by {grown_kib} KiB"
    );
    quit([node, friend, newcomer]).await;
}

/// CVE-2026-46679: 349 525 SUBSCRIBEs in one frame of 4 MiB cost others 89 MB each time.
#[tokio::test]
async fn a_frame_full_of_subscriptions() {
    let (mut node, friend, addr, before_kib) = node_and_friend().await;
    let mut frame = Vec::with_capacity(MESSAGE_BYTES_MAX);
    for n in 0..349_525 {
        frame.extend_from_slice(b"\x0a\x0a\x08\x01\x12\x06");
        frame.extend_from_slice(format!("{n:06}").as_bytes());
    }
    let frame = rpc::framed(&frame);
    let mut attackers = Vec::new();
    for _ in 0..3 {
        let mut attacker = RawPeer::connect(&addr).await;
        for _ in 0..3 {
            attacker.send(&frame).await;
        }
        // Counted only after the frames before it were read.
        let last = rpc::unknown_ids(0, 1);
        attacker.send(&rpc::control(|rpc| rpc.iwant(&last))).await;
        attackers.push(attacker);
    }
    node.wait_control(|control| control.received.iwant == 3)
        .await
        .unwrap();
    unharmed(node, friend, before_kib).await;
}

/// CVE-2022-23486: lengths that are claimed and never sent, on as many streams as possible.
#[tokio::test]
async fn claimed_lengths_on_many_streams() {
    let (node, friend, addr, before_kib) = node_and_friend().await;
    let claim = rpc::varint(MESSAGE_BYTES_MAX as u64);
    let mut held = Vec::new();
    for _ in 0..CLAIMING_CONNECTIONS {
        let mut attacker = RawPeer::connect(&addr).await;
        let mut streams = Vec::new();
        for _ in 0..MORE_STREAMS {
            let stream = attacker.send_on_new_stream(&claim).await;
            streams.push(stream.expect("the node takes so many streams"));
        }
        held.push((attacker, streams));
    }
    let mut greedy = RawPeer::connect(&addr).await;
    let mut taken = 0;
    while greedy.send_on_new_stream(&claim).await.is_some() {
        taken += 1;
    }
    assert!(
        taken < 2 * MORE_STREAMS,
        "{taken} streams of one connection"
    );
    unharmed(node, friend, before_kib).await;
}

/// Everything that a peer can make a node remember, at full speed.
#[tokio::test]
async fn control_of_every_kind() {
    let (mut node, friend, addr, before_kib) = node_and_friend().await;
    let mut attacker = RawPeer::connect(&addr).await;
    let ids = |turn| rpc::unknown_ids(turn * IDS, IDS);
    for turn in 0..TURNS {
        let ids = ids(turn);
        attacker.send(&rpc::control(|rpc| rpc.iwant(&ids))).await;
        attacker
            .send(&rpc::control(|rpc| rpc.idontwant(&ids)))
            .await;
        let names: Vec<_> = rpc::unknown_topics(turn * 250, 250).collect();
        let frame = rpc::control(|rpc| {
            for name in &names {
                rpc.subscription(true, name);
                rpc.graft(name);
                rpc.prune(name, Some(u64::MAX), &[]);
            }
        });
        attacker.send(&frame).await;
    }
    node.wait_control(|control| control.received.prune >= 10_000)
        .await
        .unwrap();
    for turn in 0..TURNS {
        let ids = ids(turn);
        attacker
            .send(&rpc::control(|rpc| rpc.ihave(&rpc::topic(), &ids)))
            .await;
    }
    // Whoever announces messages and does not send them within some seconds loses the connection, on a slow machine
    // before all has been counted.
    tokio::select! {
        counted = node.wait_control(|control| control.received.ihave >= (TURNS * IDS) as u64) => counted.unwrap(),
        () = attacker.closed() => {}
    }
    unharmed(node, friend, before_kib).await;
}
