//! Peers that flood, stall, lie and come back.

use proptest::prelude::*;

use super::*;

/// Checks that nothing is held beyond its limit.
fn check(server: &FilterServer, limits: &FilterLimits) {
    let usage = server.usage();
    assert!(usage.peers <= limits.max_peers, "{usage:?}");
    assert!(
        usage.criteria_bytes <= limits.max_criteria_bytes,
        "{usage:?}"
    );
    assert!(usage.seen <= limits.max_seen, "{usage:?}");
    assert!(usage.push_bytes <= limits.max_push_bytes, "{usage:?}");
}

/// Limits with 64 pushes in flight to a peer.
fn few_pushes() -> FilterLimits {
    FilterLimits {
        max_pushes_per_peer: 64,
        ..FilterLimits::default()
    }
}

#[test]
fn garbage_is_answered_under_its_id_if_it_has_one() {
    let mut bench = Bench::new(FilterLimits::default());
    let response = bench.frame(1, &[0xff; 40][..]);
    assert_eq!(
        (&*response.request_id, response.status),
        ("N/A", FilterStatus::BAD_REQUEST)
    );
    let unknown_kind = [0x0a, 2, b'i', b'd', 0x10, 9];
    let response = bench.frame(1, unknown_kind.to_vec());
    assert_eq!(
        (&*response.request_id, response.status),
        ("id", FilterStatus::BAD_REQUEST)
    );
    let text = "BAD_REQUEST: unknown kind 9 of filter request";
    assert_eq!(response.status_desc.as_deref(), Some(text));
    let response = bench.frame(1, vec![0x0a; 100_000]);
    assert_eq!(response.status, FilterStatus::BAD_REQUEST);
    assert_eq!(bench.server.usage(), FilterUsage::default());
}

#[test]
fn huge_criteria_of_many_peers_stay_within_memory_and_an_honest_peer_is_served() {
    let limits = FilterLimits {
        max_criteria_bytes: 32 << 20,
        ..FilterLimits::default()
    };
    let mut bench = Bench::new(limits);
    for peer in 0..30 {
        for round in 0..10 {
            let topics: Vec<_> = (0..100)
                .map(|n| format!("{:0>490}", peer * 1000 + round * 100 + n))
                .collect();
            let topics: Vec<_> = topics.iter().map(String::as_str).collect();
            bench.subscribe(peer, &topics);
            check(&bench.server, &limits);
        }
    }
    assert_eq!(bench.subscribe(99, &[CHAT, NEWS]), 200);
    assert_eq!(receivers(&bench.publish("1", CHAT)), [99]);
}

#[test]
fn peers_that_come_and_go_under_new_names_give_way_to_an_honest_one() {
    let limits = FilterLimits {
        max_peers: 20,
        ..FilterLimits::default()
    };
    let mut bench = Bench::new(limits);
    for peer in 0..500 {
        assert_eq!(bench.subscribe(peer, &[CHAT]), 200);
        bench.handle(Input::PeerGone(PeerNo(peer)));
        check(&bench.server, &limits);
    }
    assert_eq!(bench.subscribe(1000, &[CHAT]), 200);
    assert_eq!(bench.subscribe(1001, &[CHAT]), 200);
    let pushed = receivers(&bench.publish("1", CHAT));
    assert!(pushed.ends_with(&[1000, 1001]), "{pushed:?}");
}

#[test]
fn expired_peers_give_way_before_maintenance() {
    let mut bench = Bench::new(FilterLimits {
        max_peers: 1,
        ..FilterLimits::default()
    });
    bench.subscribe(1, &[CHAT]);
    bench.server.maintain_at = None;
    bench.wait(301);
    assert_eq!(bench.subscribe(2, &[CHAT]), 200);
}

#[test]
fn a_slow_reader_loses_messages_countably_and_others_none() {
    let mut bench = Bench::new(few_pushes());
    bench.subscribe(1, &[CHAT]);
    bench.subscribe(2, &[CHAT]);
    let mut to_slow = 0;
    for number in 0..1000 {
        let pushed = receivers(&bench.publish(&number.to_string(), CHAT));
        assert!(pushed.contains(&2));
        to_slow += pushed.iter().filter(|&&peer| peer == 1).count();
        bench.report(2, true);
    }
    assert_eq!(to_slow, 64);
    let stats = bench.server.stats();
    assert_eq!(
        (stats.lost, stats.pushes, stats.delivered),
        (936, 1064, 1000)
    );
}

