//! Where theory says something, a run agrees.

use undertone_lab::model::hops::{copies_per_delivery, duplicates, h_max, nodes_within};
use undertone_sim::scenario::{Delay, Publishers, Rln, Topology, Verification};
use undertone_sim::{Outcome, RunOptions, Scenario, run};

const MS: u64 = 1_000_000;

/// The network that the formulas describe: every node has `degree` mesh peers, the publisher floods
/// nobody, and no IDONTWANT cancels a copy.
fn of_degree(nodes: u32, degree: usize, topology: Topology) -> Scenario {
    let mut scenario = Scenario::plain(nodes);
    scenario.topology = topology;
    scenario.network.uplink_bytes_per_s = 1_000_000_000;
    scenario.network.downlink_bytes_per_s = 1_000_000_000;
    let gossip = &mut scenario.relay.gossip;
    gossip.degrees.d = degree;
    gossip.degrees.d_low = degree;
    gossip.degrees.d_high = degree;
    gossip.degrees.d_score = 0;
    gossip.degrees.d_out = (degree / 2).min(degree.saturating_sub(1));
    gossip.flood_publish = undertone_gossip::FloodPublish::Off;
    gossip.idontwant_threshold_bytes = usize::MAX;
    scenario.traffic.messages = 4;
    scenario
}

#[track_caller]
fn simulate(scenario: &Scenario, seed: u64) -> Outcome {
    let options = RunOptions::new(seed);
    let outcome = run(scenario, options, &mut |_| {}).expect("the test's scenario is valid");
    assert_eq!(outcome.violations, [], "seed {seed}");
    let delivered = outcome.deliveries.len() as u64;
    assert_eq!(delivered, outcome.expected, "seed {seed}");
    outcome
}

/// Largest number of hops of each message.
fn most_hops(outcome: &Outcome) -> Vec<u64> {
    let by_message = outcome.deliveries.chunk_by(|a, b| a.message == b.message);
    let hops = by_message.map(|all| all.iter().map(|d| u64::from(d.hops)).max());
    hops.map(|most| most.expect("a chunk is not empty"))
        .collect()
}

/// The equation's own tree: node 0 has `degree` children, all others one less, filled level by level.
fn tree(nodes: u32, degree: u32) -> Topology {
    let parent = |node: u32| match node {
        _ if node <= degree => 0,
        _ => (node - 2) / (degree - 1),
    };
    Topology::Edges((1..nodes).map(|node| (node, parent(node))).collect())
}

/// On the tree that Equation 2 describes, a message needs exactly the hops that it gives, and every
/// ring has the nodes that it should: for sizes that fill the last ring, and for others.
#[test]
fn equation_2_is_exact_on_its_own_tree() {
    for (nodes, degree) in [(53, 4), (54, 4), (100, 3), (43, 7), (187, 6), (40, 2)] {
        let mut scenario = of_degree(nodes, degree as usize, tree(nodes, degree));
        scenario.traffic.publishers = Publishers::One(0);
        let outcome = simulate(&scenario, 1);
        let duplicates: u64 = outcome.nodes.iter().map(|n| n.duplicates).sum();
        assert_eq!(duplicates, 0, "a tree has one way to each node");
        let expected = h_max(u64::from(nodes), degree);
        for (message, hops) in (0..).zip(most_hops(&outcome)) {
            assert_eq!(Some(hops), expected, "{nodes} nodes of degree {degree}");
            for within in 1..hops as u32 {
                let of_message = outcome.deliveries.iter().filter(|d| d.message == message);
                let reached = of_message.filter(|d| u32::from(d.hops) <= within).count() + 1;
                assert_eq!(reached as f64, nodes_within(degree, within));
            }
        }
    }
}

/// On a random regular graph rings collide, so that no message needs less than `h_max` hops, no ring
/// has more nodes than the tree's, and the last node is at most two hops later.
#[test]
fn equation_2_is_a_bound_on_a_random_graph() {
    let (nodes, degree) = (100, 6);
    let mut scenario = of_degree(nodes, degree as usize, Topology::Regular(degree));
    scenario.traffic.publishers = Publishers::Random;
    let least = h_max(u64::from(nodes), degree).expect("the degree is above 1");
    for seed in 1..=3 {
        let outcome = simulate(&scenario, seed);
        for (message, hops) in (0..).zip(most_hops(&outcome)) {
            let range = least..=least + 2;
            assert!(range.contains(&hops), "{hops}, seed {seed}");
            for within in 1..=hops as u32 {
                let of_message = outcome.deliveries.iter().filter(|d| d.message == message);
                let reached = of_message.filter(|d| u32::from(d.hops) <= within).count() + 1;
                assert!(
                    reached as f64 <= nodes_within(degree, within),
                    "seed {seed}"
                );
            }
        }
    }
}

fn duplicates_per_delivery(scenario: &Scenario) -> f64 {
    let outcome = simulate(scenario, 1);
    let duplicates: u64 = outcome.nodes.iter().map(|n| n.duplicates).sum();
    duplicates as f64 / outcome.deliveries.len() as f64
}

const UNEQUAL: Delay = Delay::Uniform {
    min_ns: 5 * MS,
    max_ns: 200 * MS,
};

/// If a message is forwarded as soon as it arrives, no node can know that a peer already has it: every
/// node sends to all peers but the one it heard from, whatever the delays. The number of duplicates is
/// then exactly the theory's maximum, plus the one copy more that the publisher sends.
#[test]
fn without_processing_time_duplicates_are_the_theorys_most() {
    for degree in [4, 6, 8] {
        let mut scenario = of_degree(60, degree as usize, Topology::Regular(degree));
        scenario.traffic.publishers = Publishers::Random;
        let expected = copies_per_delivery(60, f64::from(degree)) - 1.0;
        assert!(expected - duplicates(f64::from(degree)).1 < 0.2);
        for delay in [scenario.network.delay.clone(), UNEQUAL] {
            scenario.network.delay = delay;
            let measured = duplicates_per_delivery(&scenario);
            assert!(
                (measured - expected).abs() < 1e-9,
                "{measured}, D = {degree}"
            );
        }
    }
}

/// While a node validates a message, it learns which peers have it, and then sends only to the others:
/// there are fewer duplicates than the theory's maximum. Each connection still carries a message once,
/// so there are never fewer than the theory's minimum.
#[test]
fn with_processing_time_duplicates_are_within_the_theorys_bounds() {
    for degree in [4, 6, 8] {
        let mut scenario = of_degree(60, degree as usize, Topology::Regular(degree));
        scenario.traffic.publishers = Publishers::Random;
        scenario.network.delay = UNEQUAL;
        let (least, most) = duplicates(f64::from(degree));
        for check_ms in [50, 200, 500] {
            scenario.rln = Some(Rln {
                message_limit: 100,
                epoch_s: 600,
                generation_ns: 0,
                verification: Verification::Wait { ns: check_ms * MS },
            });
            let measured = duplicates_per_delivery(&scenario);
            let range = least..most - 0.1;
            assert!(
                range.contains(&measured),
                "{measured}, D = {degree}, {check_ms} ms"
            );
        }
    }
}
