//! Running a scenario in virtual time.

mod plan;
mod result;
mod settled;

pub use settled::{Dial, Plan};

use crate::outcome::{Outcome, Progress};
use crate::scenario::Scenario;
use crate::seeds::Rng;
use crate::shard::Shard;
use crate::threads;
use crate::topology;
use crate::world::World;

/// Options of a run that are not part of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Seed that determines all randomness.
    pub seed: u64,
    /// Number of threads; the outcome does not depend on it.
    pub threads: usize,
}

impl Options {
    /// Options of a run on one thread.
    pub const fn new(seed: u64) -> Self {
        Self { seed, threads: 1 }
    }

    /// Options of the same run on this many threads.
    #[must_use]
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}

/// Reason why a scenario cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// A value that is not allowed.
    #[error("{what} is {value}, but {rule}")]
    Invalid {
        /// Name of the parameter.
        what: &'static str,
        /// Value of the parameter.
        value: String,
        /// Rule that the value violates.
        rule: &'static str,
    },
    /// The router's parameters contradict each other.
    #[error(transparent)]
    Gossip(#[from] undertone_gossip::ConfigError),
}

/// Runs a scenario to its end; `progress` is called repeatedly during the run.
///
/// # Errors
/// Returns [`SimError`] when the scenario is invalid, before anything is run.
pub fn run(
    scenario: &Scenario,
    options: Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, SimError> {
    let world = world(scenario, options.seed)?;
    let count = threads::worth(&world, options.threads).min(scenario.nodes as usize);
    let shards = (0..count).map(|index| Shard::new(&world, index, count));
    let shards = threads::run(&world, shards.collect(), progress);
    Ok(result::collect(&world, shards))
}

/// Computes everything that is fixed before the first event.
pub(crate) fn world(scenario: &Scenario, seed: u64) -> Result<World, SimError> {
    plan::validate(scenario)?;
    let mut rng = Rng::new(seed, "topology", 0);
    let edges = topology::edges(&scenario.topology, scenario.nodes, &mut rng)?;
    let ends = topology::wire(&edges, scenario.nodes);
    let messages = plan::messages(scenario, seed);
    let starts_ns = plan::starts_ns(scenario, seed);
    World::new(scenario, seed, ends, messages, starts_ns)
}
