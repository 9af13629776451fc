//! Running a scenario in virtual time.

pub(crate) mod plan;
mod result;
mod settled;

pub use settled::{Dial, Plan};

use std::ops::ControlFlow;

use crate::error::SimError;
use crate::outcome::{Outcome, Progress, RecordOptions};
use crate::scenario::Scenario;
use crate::shard::NodeShard;
use crate::threads;

/// Options of a run that are not part of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunOptions {
    /// Seed that determines all randomness.
    pub seed: u64,
    /// Number of threads; the outcome does not depend on it.
    pub threads: usize,
    /// What is recorded besides deliveries; it changes nothing else.
    pub record: RecordOptions,
}

impl RunOptions {
    /// RunOptions of a run on one thread.
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            threads: 1,
            record: RecordOptions::NONE,
        }
    }

    /// RunOptions of the same run on this many threads.
    #[must_use]
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// RunOptions of the same run with records.
    #[must_use]
    pub const fn record(mut self, record: RecordOptions) -> Self {
        self.record = record;
        self
    }
}

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

/// Runs a scenario to its end, or until `progress` breaks off. The result of a run that was stopped has what happened
/// until then, and no trace hash.
///
/// # Errors
/// Returns [`SimError`] when the scenario is invalid, before anything is run.
pub fn run_until(
    scenario: &Scenario,
    options: RunOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, SimError> {
    let mut world = plan::world(scenario, options.seed)?;
    world.record = options.record;
    let count = threads::worth(&world, options.threads).min(scenario.nodes as usize);
    let shards = (0..count).map(|index| NodeShard::new(&world, index, count));
    let mut stopped_ns = None;
    let shards = threads::run(&world, shards.collect(), &mut |now| {
        let flow = progress(now);
        // What is left to do at the end is nothing.
        if flow.is_break() && now.virtual_ns < now.end_ns {
            stopped_ns = Some(now.virtual_ns);
        }
        flow
    });
    Ok(result::collect(&world, shards, stopped_ns))
}
