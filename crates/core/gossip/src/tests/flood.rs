//! The flood strategy, and floodsub peers among mesh peers.

use std::time::Duration;

use super::net::Net;
use super::raw;
use super::solo::{Solo, TOPIC, features, peer, receivers, said, sends};
use crate::{Config, FloodPublish, MessageId, Output, StrategyKind, Verdict};

fn flood() -> Config {
    let strategy = StrategyKind::Flood.into();
    Config {
        strategy,
        ..Config::waku()
    }
}

/// Ten nodes in a ring, each connected to the next three.
fn ring(config: &Config) -> Net {
    let mut net = Net::new(vec![config.clone(); 10], 10);
    for node in 0..10 {
        for step in 1..=3 {
            net.connect(node, (node + step) % 10);
        }
    }
    net.subscribe_all();
    net.run_ms(5_000);
    net
}

#[test]
fn flooding_delivers_everything_to_everybody_once() {
    let mut net = ring(&flood());
    for node in 0..10 {
        net.publish(node, &[node as u8; 100]);
    }
    net.run_ms(1_000);
    for node in 0..10 {
        let mut got: Vec<_> = net.delivered[node]
            .iter()
            .map(|(_, data)| data[0])
            .collect();
        got.sort_unstable();
        let others: Vec<_> = (0..10).filter(|n| *n != node as u8).collect();
        assert_eq!(got, others, "at node {node}");
    }
}

#[test]
fn flooding_costs_a_copy_on_every_edge_and_a_mesh_fewer() {
    let copies = |config: Config| {
        let mut net = ring(&config);
        net.publish(0, b"m");
        net.run_ms(500);
        assert!((1..10).all(|n| net.delivered[n].len() == 1));
        (0..10).map(|n| net.copies_at(n)).sum::<usize>()
    };
    let flooding = copies(flood());
    assert!(
        (30..=60).contains(&flooding),
        "30 edges, at most two copies each: {flooding}"
    );
    let mut mesh = Config::waku();
    mesh.degrees.d = 3;
    mesh.degrees.d_low = 2;
    mesh.degrees.d_high = 4;
    mesh.degrees.d_score = 2;
    mesh.degrees.d_out = 1;
    mesh.flood_publish = FloodPublish::Off;
    let meshed = copies(mesh);
    assert!(meshed < flooding, "{meshed} in a mesh, {flooding} flooding");
}

#[test]
fn a_flooding_node_keeps_no_mesh_and_sends_no_control() {
    let net = ring(&flood());
    assert!((0..10).all(|n| net.mesh(n).is_empty()));
    let control = net.arrivals.iter().any(|a| {
        let rpc = &a.rpc;
        !rpc.graft.is_empty() || !rpc.prune.is_empty() || !rpc.ihave.is_empty()
    });
    assert!(!control);
}

#[test]
fn a_flooding_node_ignores_mesh_control() {
    let mut solo = Solo::joined(flood());
    (0..2).for_each(|n| drop(solo.subscriber(peer(n))));
    solo.deliver(1, b"m");
    let ids = [MessageId::of(b"m")];
    for frame in [
        raw::graft(TOPIC),
        raw::ihave(TOPIC, &raw::made_up_ids(0, 3)),
        raw::iwant(&ids),
    ] {
        let outputs = solo.frame(0, frame);
        assert!(sends(&outputs).is_empty());
    }
    assert!(solo.mesh().is_empty());
}

#[test]
fn flooding_spares_senders_and_peers_below_the_publish_threshold() {
    let mut config = flood();
    config.score.as_mut().unwrap().application_weight = 1.0;
    let mut solo = Solo::joined(config);
    (0..5).for_each(|n| drop(solo.subscriber(peer(n))));
    solo.set_score(4, -1_001.0);
    solo.frame(0, raw::publish(TOPIC, b"m"));
    solo.frame(1, raw::publish(TOPIC, b"m"));
    assert_eq!(receivers(&solo.verdict(b"m", Verdict::Accept)), [2, 3]);
    assert_eq!(receivers(&solo.publish(b"n")), [0, 1, 2, 3]);
}

#[test]
fn a_floodsub_peer_among_mesh_peers_hears_and_is_heard() {
    let mut configs = vec![Config::waku(); 5];
    configs[4] = flood();
    let mut net = Net::new(configs, 4);
    for a in 0..4 {
        for b in 0..a {
            net.connect(a, b);
        }
    }
    net.connect_with(4, 0, features("/floodsub/1.0.0"));
    net.subscribe_all();
    net.run_ms(3_000);
    assert!(!net.mesh(0).contains(&4));
    net.publish(3, b"to the flooder");
    net.publish(4, b"from the flooder");
    net.run_ms(200);
    assert_eq!(net.delivered[4][0].1, "to the flooder");
    assert!((0..4).all(|n| {
        net.delivered[n]
            .iter()
            .any(|(_, d)| d == "from the flooder")
    }));
}

