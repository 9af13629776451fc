//! Every scenario of the repository, made small enough for a test: it runs, keeps the rules, and does
//! not depend on threads.

use undertone_lab::scenario::{BUILT_IN, load};
use undertone_sim::scenario::{Fault, FaultKind, Members, Publishers, Targets, Topology};
use undertone_sim::{Outcome, RunOptions, Scenario, run};

/// The same shape with so few nodes, messages and faults that it takes a second or two.
fn scaled_down(name: &str) -> Scenario {
    const NODES: u32 = 40;
    let mut scenario = load(name, &[]).expect("it is built in").scenario;
    let was = scenario.nodes;
    scenario.nodes = was.min(NODES);
    if let Topology::Dials(dials) = &mut scenario.topology {
        // Half of the nodes with a topic in common, where each node has some topics only.
        let setup = &scenario.relay;
        let per_node = setup.topics_per_node.unwrap_or(setup.topics);
        let others = scenario.nodes * per_node / setup.topics.max(1);
        *dials = (*dials).min(10).min(others / 2);
    }
    if let Publishers::RoundRobin(count) = &mut scenario.traffic.publishers {
        *count = (*count).min(scenario.nodes);
    }
    for fault in &mut scenario.faults {
        fault.nodes = (fault.nodes * scenario.nodes).div_ceil(was);
    }
    for group in &mut scenario.groups {
        if let Members::Count(count) = &mut group.members {
            *count = (*count * scenario.nodes).div_ceil(was);
            if let Some(policy) = &mut group.policy {
                policy.dialled = policy.dialled.min(f64::from(*count - 1));
            }
        }
        let targets = group.policy.as_mut().map(|policy| &mut policy.targets);
        if let Some(Targets::Nodes(nodes)) = targets {
            nodes.iter_mut().for_each(|node| *node %= scenario.nodes);
        }
    }
    // All the time that faults take is left as it is, but for spam, which does not change.
    let spams = |fault: &Fault| matches!(fault.kind, FaultKind::Spam { .. });
    if scenario.faults.iter().all(spams) {
        scenario.traffic.messages = scenario.traffic.messages.min(3);
    }
    scenario
}

fn simulate(scenario: &Scenario, seed: u64, threads: usize) -> Outcome {
    run(
        scenario,
        RunOptions::new(seed).threads(threads),
        &mut |_| {},
    )
    .expect("it is valid")
}

#[test]
fn every_built_in_scenario_keeps_the_rules_whatever_the_threads() {
    for built_in in BUILT_IN {
        let name = built_in.name;
        let scenario = scaled_down(name);
        let one = simulate(&scenario, 1, 1);
        assert_eq!(one.violations, [], "{name}, seed 1");
        let services = scenario.services.as_ref();
        let is_honest = services.is_none_or(|services| services.troubles.is_empty());
        if scenario.faults.is_empty() && scenario.adversaries() == 0 && is_honest {
            assert_eq!(one.deliveries.len() as u64, one.expected, "{name}, seed 1");
            let missing = one.services.as_ref().map_or(0, |services| services.missing);
            assert_eq!(missing, 0, "{name}, seed 1");
        }
        for threads in [1, 2, 3] {
            let again = simulate(&scenario, 1, threads);
            let what = format!("{name}, seed 1, {threads} threads");
            assert_eq!(again.trace_hash, one.trace_hash, "{what}");
            assert_eq!(again.deliveries, one.deliveries, "{what}");
            assert_eq!(again.nodes, one.nodes, "{what}");
            assert_eq!(again.services, one.services, "{what}");
        }
        let other = simulate(&scenario, 2, 2);
        assert_ne!(other.trace_hash, one.trace_hash, "{name}, seeds 1 and 2");
        assert_eq!(other.violations, [], "{name}, seed 2");
    }
}

/// Nodes that stay from the beginning to the end get every message, whatever comes and goes.
#[test]
fn churn_costs_those_who_stay_nothing() {
    let scenario = scaled_down("churn");
    let comes_or_goes = scenario.faults.iter().map(|fault| fault.nodes).max();
    let stay = scenario.nodes - comes_or_goes.expect("it has faults");
    let outcome = simulate(&scenario, 1, 2);
    let to_those = outcome.deliveries.iter().filter(|d| d.receiver < stay);
    let expected = scenario.traffic.messages * (stay - 1);
    assert_eq!(to_those.count() as u32, expected);
}

/// A third of all nodes takes places in meshes, announces every message and sends none.
#[test]
fn nodes_that_send_nothing_keep_nobody_from_a_message() {
    let outcome = simulate(&scaled_down("silent"), 1, 2);
    assert_eq!(outcome.deliveries.len() as u64, outcome.expected);
}
