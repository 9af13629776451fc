//! Runs that are stopped before their end.

use std::ops::ControlFlow;

use undertone_sim::scenario::Spacing;
use undertone_sim::{Outcome, RunOptions, Scenario, run, run_until};

const S: u64 = 1_000_000_000;

/// Five messages, a second apart, from the tenth second on.
fn scenario() -> Scenario {
    let mut scenario = Scenario::plain(40);
    scenario.traffic.messages = 5;
    scenario.traffic.spacing = Spacing::Constant(S);
    scenario
}

fn stopped(threads: usize, at_ns: u64) -> Outcome {
    let options = RunOptions::new(1).threads(threads);
    let outcome = run_until(
        &scenario(),
        options,
        &mut |now| match now.virtual_ns >= at_ns {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        },
    );
    outcome.expect("the scenario can be run")
}

#[test]
fn what_happened_until_then_is_kept() {
    let whole = run(&scenario(), RunOptions::new(1), &mut |_| {}).expect("it can be run");
    assert!(!whole.interrupted && whole.trace_hash.is_some());
    for threads in [1, 3] {
        let outcome = stopped(threads, 12 * S + S / 2);
        assert!(outcome.interrupted, "{threads} threads");
        assert_eq!(outcome.trace_hash, None);
        assert!(
            (12 * S..13 * S).contains(&outcome.virtual_ns),
            "{}",
            outcome.virtual_ns
        );
        assert_eq!(outcome.violations, []);
        // Three of the five messages have been published, and are everywhere.
        assert_eq!(outcome.deliveries, whole.deliveries[..3 * 39]);
        assert_eq!(outcome.expected, whole.expected);
    }
}

#[test]
fn a_run_that_is_stopped_at_its_end_is_whole() {
    for threads in [1, 3] {
        let outcome = stopped(threads, 24 * S);
        assert!(!outcome.interrupted, "{threads} threads");
        assert!(outcome.trace_hash.is_some());
    }
}
