use super::*;
use crate::scenario::{Delay, Publishers, Topology};

const S: u64 = 1_000_000_000;

fn plan(seed: u64) -> Plan {
    let mut scenario = Scenario::plain(20);
    scenario.topology = Topology::Regular(4);
    scenario.network.delay = Delay::Uniform {
        min_ns: 10,
        max_ns: 1000,
    };
    scenario.traffic.publishers = Publishers::Random;
    scenario.traffic.messages = 5;
    Plan::new(&scenario, seed).expect("the scenario is plain")
}

#[test]
fn a_seed_settles_connections_delays_and_messages() {
    let (one, same, other) = (plan(1), plan(1), plan(2));
    let dialled = |plan: &Plan| {
        (0..20)
            .map(|node| plan.dialled_by(node))
            .collect::<Vec<_>>()
    };
    assert_eq!(dialled(&one), dialled(&same));
    assert_ne!(dialled(&one), dialled(&other));
    assert_eq!(one.one_way_ns(3, 4), same.one_way_ns(3, 4));
    assert_eq!(one.messages(), same.messages());
    assert_ne!(one.messages(), other.messages());
    assert_eq!(one.messages()[1].published_ns, 11 * S);
}

#[test]
fn every_connection_is_dialled_by_one_end() {
    let plan = plan(7);
    let dialled: usize = (0..20).map(|node| plan.dialled_by(node).len()).sum();
    assert_eq!(dialled, 40);
    assert!((0..20).all(|node| plan.degree(node) == 4));
}
