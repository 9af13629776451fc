//! A router that rests between inputs behaves like one that is woken for every heartbeat.

use std::time::Duration;

use super::net::Net;
use super::solo::topic;
use crate::rng::Rng;
use crate::{Config, Input, Time, Verdict};

const NODES: usize = 12;

/// Twelve nodes for some twenty minutes, with long silences between messages, departures and new connections.
fn run(config: &Config, seed: u8, wakes_always: bool) -> Net {
    let mut net = Net::new(vec![config.clone(); NODES], 20);
    net.wakes_always = wakes_always;
    net.judge = |_, data| {
        let verdict = match data[0] {
            0..40 => Verdict::Reject,
            _ => Verdict::Accept,
        };
        (verdict, Duration::ZERO)
    };
    let mut rng = Rng::new([seed; 32]);
    for a in 0..NODES {
        for _ in 0..4 {
            net.flip(a, rng.below(NODES));
        }
    }
    net.subscribe_all();
    for _ in 0..60 {
        net.run_ms(rng.below(40_000) as u64);
        let node = rng.below(NODES);
        match rng.below(10) {
            0..5 => net.publish(node, &[rng.below(256) as u8; 300]),
            5 => net.input(node, Input::Unsubscribe(topic())),
            6..8 => net.input(node, Input::Subscribe(topic())),
            _ => net.flip(node, rng.below(NODES)),
        }
    }
    net.run_ms(10_000);
    // Deferred upkeep is caught up.
    (0..NODES).for_each(|node| net.input(node, Input::Tick));
    net
}

#[test]
fn who_rests_does_what_who_is_woken_for_every_heartbeat_does() {
    let mut strict = Config::waku();
    strict.opportunistic_graft_heartbeats = 0;
    let mut wanting = Config::waku();
    if let Some(score) = &mut wanting.score {
        // Members that deliver nothing for half a minute are pruned, whether there was something to deliver or not.
        let topic = &mut score.default_topic;
        topic.mesh_deliveries_weight = -1.0;
        (topic.mesh_deliveries_cap, topic.mesh_deliveries_threshold) = (9.0, 2.0);
        topic.mesh_deliveries_activation = Duration::from_secs(30);
    }
    for (name, config) in [
        ("waku", Config::waku()),
        ("deliveries wanted", wanting),
        ("libp2p", Config::libp2p()),
        ("no opportunistic grafting", strict),
    ] {
        for seed in 0..8 {
            let (resting, woken) = (run(&config, seed, false), run(&config, seed, true));
            assert_eq!(resting.trace(), woken.trace(), "{name}, seed {seed}");
            for (a, b) in resting.routers.iter().zip(&woken.routers) {
                assert_eq!(
                    (a.stats(), a.usage()),
                    (b.stats(), b.usage()),
                    "{name}, seed {seed}"
                );
                assert_eq!(a.heartbeats, b.heartbeats, "{name}, seed {seed}");
            }
            let (few, all) = (resting.ticks, woken.ticks);
            let rests = name != "deliveries wanted";
            assert!(
                !rests || few < all,
                "{name}, seed {seed}: {few} of {all} timers"
            );
        }
    }
}

#[test]
fn a_quiet_pair_needs_one_timer_a_minute() {
    let mut config = Config::waku();
    (config.degrees.d, config.degrees.d_low, config.degrees.d_out) = (1, 1, 0);
    let mut net = Net::pair(&config);
    net.run_ms(60_000);
    let before = net.ticks;
    net.run_ms(600_000);
    assert_eq!(net.ticks - before, 2 * 10, "two routers, ten minutes");
    net.publish(0, b"woken");
    net.run_ms(1_000);
    assert_eq!(net.delivered[1].len(), 1);
    let soon = net.now.after(Duration::from_secs(2));
    let awake = |net: &Net| {
        net.routers
            .iter()
            .all(|router| router.next_timeout() < soon)
    };
    assert!(awake(&net), "a message is to be advertised");
    net.run_ms(10_000);
    let later: Time = net.now.after(Duration::from_secs(2));
    assert!(
        net.routers
            .iter()
            .all(|router| router.next_timeout() > later)
    );
}
