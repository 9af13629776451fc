//! The same seed and inputs give the same run, frame by frame.

use std::time::Duration;

use super::net::Net;
use super::solo::topic;
use crate::rng::Rng;
use crate::{Config, Input, Verdict};

const NODES: usize = 20;

/// Twenty nodes for half a minute: messages (a few of them rejected or ignored), nodes that join
/// and leave the topic, connections that come and go, links of different delay and rate.
fn run(seed: u8) -> Net {
    let mut config = Config::waku();
    config.limits.control_frame_bytes_max = 1_024;
    let mut net = Net::new(vec![config; NODES], 20);
    let mut rng = Rng::new([seed; 32]);
    for a in 0..NODES {
        for b in 0..NODES {
            let delay = Duration::from_micros(1_000 + rng.below(80_000) as u64);
            net.delays.insert((a, b), delay);
            if rng.below(3) == 0 {
                net.rates.insert((a, b), 10 + rng.below(100) as u64);
            }
        }
    }
    net.judge = |_, data| {
        let verdict = match data[0] {
            0..16 => Verdict::Reject,
            16..32 => Verdict::Ignore,
            _ => Verdict::Accept,
        };
        (verdict, Duration::from_millis(u64::from(data[1] % 8)))
    };
    for a in 0..NODES {
        for _ in 0..5 {
            net.flip(a, rng.below(NODES));
        }
    }
    net.subscribe_all();
    for _ in 0..300 {
        net.run_ms(rng.below(200) as u64);
        let node = rng.below(NODES);
        match rng.below(20) {
            0..12 => {
                let len = 2 + rng.below(3_000);
                let mut data = vec![rng.below(256) as u8; len];
                data[1] = rng.below(256) as u8;
                net.publish(node, &data);
            }
            12..14 => net.input(node, Input::Unsubscribe(topic())),
            14..18 => net.input(node, Input::Subscribe(topic())),
            _ => net.flip(node, rng.below(NODES)),
        }
    }
    net.run_ms(1_000);
    net
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
    let (once, twice, other) = (run(1), run(1), run(2));
    assert_eq!(once.trace(), twice.trace());
    assert_ne!(once.trace(), other.trace());
    let frames = |net: &Net| {
        net.arrivals
            .iter()
            .map(|a| (a.from, a.to))
            .collect::<Vec<_>>()
    };
    assert_eq!(frames(&once), frames(&twice));
    for (a, b) in once.routers.iter().zip(&twice.routers) {
        assert_eq!((a.stats(), a.usage()), (b.stats(), b.usage()));
    }
}

/// The comparison is meaningful only if every kind of event occurs in the run.
#[test]
fn the_run_has_traffic_of_every_kind() {
    let net = run(1);
    let any = |what: fn(&crate::Stats) -> u64| {
        let total: u64 = net.routers.iter().map(|router| what(&router.stats())).sum();
        total > 0
    };
    assert!(any(|s| s.received.graft) && any(|s| s.received.prune));
    assert!(any(|s| s.received.ihave) && any(|s| s.received.iwant));
    assert!(any(|s| s.received.idontwant) && any(|s| s.duplicates_received));
    assert!(any(|s| s.sends_cancelled), "nothing ever waited");
    let delivered: usize = net.delivered.iter().map(Vec::len).sum();
    assert!(delivered > 500, "{delivered} deliveries");
    let blamed = |router: &crate::Router| {
        let mut peers = (0..NODES as u32).map(crate::PeerIx);
        peers.any(|peer| router.score(peer) < 0.0)
    };
    let negative = net.routers.iter().any(blamed);
    assert!(negative, "nobody was blamed for a rejected message");
}
