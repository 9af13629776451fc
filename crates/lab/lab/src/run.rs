//! Running a loaded scenario.

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::thread;

use undertone_sim::ranks::Ranks;
use undertone_sim::{Outcome, Progress, RunOptions, SimError};

use crate::report::{DatasetChoice, Stopwatch, Summary};
use crate::scenario::Loaded;

/// Request for one run.
#[derive(Clone, Copy, Debug)]
pub struct RunRequest<'a> {
    /// Scenario to run.
    pub loaded: &'a Loaded,
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of threads; the result does not depend on it.
    pub threads: usize,
    /// Commit of the program, which results state.
    pub commit: &'a str,
    /// Datasets to record besides the deliveries; they change nothing else.
    pub datasets: DatasetChoice,
}

/// Result of a run.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    /// Everything that happened.
    pub outcome: Outcome,
    /// Figures of the run, and what was run.
    pub summary: Summary,
}

impl RunRequest<'_> {
    /// Runs the scenario to its end, or until `progress` breaks off; results until then are kept.
    ///
    /// # Errors
    /// Returns [`SimError`] when the scenario cannot be simulated, before anything is run.
    pub fn run(
        &self,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<FinishedRun, SimError> {
        let scenario = &self.loaded.scenario;
        let options = RunOptions::new(self.seed)
            .threads(self.threads)
            .record(self.datasets.record());
        let watch = Stopwatch::start();
        let outcome = undertone_sim::run_until(scenario, options, progress)?;
        Ok(self.finished(outcome, watch))
    }

    /// Runs the scenario as one of several ranks. Rank 0 gets the whole result, the others only that of their own
    /// nodes. Wall time, memory and processor time are those of the process itself.
    ///
    /// # Errors
    /// Returns [`SimError`] when the scenario cannot be simulated on ranks, or a rank fails.
    pub fn run_on_ranks(
        &self,
        ranks: &mut dyn Ranks,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<FinishedRun, SimError> {
        let scenario = &self.loaded.scenario;
        let options = RunOptions::new(self.seed).threads(self.threads);
        let watch = Stopwatch::start();
        let outcome = undertone_sim::run_on_ranks(scenario, options, ranks, progress)?;
        Ok(self.finished(outcome, watch))
    }

    fn finished(&self, outcome: Outcome, watch: Stopwatch) -> FinishedRun {
        let scenario = &self.loaded.scenario;
        let summary = Summary::new(scenario, &outcome, watch.read(), self.commit)
            .resolved(self.loaded.resolved.clone());
        FinishedRun { outcome, summary }
    }
}

/// Returns the number of threads asked for, or one per processor.
pub fn threads(asked: Option<NonZeroUsize>) -> usize {
    asked.map_or_else(
        || thread::available_parallelism().map_or(1, NonZeroUsize::get),
        NonZeroUsize::get,
    )
}

/// Returns the start of the command line that runs a scenario with overrides.
pub fn command(what: &str, set: &[String]) -> String {
    let mut line = format!("undertone sim {what}");
    for set in set {
        // Writing to a string cannot fail.
        let _ = write!(line, " --set '{set}'");
    }
    line
}

/// Returns the command line that repeats a run.
pub fn replay(reference: &str, set: &[String], seed: u64) -> String {
    format!("{} --seed {seed}", command(reference, set))
}

/// Returns the program's version at a commit, as used in the names of a sweep's runs: another version may run the same
/// scenario differently.
pub fn program_version(commit: &str) -> String {
    format!("{} {commit}", env!("CARGO_PKG_VERSION"))
}