#[test]
fn a_reader_that_fails_for_a_minute_is_dropped() {
    let mut bench = Bench::new(FilterLimits::default());
    bench.subscribe(1, &[CHAT]);
    let mut dropped_at = None;
    for number in 0..10 {
        bench.publish(&number.to_string(), CHAT);
        bench.wait(20);
        if bench.report(1, false) == [Output::Drop { peer: PeerNo(1) }] {
            dropped_at.get_or_insert(bench.now);
        }
    }
    assert_eq!(dropped_at, Some(Time::from_millis(80_000)));
    assert_eq!(bench.ping(1), 404);
    assert_eq!(bench.server.stats().dropped, 1);
    assert_eq!(bench.server.usage().pushing, 0);
}

#[test]
fn when_memory_for_pushes_is_short_the_slowest_readers_are_dropped() {
    let limits = FilterLimits {
        max_push_bytes: 10_000,
        ..FilterLimits::default()
    };
    let mut bench = Bench::new(limits);
    for (peer, topic) in [(1, CHAT), (2, NEWS), (3, CHAT)] {
        bench.subscribe(peer, &[topic]);
    }
    let payload = |number: u32| format!("{number:0>1000}");
    let mut dropped = Vec::new();
    for number in 0..30 {
        let outputs = bench.publish(&payload(number), if number < 3 { NEWS } else { CHAT });
        dropped.extend(
            outputs
                .iter()
                .filter(|output| matches!(output, Output::Drop { .. }))
                .cloned(),
        );
        if receivers(&outputs).contains(&3) {
            bench.report(3, true);
        }
        check(&bench.server, &limits);
    }
    let slow = [2, 1].map(|peer| Output::Drop { peer: PeerNo(peer) });
    assert_eq!(
        dropped, slow,
        "peer 2 holds the oldest, then peer 1; peer 3 reads"
    );
    assert_eq!(bench.ping(3), 200);
}

#[test]
fn a_message_larger_than_all_memory_for_pushes_drops_nobody() {
    let mut bench = Bench::new(FilterLimits {
        max_push_bytes: 100,
        ..FilterLimits::default()
    });
    bench.subscribe(1, &[CHAT]);
    assert_eq!(bench.publish(&"x".repeat(200), CHAT), []);
    assert_eq!(bench.server.stats().lost, 1);
}

#[test]
fn unsubscribing_does_not_hide_pushes_in_flight() {
    let mut bench = Bench::new(few_pushes());
    let mut pushes = 0;
    for number in 0..200 {
        bench.subscribe(1, &[CHAT]);
        pushes += receivers(&bench.publish(&number.to_string(), CHAT)).len();
        bench.unsubscribe(1, &[CHAT]);
    }
    assert_eq!(pushes, 64);
    for _ in 0..64 {
        bench.report(1, true);
    }
    assert_eq!(bench.server.usage().push_bytes, 0);
    assert_eq!(bench.server.usage().pushing, 0);
}

#[test]
fn failures_of_a_peer_without_subscription_are_not_remembered() {
    let mut bench = Bench::new(FilterLimits::default());
    bench.subscribe(1, &[CHAT]);
    bench.publish("1", CHAT);
    bench.unsubscribe(1, &[CHAT]);
    bench.report(1, false);
    assert_eq!(bench.server.usage().pushing, 0);
}

#[test]
fn a_flood_of_messages_is_remembered_only_within_bounds() {
    let limits = FilterLimits {
        max_seen: 100,
        ..FilterLimits::default()
    };
    let mut bench = Bench::new(limits);
    bench.subscribe(1, &[CHAT]);
    for number in 0..1000 {
        bench.publish(&number.to_string(), CHAT);
        bench.report(1, true);
        check(&bench.server, &limits);
    }
    assert_eq!(bench.server.usage().seen, 100);
}

proptest! {
    #[test]
    fn no_input_in_any_order_breaks_a_bound(
        inputs in proptest::collection::vec((0_u8..6, 0_u64..6, proptest::collection::vec(any::<u8>(), 0..60)), 0..120),
    ) {
        let limits = FilterLimits {
            max_peers: 3,
            max_criteria_bytes: 2_000,
            criteria_share: 2,
            max_seen: 4,
            max_push_bytes: 300,
            max_pushes_per_peer: 2,
            ..FilterLimits::default()
        };
        let mut bench = Bench::new(limits);
        for (kind, number, bytes) in inputs {
            let peer = PeerNo(number);
            let request = RequestNo(number);
            match kind {
                0 => drop(bench.handle(Input::Request { peer, request, bytes: bytes.into() })),
                1 => drop(bench.subscribe(number, &[CHAT])),
                2 => drop(bench.publish(&String::from_utf8_lossy(&bytes), CHAT)),
                3 => drop(bench.report(number, bytes.len() % 2 == 0)),
                4 => drop(bench.handle(Input::PeerGone(peer))),
                _ => bench.wait(number * 20),
            }
            check(&bench.server, &limits);
        }
    }
}
