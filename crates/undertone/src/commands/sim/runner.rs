//! One simulation run, with its time and memory.

use undertone_lab::report::{ProgressLine, Stopwatch, Summary};
use undertone_lab::scenario::ScenarioError;
use undertone_sim::{Outcome, RunOptions, Scenario};

use super::super::Failure;

/// Commit that this program was built from.
pub(crate) const COMMIT: &str = env!("UNDERTONE_COMMIT");

/// Scenario to simulate, and how to run it.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) threads: usize,
    pub(crate) show_progress: bool,
}

impl Runner<'_> {
    /// Simulates the scenario with a seed.
    pub(crate) fn run(&self, seed: u64) -> Result<(Outcome, Summary), Failure> {
        let what = format!("{}, seed {seed}", self.scenario.name);
        let line = ProgressLine::new(&what, self.show_progress);
        let options = RunOptions::new(seed).threads(self.threads);
        let watch = Stopwatch::start();
        let outcome = undertone_sim::run(self.scenario, options, &mut |progress| {
            line.update(progress);
        });
        let measured = watch.read();
        line.finish();
        let outcome = outcome.map_err(|error| {
            let name = &self.scenario.name;
            Failure::usage(format!("{name} cannot be simulated: {error}"))
                .with_help("docs/scenarios.md lists keys and their bounds")
        })?;
        let summary = Summary::new(self.scenario, &outcome, measured, COMMIT);
        Ok((outcome, summary))
    }
}

/// Converts a scenario error into wrong usage.
pub(crate) fn scenario_failure(error: ScenarioError) -> Failure {
    Failure::usage(error.to_string())
}
