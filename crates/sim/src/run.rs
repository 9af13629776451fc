//! Running a scenario in virtual time.

pub(crate) mod plan;
mod result;
mod settled;

pub use settled::{Dial, Plan};

use crate::error::SimError;
use crate::outcome::{Outcome, Progress};
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
}

impl RunOptions {
    /// RunOptions of a run on one thread.
    pub const fn new(seed: u64) -> Self {
        Self { seed, threads: 1 }
    }

    /// RunOptions of the same run on this many threads.
    #[must_use]
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
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
    let world = plan::world(scenario, options.seed)?;
    let count = threads::worth(&world, options.threads).min(scenario.nodes as usize);
    let shards = (0..count).map(|index| NodeShard::new(&world, index, count));
    let shards = threads::run(&world, shards.collect(), progress);
    Ok(result::collect(&world, shards))
}
