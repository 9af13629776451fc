//! Running a scenario.

use crate::outcome::{Outcome, Progress};
use crate::scenario::Scenario;

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
    let _ = (options, progress);
    Err(SimError::Invalid {
        what: "nodes",
        value: scenario.nodes.to_string(),
        rule: "the engine does not run yet",
    })
}
