//! Running a scenario, and the rules that every run must keep.

use std::collections::BTreeSet;

use undertone_sim::outcome::Delivery;
use undertone_sim::scenario::{Fault, FaultKind, Rln, Spacing, Verification};
use undertone_sim::{Outcome, RunOptions, Scenario, run};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const S: u64 = 1000 * MS;

/// The seed of the tests that need only one.
pub(crate) const SEED: u64 = 1;

/// Runs a scenario without asserting that the rules were kept.
pub(crate) fn outcome(scenario: &Scenario, seed: u64, threads: usize) -> Outcome {
    run(
        scenario,
        RunOptions::new(seed).threads(threads),
        &mut |_| {},
    )
    .expect("the test's scenario is valid")
}

/// Runs a scenario, and asserts that no rule was broken.
#[track_caller]
pub(crate) fn simulate(scenario: &Scenario) -> Outcome {
    let outcome = outcome(scenario, SEED, 1);
    assert_eq!(outcome.violations, [], "seed {SEED} of {scenario:?}");
    outcome
}

/// A plain network with this many messages, a second apart.
pub(crate) fn with_messages(nodes: u32, messages: u32) -> Scenario {
    let mut scenario = Scenario::plain(nodes);
    scenario.traffic.messages = messages;
    scenario.traffic.spacing = Spacing::Constant(S);
    scenario
}

/// The last `nodes` nodes, at a time in seconds.
pub(crate) fn fault(at_s: u64, nodes: u32, kind: FaultKind) -> Vec<Fault> {
    vec![Fault {
        at_ns: at_s * S,
        nodes,
        kind,
    }]
}

/// The published simulations' costs, and a limit.
pub(crate) fn rln(message_limit: u32) -> Rln {
    Rln {
        message_limit,
        epoch_s: 600,
        generation_ns: 276_300_000,
        verification: Verification::Wait { ns: 4_500_000 },
    }
}

/// Who has which message: `(message, receiver)`.
pub(crate) fn delivered(outcome: &Outcome) -> BTreeSet<(u32, u32)> {
    let pairs = outcome.deliveries.iter().map(|d| (d.message, d.receiver));
    pairs.collect()
}

/// Whether these nodes have all messages that they did not publish themselves.
pub(crate) fn have_all(outcome: &Outcome, mut nodes: impl Iterator<Item = u32>) -> bool {
    let delivered = delivered(outcome);
    nodes.all(|node| {
        let mut messages = outcome.messages.iter();
        messages.all(|m| m.publisher == node || delivered.contains(&(m.index, node)))
    })
}

/// From publishing to delivery, milliseconds.
pub(crate) fn latency_ms(outcome: &Outcome, delivery: &Delivery) -> f64 {
    let published_ns = outcome.messages[delivery.message as usize].published_ns;
    (delivery.received_ns - published_ns) as f64 / 1e6
}

/// Mean latency at nodes that a condition holds for, milliseconds.
pub(crate) fn mean_ms(outcome: &Outcome, of: impl Fn(u32) -> bool) -> f64 {
    let of = outcome.deliveries.iter().filter(|d| of(d.receiver));
    let all: Vec<_> = of.map(|d| latency_ms(outcome, d)).collect();
    all.iter().sum::<f64>() / all.len() as f64
}
