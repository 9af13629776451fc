//! Whoever is connected to whom, everybody gets everything, once.

use undertone_gossip::StrategyKind;
use undertone_sim::Scenario;
use undertone_sim::scenario::{Dialling, Publishers, Spacing, Topology};

use crate::support::{S, have_all, latency_ms, simulate, with_messages};

fn topologies(nodes: u32) -> Vec<Topology> {
    let binary_tree = (1..nodes).map(|node| ((node - 1) / 2, node)).collect();
    vec![
        Topology::Dials(4),
        Topology::Regular(6),
        Topology::Line,
        Topology::Ring,
        Topology::FullMesh,
        Topology::Edges(binary_tree),
    ]
}

fn on(topology: Topology, nodes: u32) -> Scenario {
    let mut scenario = with_messages(nodes, 3);
    scenario.topology = topology;
    scenario.traffic.publishers = Publishers::Random;
    scenario.drain_ns = 10 * S;
    scenario
}

/// Every message reaches every node but its publisher, in every topology, whether nodes dial at once
/// or one by one.
#[test]
fn every_topology_delivers_everything() {
    let nodes = 30;
    for topology in topologies(nodes) {
        for dialling in [Dialling::AtOnce, Dialling::OneByOne] {
            let mut scenario = on(topology.clone(), nodes);
            scenario.dialling = dialling;
            let outcome = simulate(&scenario);
            let delivered = outcome.deliveries.len() as u64;
            assert_eq!(delivered, outcome.expected, "{topology:?}, {dialling:?}");
            assert!(have_all(&outcome, 0..nodes), "{topology:?}, {dialling:?}");
        }
    }
}

/// Every message reaches the nodes of its shard and no others.
#[test]
fn nodes_of_some_shards_have_the_messages_of_these() {
    for (topics, per_node, receivers) in [(4, 1, 10), (4, 2, 20), (3, 3, 40)] {
        let mut scenario = with_messages(40, 12);
        scenario.topology = Topology::Dials(4);
        scenario.relay.topics = topics;
        scenario.relay.topics_per_node = Some(per_node);
        scenario.traffic.publishers = Publishers::RoundRobin(12);
        scenario.traffic.spacing = Spacing::Constant(S / 10);
        let outcome = simulate(&scenario);
        assert_eq!(
            outcome.expected,
            12 * (receivers - 1),
            "{topics}, {per_node}"
        );
        assert_eq!(outcome.deliveries.len() as u64, outcome.expected);
        for delivery in &outcome.deliveries {
            let topic = outcome.messages[delivery.message as usize].publisher % topics;
            assert!(
                scenario.relay.joins(delivery.receiver, topic),
                "{delivery:?}"
            );
        }
    }
}

/// The smallest network is two nodes: one hop, one delay, one serialisation.
#[test]
fn two_nodes_are_a_network() {
    let outcome = simulate(&on(Topology::Line, 2));
    assert_eq!(outcome.deliveries.len(), 3);
    for delivery in &outcome.deliveries {
        assert_eq!(delivery.hops, 1);
        let latency_ms = latency_ms(&outcome, delivery);
        assert!((50.0..50.5).contains(&latency_ms), "{latency_ms}");
    }
}

/// Nobody is nearer than the topology says: on a line the hops to a node are its distance, and each
/// costs the delay.
#[test]
fn hops_on_a_line_are_distances() {
    let mut scenario = on(Topology::Line, 12);
    scenario.traffic.publishers = Publishers::One(3);
    let outcome = simulate(&scenario);
    for delivery in &outcome.deliveries {
        let distance = delivery.receiver.abs_diff(3);
        assert_eq!(u32::from(delivery.hops), distance);
        let per_hop_ms = latency_ms(&outcome, delivery) / f64::from(distance);
        assert!((50.0..50.5).contains(&per_hop_ms), "{per_hop_ms}");
    }
}

/// In a star everything passes the middle, whose mesh has room for `d_high` leaves: they are two hops
/// from each other.
#[test]
fn a_star_is_two_hops_wide() {
    let mut scenario = on(Topology::Star, 9);
    scenario.traffic.publishers = Publishers::One(5);
    let outcome = simulate(&scenario);
    assert!(have_all(&outcome, 0..9));
    for delivery in &outcome.deliveries {
        let expected = if delivery.receiver == 0 { 1 } else { 2 };
        assert_eq!(delivery.hops, expected);
    }
}

/// A mesh is no way to run a larger star: the leaves that the middle has no room for hear of a message
/// by gossip alone, which ends after three heartbeats of six peers each. Flooding has no such bound.
#[test]
fn a_large_star_needs_flooding() {
    let mut scenario = on(Topology::Star, 60);
    scenario.traffic.publishers = Publishers::One(5);
    let outcome = simulate(&scenario);
    assert!(!have_all(&outcome, 0..60));
    scenario.relay.gossip.strategy = StrategyKind::Flood.into();
    assert!(have_all(&simulate(&scenario), 0..60));
}

/// Two components do not hear of each other: what is not connected is not reached, so that the test
/// above says something.
#[test]
fn what_is_not_connected_is_not_reached() {
    let two_lines = (1..20).filter(|n| *n != 10).map(|n| (n - 1, n)).collect();
    let mut scenario = on(Topology::Edges(two_lines), 20);
    scenario.traffic.publishers = Publishers::One(0);
    let outcome = simulate(&scenario);
    assert!(have_all(&outcome, 0..10));
    assert!(outcome.deliveries.iter().all(|d| d.receiver < 10));
}
