//! Running a scenario.

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

/// How to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// All randomness follows from it.
    pub seed: u64,
    /// Threads; the outcome does not depend on it.
    pub threads: usize,
}

/// Why a scenario cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// A value that cannot be simulated.
    #[error("{what} is {value}, but {rule}")]
    Invalid {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        rule: &'static str,
    },
    /// The router's parameters contradict each other.
    #[error(transparent)]
    Gossip(#[from] undertone_gossip::ConfigError),
}

/// Runs a scenario to its end; `progress` is called now and then.
///
/// # Errors
/// [`SimError`] before anything is run.
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

/// Everything that is settled before anything happens.
pub(crate) fn world(scenario: &Scenario, seed: u64) -> Result<World, SimError> {
    plan::validate(scenario)?;
    let mut rng = Rng::new(seed, "topology", 0);
    let edges = topology::edges(&scenario.topology, scenario.nodes, &mut rng)?;
    let ends = topology::wire(&edges, scenario.nodes);
    let messages = plan::messages(scenario, seed);
    let starts_ns = plan::starts_ns(scenario, seed);
    World::new(scenario, seed, ends, messages, starts_ns)
}
