//! The rate limit and clocks.

use undertone_sim::scenario::{FaultKind, Publishers, Spacing, Topology};
use undertone_sim::{Outcome, Scenario};

use crate::support::{MS, S, fault, rln, simulate, with_messages};

const NODES: u32 = 25;
const LAST: u32 = NODES - 1;
const LIMIT: u32 = 5;

/// The last node publishes twenty messages, a second apart.
fn last_publishes(limit: u32) -> Scenario {
    let mut scenario = with_messages(NODES, 20);
    scenario.topology = Topology::Dials(6);
    scenario.traffic.publishers = Publishers::One(LAST);
    scenario.rln = Some(rln(limit));
    scenario
}

/// Messages that somebody has, in order.
fn seen(outcome: &Outcome) -> Vec<u32> {
    let mut messages: Vec<_> = outcome.deliveries.iter().map(|d| d.message).collect();
    messages.dedup();
    messages
}

fn skewed(ahead_ns: i64) -> Scenario {
    let mut scenario = last_publishes(100);
    scenario.faults = fault(5, 1, FaultKind::ClockSkew { by_ns: ahead_ns });
    scenario
}

/// Messages of one node that are published at the same moment wait for their proofs side by side.
#[test]
fn messages_published_at_once_are_all_delivered() {
    let mut scenario = last_publishes(LIMIT);
    scenario.traffic.messages = LIMIT;
    scenario.traffic.spacing = Spacing::Constant(0);
    let outcome = simulate(&scenario);
    assert_eq!(outcome.deliveries.len() as u32, LIMIT * (NODES - 1));
}

/// An honest member is silent when its messages are used up; nobody holds that against it.
#[test]
fn an_honest_member_stops_at_its_limit() {
    let outcome = simulate(&last_publishes(LIMIT));
    assert_eq!(seen(&outcome), [0, 1, 2, 3, 4]);
    assert_eq!(outcome.deliveries.len() as u32, LIMIT * (NODES - 1));
    assert!(outcome.connections[LAST as usize] > 0);
}

/// A member that goes on has its surplus dropped by its first peers: nobody else hears of it. They
/// score it down and close the connection; what is published by others is not touched.
#[test]
fn a_spammer_reaches_its_peers_and_loses_them() {
    let mut scenario = last_publishes(LIMIT);
    // One spam message, which counts, before the first of the twenty.
    let spam = FaultKind::Spam {
        interval_ns: 1000 * S,
    };
    scenario.faults = fault(9, 1, spam);
    let outcome = simulate(&scenario);
    assert_eq!(seen(&outcome), [0, 1, 2, 3], "with the spam they are five");
    assert_eq!(outcome.connections[LAST as usize], 0, "everybody hung up");
    scenario.faults.clear();
    let honest = simulate(&scenario);
    let others = |o: &Outcome| o.connections[..LAST as usize].iter().sum::<u32>();
    let of_spammer = honest.connections[LAST as usize];
    assert_eq!(others(&honest) - others(&outcome), of_spammer);
}

/// While somebody spams, all that others publish is delivered.
#[test]
fn others_are_heard_over_a_spammer() {
    let mut scenario = last_publishes(LIMIT);
    scenario.traffic.publishers = Publishers::RoundRobin(20);
    let spam = FaultKind::Spam {
        interval_ns: 50 * MS,
    };
    scenario.faults = fault(9, 1, spam);
    let outcome = simulate(&scenario);
    let honest = outcome.deliveries.iter().filter(|d| d.receiver != LAST);
    // Each message at all but its publisher and the spammer, whom nobody talks to any more.
    assert_eq!(honest.count() as u32, 20 * (NODES - 2));
    assert_eq!(outcome.connections[LAST as usize], 0);
}

/// A node whose clock is ten seconds off is heard. One 30 seconds ahead or behind exceeds the 20
/// that receivers allow, and none of its messages is accepted.
#[test]
fn a_clock_more_than_twenty_seconds_off_makes_a_node_mute() {
    let s = S as i64;
    for ahead_ns in [0, 10 * s, -10 * s] {
        let outcome = simulate(&skewed(ahead_ns));
        assert_eq!(
            outcome.deliveries.len() as u64,
            outcome.expected,
            "{ahead_ns}"
        );
    }
    for ahead_ns in [30 * s, -30 * s] {
        assert_eq!(seen(&simulate(&skewed(ahead_ns))), [0; 0], "{ahead_ns}");
    }
}

/// It is deaf, too: by its clock everybody else is wrong. The others do not care.
#[test]
fn a_clock_more_than_twenty_seconds_off_makes_a_node_deaf() {
    let mut scenario = skewed(30 * S as i64);
    scenario.traffic.publishers = Publishers::One(0);
    let outcome = simulate(&scenario);
    assert!(outcome.deliveries.iter().all(|d| d.receiver != LAST));
    assert_eq!(outcome.deliveries.len() as u32, 20 * (NODES - 2));
}
