//! What an attacker can put on the wire, and that the bounds hold: spam behaviours of
//! go-libp2p-pubsub's tests and published vulnerabilities.

use std::time::Duration;

use undertone_gossip::MessageId;
use undertone_gossip::wire::VARINT_LEN_MAX;

use crate::live::support::network::waku_data;
use crate::live::support::raw_peer::RawPeer;
use crate::live::support::rpc;
use crate::live::support::victim::Victim;

/// Short, for what happens at heartbeats.
const QUICK: Duration = Duration::from_millis(50);

#[tokio::test]
async fn a_length_prefix_over_the_limit_ends_the_connection() {
    let mut victim = Victim::start().await;
    let over = rpc::varint(victim.limits().frame_bytes_max as u64 + 1);
    let huge = rpc::varint(u64::MAX);
    let endless = vec![0xff; VARINT_LEN_MAX + 1];
    for prefix in [over, huge, endless] {
        let mut attacker = RawPeer::connect(victim.addr()).await;
        attacker.send(&prefix).await;
        attacker.closed().await;
        victim.unharmed().await;
    }
    victim.stop().await;
}

#[tokio::test]
async fn a_frame_of_exactly_the_limit_is_taken() {
    let mut victim = Victim::start().await;
    let max = victim.limits().frame_bytes_max;
    let mut peer = RawPeer::connect(victim.addr()).await;
    // Field 9 is unknown and skipped; four bytes are its tag and length.
    let mut frame = vec![9 << 3 | 2];
    frame.extend(rpc::varint(max as u64 - 4));
    frame.resize(max, 0);
    peer.send(&rpc::framed(&frame)).await;
    peer.send(&rpc::subscribe()).await;
    victim.wait_frames(2).await;
    victim
        .wait_peer(peer.id, |peer| !peer.topics.is_empty())
        .await;
    assert_eq!(victim.peer(peer.id).await.unwrap().score, 0.0);
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn more_subscriptions_than_a_frame_may_hold_change_nothing() {
    let mut victim = Victim::start().await;
    let mut attacker = RawPeer::connect(victim.addr()).await;
    // CVE-2026-46679: as many as fit a frame, twelve bytes each.
    let count = victim.limits().frame_bytes_max / 12;
    let frame = (0..count).flat_map(|n| {
        let mut entry = b"\x0a\x0a\x08\x01\x12\x06".to_vec();
        entry.extend(format!("{n:06}").bytes());
        entry
    });
    attacker
        .send(&rpc::framed(&frame.collect::<Vec<_>>()))
        .await;
    let usage = victim.wait_frames(1).await.usage;
    assert_eq!((usage.topics, usage.subscriptions_of_a_peer), (1, 0));
    assert!(victim.peer(attacker.id).await.unwrap().score < 0.0);
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn subscriptions_are_bounded_per_peer_and_over_all() {
    let mut victim = Victim::start().await;
    let limits = victim.limits().clone();
    let (per_rpc, per_peer) = (
        limits.subscriptions_per_rpc_max,
        limits.subscriptions_per_peer_max,
    );
    let mut attackers = Vec::new();
    let mut frames = 0;
    // Each has twice its share; together they have more than there is.
    for n in 0..limits.topics_max / per_peer + 2 {
        let mut attacker = RawPeer::connect(victim.addr()).await;
        for turn in 0..2 {
            let names = rpc::unknown_topics((2 * n + turn) * per_rpc, per_rpc);
            let frame = rpc::control(|rpc| names.for_each(|name| rpc.subscription(true, &name)));
            attacker.send(&frame).await;
            frames += 1;
        }
        attackers.push(attacker);
    }
    let usage = victim.wait_frames(frames).await.usage;
    assert_eq!(usage.subscriptions_of_a_peer, per_peer);
    assert_eq!(usage.topics, limits.topics_max);
    victim.unharmed().await;
    // What they held goes with them.
    drop(attackers);
    victim.wait(|router| router.usage.topics == 1).await;
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn a_backoff_of_any_size_is_survived_at_once_and_at_the_heartbeat() {
    let mut victim = Victim::with(|gossip| gossip.heartbeat = QUICK).await;
    // CVE-2026-33040 and CVE-2026-34219: the maximum, and where a sum with now or with slack overflows.
    let in_ns = u64::MAX / 1_000_000_000;
    let backoffs_s = [u64::MAX, u64::MAX - 1, u64::MAX / 2, in_ns, in_ns - 1];
    for (turn, backoff_s) in (1..).zip(backoffs_s) {
        let mut attacker = RawPeer::connect(victim.addr()).await;
        attacker.send(&rpc::subscribe()).await;
        victim.wait_mesh(attacker.id).await;
        let prune = rpc::control(|rpc| rpc.prune(&rpc::topic(), Some(backoff_s), &[]));
        attacker.send(&prune).await;
        victim
            .wait_peer(attacker.id, |peer| peer.in_mesh.is_empty())
            .await;
        // The heartbeat tells a subscriber outside the mesh, and has looked at its backoff before.
        let mut author = RawPeer::connect(victim.addr()).await;
        let data = waku_data(turn, 100);
        author.send(&rpc::message(&data)).await;
        attacker.wait_for_ihave(MessageId::of(&data)).await;
        assert_eq!(victim.gossip().await.stats.sent.graft, turn);
    }
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn prunes_of_topics_that_were_not_joined_leave_nothing() {
    let mut victim = Victim::start().await;
    let mut attacker = RawPeer::connect(victim.addr()).await;
    // GHSA-vrx6-jcp8-vm7m.
    for turn in 0..20 {
        let frame = rpc::control(|rpc| {
            rpc::unknown_topics(turn * 500, 500).for_each(|name| rpc.prune(&name, Some(60), &[]));
        });
        attacker.send(&frame).await;
    }
    let router = victim.wait_frames(20).await;
    assert_eq!(router.stats.received.prune, 10_000);
    assert_eq!((router.usage.backoffs, router.usage.topics), (0, 1));
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn grafts_of_unknown_topics_get_no_answer() {
    let mut victim = Victim::start().await;
    let mut attacker = RawPeer::connect(victim.addr()).await;
    // GHSA-g3g5-x568-qvqx.
    for turn in 0..20 {
        let frame = rpc::control(|rpc| {
            rpc::unknown_topics(turn * 500, 500).for_each(|name| rpc.graft(&name));
        });
        attacker.send(&frame).await;
    }
    let router = victim.wait_frames(20).await;
    assert_eq!(router.stats.received.graft, 10_000);
    assert_eq!(router.stats.sent.prune, 0);
    assert_eq!((router.usage.backoffs, router.usage.topics), (0, 1));
    // Its first RPC is the node's subscription; the next is the answer to what it subscribes to.
    assert_eq!(attacker.rpc().await.subscriptions.len(), 1);
    attacker.send(&rpc::subscribe()).await;
    assert_eq!(attacker.rpc().await.graft, [rpc::topic()]);
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn the_same_message_is_sent_three_times_on_request() {
    let mut victim = Victim::start().await;
    let mut author = RawPeer::connect(victim.addr()).await;
    let (wanted, last) = (waku_data(1, 500), waku_data(2, 500));
    author.send(&rpc::message(&wanted)).await;
    author.send(&rpc::message(&last)).await;
    victim.wait_frames(2).await;

    let mut attacker = RawPeer::connect(victim.addr()).await;
    let (wanted, last) = (MessageId::of(&wanted), MessageId::of(&last));
    for _ in 0..10 {
        attacker
            .send(&rpc::control(|rpc| rpc.iwant(&[wanted])))
            .await;
        attacker
            .send(&rpc::control(|rpc| rpc.iwant(&[wanted; 10])))
            .await;
    }
    attacker.send(&rpc::control(|rpc| rpc.iwant(&[last]))).await;
    let got = attacker.messages_until(last).await;
    assert_eq!(got, [wanted, wanted, wanted, last]);
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn ten_ihaves_are_heard_between_two_heartbeats() {
    let mut victim = Victim::start().await;
    let mut attacker = RawPeer::connect(victim.addr()).await;
    for id in rpc::unknown_ids(0, 60).chunks(2) {
        let frame = rpc::control(|rpc| {
            rpc.ihave(&rpc::topic(), &id[..1]);
            rpc.ihave(&rpc::topic(), &id[1..]);
        });
        attacker.send(&frame).await;
    }
    let router = victim.wait_frames(30).await;
    assert_eq!(
        (router.stats.received.ihave, router.stats.sent.iwant),
        (60, 10)
    );
    assert_eq!(router.usage.iwant_requests, 10);

    // Another peer, and more ids than may be asked for.
    let mut attacker = RawPeer::connect(victim.addr()).await;
    let max = victim.limits().iwant_ids_per_heartbeat_max;
    for turn in 0..3 {
        let ids = rpc::unknown_ids(100 + turn * max, max);
        attacker
            .send(&rpc::control(|rpc| rpc.ihave(&rpc::topic(), &ids)))
            .await;
    }
    let router = victim.wait_frames(33).await;
    assert_eq!(router.stats.sent.iwant, 10 + max as u64);
    victim.unharmed().await;
    victim.stop().await;
}

#[tokio::test]
async fn idontwants_are_bounded_and_forgotten() {
    let mut victim = Victim::start().await;
    let mut attacker = RawPeer::connect(victim.addr()).await;
    for turn in 0..20 {
        let ids = rpc::unknown_ids(turn * 500, 500);
        attacker
            .send(&rpc::control(|rpc| rpc.idontwant(&ids)))
            .await;
    }
    let router = victim.wait_frames(20).await;
    assert_eq!(router.stats.received.idontwant, 10_000);
    let max = victim.limits().idontwant_ids_per_heartbeat_max;
    assert_eq!(router.usage.idontwant_of_a_peer, max);
    victim.unharmed().await;
    victim.stop().await;

    let mut victim = Victim::with(|gossip| gossip.heartbeat = QUICK).await;
    let mut attacker = RawPeer::connect(victim.addr()).await;
    let ids = rpc::unknown_ids(0, 500);
    attacker
        .send(&rpc::control(|rpc| rpc.idontwant(&ids)))
        .await;
    victim
        .wait(|router| router.stats.received.idontwant == 500)
        .await;
    victim
        .wait(|router| router.usage.idontwant_of_a_peer == 0)
        .await;
    victim.unharmed().await;
    victim.stop().await;
}