#[test]
fn a_slow_validator_delays_each_hop() {
    let mut net = ring(&flood());
    net.judge = |_, _| (Verdict::Accept, Duration::from_millis(7));
    let start = net.now;
    net.publish(0, b"m");
    net.run_ms(500);
    // Node 3 is one hop from node 0, node 5 two: 10 ms of delay and 7 ms of validation each.
    let latency_ms = |net: &Net, n: usize| net.delivered[n][0].0.since(start).as_millis();
    assert_eq!((latency_ms(&net, 3), latency_ms(&net, 5)), (17, 34));
}

#[test]
fn a_rejected_message_goes_no_further() {
    let mut net = ring(&flood());
    net.judge = |_, _| (Verdict::Reject, Duration::ZERO);
    net.publish(0, b"m");
    net.run_ms(500);
    assert!(net.delivered.iter().all(Vec::is_empty));
    let copies: Vec<_> = (0..10).filter(|n| net.copies_at(*n) > 0).collect();
    assert_eq!(
        copies,
        [1, 2, 3, 7, 8, 9],
        "the publisher's neighbours only"
    );
}

#[test]
fn outputs_of_a_flooding_node_name_connected_peers_only() {
    let mut solo = Solo::joined(flood());
    (0..3).for_each(|n| drop(solo.subscriber(peer(n))));
    solo.frame(0, raw::publish(TOPIC, b"m"));
    solo.disconnect(1);
    let outputs = solo.verdict(b"m", Verdict::Accept);
    assert_eq!(receivers(&outputs), [2]);
    assert!(outputs.iter().any(|o| matches!(o, Output::Deliver { .. })));
}

/// nim-eth's Waku v1: when a node's interval ends, it need not send to peers that have sent the message.
#[test]
fn sending_what_waits_now_and_then_spares_most_second_copies() {
    let copies = |interval_ms: u64| {
        let mut config = flood();
        config.flood_interval = Duration::from_millis(interval_ms);
        let mut net = Net::new(vec![config; 10], 10);
        for a in 0..10 {
            for b in 0..a {
                net.connect(a, b);
            }
        }
        net.subscribe_all();
        net.run_ms(5_000);
        net.publish(0, b"m");
        net.run_ms(2_000);
        assert!((1..10).all(|n| net.delivered[n].len() == 1));
        (0..10).map(|n| net.copies_at(n)).sum::<usize>()
    };
    // 45 connections: if copies are sent at once, nearly every one but the publisher's carries two. Nodes
    // that start together have the same intervals, so here only the publisher's copies are saved.
    let (at_once, together) = (copies(0), copies(300));
    assert!((45..=81).contains(&at_once), "{at_once} copies");
    assert_eq!(together, 81);
}

#[test]
fn a_copy_is_not_sent_to_who_has_sent_it_meanwhile() {
    let mut config = flood();
    config.flood_interval = Duration::from_millis(300);
    let mut solo = Solo::joined(config);
    for n in 0..4 {
        solo.subscriber(peer(n));
    }
    solo.advance_ms(1_000);
    assert!(
        receivers(&solo.deliver(0, b"m")).is_empty(),
        "its turn is at 1200 ms"
    );
    solo.frame(2, raw::publish(TOPIC, b"m"));
    assert!(receivers(&solo.advance_ms(199)).is_empty());
    assert_eq!(receivers(&solo.advance_ms(1)), [1, 3]);
}

#[test]
fn what_waits_for_a_peer_leaves_in_one_frame_and_can_be_read() {
    let mut config = flood();
    config.flood_interval = Duration::from_millis(300);
    let mut solo = Solo::joined(config);
    (0..3).for_each(|n| drop(solo.subscriber(peer(n))));
    solo.advance_ms(1_000);
    for data in [&b"one"[..], b"two", b"three"] {
        solo.deliver(0, data);
    }
    let outputs = solo.advance_ms(200);
    assert_eq!(sends(&outputs).len(), 2, "one frame to each of the others");
    let got: Vec<_> = said(&outputs, 1)
        .messages
        .into_iter()
        .map(|m| m.data)
        .collect();
    assert_eq!(got, [&b"one"[..], b"two", b"three"]);
    assert_eq!(solo.router.stats().messages_sent, 6);
}
