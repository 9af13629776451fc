//! Running a scenario in virtual time.

pub(crate) mod options;
pub(crate) mod plan;
pub(crate) mod result;
mod settled;

pub use options::RunOptions;
pub(crate) use plan::{check, check_in};
pub use settled::{Dial, Plan};

use std::ops::ControlFlow;

use crate::error::SimError;
use crate::layout::{Layout, RankPart};
use crate::outcome::{Outcome, Progress, RecordOptions};
use crate::ranks::{Ranks, handshake};
use crate::scenario::Scenario;
use crate::threads;

/// Runs a scenario to its end; `progress` is called repeatedly during the run.
///
/// # Errors
/// Returns [`SimError`] when the scenario is invalid, before anything is run.
pub fn run(
    scenario: &Scenario,
    options: RunOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, SimError> {
    run_until(scenario, options, &mut |now| {
        progress(now);
        ControlFlow::Continue(())
    })
}

/// Runs a scenario to its end, or until `progress` breaks off. The outcome of a stopped run covers the time until then,
/// and has no trace hash.
///
/// # Errors
/// Returns [`SimError`] when the scenario is invalid, before anything is run.
pub fn run_until(
    scenario: &Scenario,
    options: RunOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, SimError> {
    let mut world = plan::world(scenario, options.seed, RankPart::WHOLE)?;
    world.record = options.record;
    let count = threads::worth(&world, options.threads).min(scenario.nodes as usize);
    let layout = Layout::alone(count);
    let ran = threads::run(&world, &layout, progress);
    Ok(result::collect(&world, ran))
}

/// Runs a scenario on several processes, each of which calls this with the same scenario and seed. Rank 0 returns the
/// whole result, the same as from a single process. The others return the deliveries and counters of their own relays.
///
/// # Errors
/// Returns [`SimError`] when the scenario is invalid, when its shortest delay is too short for several processes, or
/// when a rank fails or runs something else.
pub fn run_on_ranks(
    scenario: &Scenario,
    options: RunOptions,
    ranks: &mut dyn Ranks,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, SimError> {
    if options.record != RecordOptions::NONE {
        return Err(SimError::Invalid {
            what: "records",
            value: format!("{:?}", options.record),
            rule: "a run on several ranks records nothing beyond its deliveries",
        });
    }
    if scenario.topology.discovery().is_some() {
        return Err(SimError::Invalid {
            what: "topology.kind",
            value: "discovery".to_owned(),
            rule: "nodes that find each other are simulated by one process",
        });
    }
    if scenario.adversaries() > 0 {
        return Err(SimError::Invalid {
            what: "groups.policy",
            value: format!("{} adversaries", scenario.adversaries()),
            rule: "adversaries are simulated by one process",
        });
    }
    let threads = handshake::reach(ranks, scenario, options)?;
    let layout = Layout::new(ranks.rank(), threads);
    let world = plan::world(scenario, options.seed, layout.part)?;
    if world.shortest_delay_ns() < threads::LOOKAHEAD_MIN_NS {
        return Err(SimError::Invalid {
            what: "network.delay",
            value: format!("{} ns at its shortest", world.shortest_delay_ns()),
            rule: "on several ranks it must be 0.5 ms at least",
        });
    }
    let ran = threads::run_on_ranks(&world, (ranks, &layout), progress)?;
    Ok(result::collect_on_ranks(&world, ran, ranks)?)
}
