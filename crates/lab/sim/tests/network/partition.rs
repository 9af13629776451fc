//! A network in two parts.

use undertone_sim::Scenario;
use undertone_sim::scenario::{FaultKind, Publishers, Topology};

use crate::support::{MS, S, fault, latency_ms, simulate, with_messages};

const NODES: u32 = 40;
const FIRST: u32 = 20;

/// The last twenty are cut off from 15 s to 20 s; two publishers, one on either side, and a message
/// a second from 10.5 s to 29.5 s.
fn cut() -> Scenario {
    let mut scenario = with_messages(NODES, 20);
    scenario.topology = Topology::Dials(6);
    let ends = [0, NODES - 1];
    scenario.traffic.publishers = Publishers::One(ends[0]);
    scenario.traffic.first_ns += 500 * MS;
    scenario.faults = fault(15, NODES - FIRST, FaultKind::Partition { for_ns: 5 * S });
    scenario
}

/// Nothing crosses while it lasts, however many connections there are; everything does when it is
/// over.
#[test]
fn messages_cross_when_a_partition_heals() {
    let outcome = simulate(&cut());
    assert_eq!(outcome.deliveries.len() as u64, outcome.expected);
    let mut held = 0;
    for delivery in outcome.deliveries.iter().filter(|d| d.receiver >= FIRST) {
        let published_ns = outcome.messages[delivery.message as usize].published_ns;
        if (15 * S..20 * S).contains(&published_ns) {
            assert!(delivery.received_ns >= 20 * S, "{delivery:?}");
            held += 1;
        }
    }
    assert_eq!(held, 5 * (NODES - FIRST));
}

/// The publisher's own side does not notice.
#[test]
fn the_publishers_side_is_as_fast_as_ever() {
    let outcome = simulate(&cut());
    let near = outcome.deliveries.iter().filter(|d| d.receiver < FIRST);
    for delivery in near {
        let latency_ms = latency_ms(&outcome, delivery);
        assert!(latency_ms < 400.0, "{latency_ms} of {delivery:?}");
    }
}

/// Afterwards the other side is as fast as before.
#[test]
fn the_other_side_recovers() {
    let outcome = simulate(&cut());
    for delivery in outcome.deliveries.iter().filter(|d| d.receiver >= FIRST) {
        let published_ns = outcome.messages[delivery.message as usize].published_ns;
        if published_ns > 21 * S {
            let latency_ms = latency_ms(&outcome, delivery);
            assert!(latency_ms < 400.0, "{latency_ms} of {delivery:?}");
        }
    }
}
