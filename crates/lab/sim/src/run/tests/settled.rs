use super::*;
use crate::scenario::{Delay, Dialling, FaultKind, Publishers, Topology};

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
    assert_eq!(one.dials(), same.dials());
    assert_ne!(one.dials(), other.dials());
    assert_eq!(one.one_way_ns(3, 4), same.one_way_ns(3, 4));
    assert_eq!(one.messages(), same.messages());
    assert_ne!(one.messages(), other.messages());
    assert_eq!(one.messages()[1].published_ns, 11 * S);
}

#[test]
fn a_warm_up_may_have_a_spacing_of_its_own() {
    let mut scenario = Scenario::plain(20);
    scenario.traffic.messages = 5;
    scenario.warm_up_messages = 2;
    scenario.warm_up_spacing_ns = Some(3 * S);
    let plan = Plan::new(&scenario, 1).expect("the scenario is plain");
    let at_s: Vec<u64> = plan.messages().iter().map(|m| m.published_ns / S).collect();
    assert_eq!(at_s, [10, 13, 16, 17, 18]);
}

#[test]
fn every_connection_is_dialled_by_one_end() {
    let dials = plan(7).dials();
    assert_eq!(dials.len(), 40);
    for node in 0..20 {
        let degree = dials.iter().filter(|d| d.from == node || d.to == node);
        assert_eq!(degree.count(), 4);
    }
}

/// Four nodes, each connected to all nodes before it, 50 ms apart.
fn four(faults: &[(u64, u32, FaultKind)], dialling: Dialling) -> Plan {
    let mut scenario = Scenario::plain(4);
    scenario.topology = Topology::FullMesh;
    scenario.start_spread_ns = 1;
    scenario.dialling = dialling;
    let fault = |(at_s, nodes, kind): &(u64, u32, FaultKind)| Fault {
        at_ns: at_s * S,
        nodes: *nodes,
        kind: *kind,
    };
    scenario.faults = faults.iter().map(fault).collect();
    Plan::new(&scenario, 1).expect("the scenario is plain")
}

#[test]
fn connections_begin_when_both_nodes_have_started_or_one_by_one() {
    let begun = |plan: &Plan, from| {
        let dials = plan.dials();
        let own = dials.iter().filter(move |dial| dial.from == from);
        own.map(|dial| (dial.to, dial.at_ns)).collect::<Vec<_>>()
    };
    let joins = [(20, 1, FaultKind::Join)];
    let at_once = four(&joins, Dialling::AtOnce);
    assert_eq!(begun(&at_once, 2), [(0, 0), (1, 0)]);
    assert_eq!(begun(&at_once, 3), [(0, 20 * S), (1, 20 * S), (2, 20 * S)]);
    assert!(at_once.dials().is_sorted_by_key(|dial| dial.at_ns));
    // A connection takes five round trips.
    let one_by_one = four(&joins, Dialling::OneByOne);
    assert_eq!(begun(&one_by_one, 2), [(0, 0), (1, S / 2)]);
    let late = [(0, 20 * S), (1, 20 * S + S / 2), (2, 21 * S)];
    assert_eq!(begun(&one_by_one, 3), late);
}

#[test]
fn a_node_ends_with_the_first_fault_after_its_start() {
    let crash = FaultKind::Crash {
        noticed_after_ns: S,
    };
    let faults = [
        (5, 1, crash),
        (20, 1, FaultKind::Join),
        (40, 2, FaultKind::Leave),
        (30, 1, FaultKind::Leave),
        (50, 3, crash),
    ];
    let plan = four(&faults, Dialling::AtOnce);
    let ends = [0, 1, 2, 3].map(|node| plan.ends_ns(node));
    assert_eq!(ends, [None, Some(50 * S), Some(40 * S), Some(30 * S)]);
    assert_eq!(plan.starts_ns(3), 20 * S);
    // The last message or fault, and ten seconds.
    assert_eq!(plan.end_ns(), 60 * S);
    assert_eq!(plan.expected(), 3, "one message, whoever is there");
}
