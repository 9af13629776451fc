//! Dandelion++ in a network of routers.

use std::collections::BTreeSet;
use std::time::Duration;

use super::config;
use crate::tests::net::Net;
use crate::tests::solo::features;
use crate::{Config, STEM_ID, Verdict};

/// `count` nodes, each of which dials the next `links` ones.
fn ring(count: usize, links: usize, config: &Config, seed: u64) -> Net {
    let mut net = Net::new(vec![config.clone(); count], seed);
    for node in 0..count {
        for other in 1..=links {
            net.connect_with(node, (node + other) % count, features(STEM_ID));
        }
    }
    net.subscribe_all();
    net.run_ms(5_000);
    net.arrivals.clear();
    net
}

/// Connections by which copies arrived: in the stem, and ordinary ones.
fn ways(net: &Net) -> [Vec<(usize, usize)>; 2] {
    let copies = net.arrivals.iter().filter(|a| !a.rpc.messages.is_empty());
    let (stem, ordinary): (Vec<_>, Vec<_>) = copies.partition(|arrival| arrival.rpc.stem);
    [stem, ordinary].map(|all| all.iter().map(|a| (a.from, a.to)).collect())
}

#[test]
fn a_message_reaches_everybody_once() {
    let mut config = config(0.3);
    config.dandelion.embargo_mean = Duration::from_secs(10);
    let mut net = ring(30, 4, &config, 3);
    for node in 0..30 {
        net.publish(node, &[node as u8; 900]);
        net.run_ms(500);
    }
    net.run_ms(60_000);
    for (node, delivered) in net.delivered.iter().enumerate() {
        let others: BTreeSet<_> = delivered.iter().map(|(_, data)| data.clone()).collect();
        assert_eq!((delivered.len(), others.len()), (29, 29), "node {node}");
    }
    let [stem, ordinary] = ways(&net);
    assert!(stem.len() > 60 && ordinary.len() > 30 * 29);
    for router in &net.routers {
        assert_eq!(
            (router.usage().stem_messages, router.usage().stem_bytes),
            (0, 0)
        );
    }
}

#[test]
fn only_the_successor_learns_of_a_message_in_the_stem() {
    let mut net = ring(30, 4, &config(0.0), 4);
    net.publish(7, &[7; 900]);
    net.run_ms(10_000);
    let [stem, ordinary] = ways(&net);
    assert!(ordinary.is_empty());
    // Each copy went on from where the last one arrived, and the last one to a node that had the message.
    assert_eq!(stem[0].0, 7);
    assert!(stem.windows(2).all(|pair| pair[0].1 == pair[1].0));
    let told = net.arrivals.iter().any(|arrival| {
        let rpc = &arrival.rpc;
        !rpc.ihave.is_empty() || !rpc.idontwant.is_empty() || !rpc.iwant.is_empty()
    });
    assert!(!told, "the id was sent");
    let reached: BTreeSet<_> = stem.iter().map(|(_, to)| *to).collect();
    let has: BTreeSet<_> = (0..30).filter(|n| !net.delivered[*n].is_empty()).collect();
    assert_eq!(has, reached.into_iter().filter(|n| *n != 7).collect());
}

/// Relayers only: the stem runs into itself, and the embargo of one of its nodes ends it.
#[test]
fn a_cycle_ends() {
    let mut config = config(0.0);
    config.dandelion.embargo_mean = Duration::from_secs(20);
    let mut net = ring(8, 2, &config, 5);
    net.publish(0, b"round and round");
    net.run_ms(1_000);
    let [stem, _] = ways(&net);
    let senders: BTreeSet<_> = stem.iter().map(|(from, _)| *from).collect();
    assert_eq!(senders.len(), stem.len(), "nobody passes it on twice");
    net.run_ms(120_000);
    assert_eq!(ways(&net)[0], stem);
    assert!(net.delivered[1..].iter().all(|all| all.len() == 1));
    assert!(net.delivered[0].is_empty());
}

#[test]
fn a_relayer_that_swallows_messages_does_not_lose_them() {
    let mut config = config(0.0);
    config.dandelion.embargo_mean = Duration::from_secs(5);
    let mut net = ring(12, 2, &config, 6);
    // All but the publisher drop what comes by the stem, as it is the first copy.
    net.judge = |_, _| (Verdict::Forget, Duration::ZERO);
    net.publish(0, b"precious");
    net.run_ms(200);
    assert_eq!(ways(&net)[0].len(), 1);
    net.judge = |_, _| (Verdict::Accept, Duration::ZERO);
    net.run_ms(60_000);
    assert!(net.delivered[1..].iter().all(|all| all.len() == 1));
}

#[test]
fn the_same_seed_gives_the_same_stems() {
    let run = |seed| {
        let mut config = config(0.2);
        config.dandelion.epoch = Duration::from_secs(3);
        config.dandelion.embargo_mean = Duration::from_secs(2);
        let mut net = ring(16, 3, &config, seed);
        for i in 0..30 {
            net.publish(i % 16, &[i as u8; 700]);
            net.flip(i % 16, (i + 5) % 16);
            net.run_ms(300);
        }
        net.run_ms(5_000);
        net.trace()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
