//! A single simulation run, with its time and memory.

use std::ops::ControlFlow;

use undertone_lab::report::{DatasetChoice, ProgressLine, available_bytes, estimated_bytes};
use undertone_lab::run::{FinishedRun, RunRequest};
use undertone_lab::scenario::{Loaded, ScenarioError};
use undertone_sim::Scenario;

use super::super::interrupt::Interrupt;
use super::super::{Failure, output};

/// Commit that this program was built from.
pub(crate) const COMMIT: &str = env!("UNDERTONE_COMMIT");

/// Scenario to simulate, and how to run it.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    pub(crate) loaded: &'a Loaded,
    pub(crate) threads: usize,
    pub(crate) show_progress: bool,
    /// Signal that stops the runs; `None` if Ctrl-C ends the program.
    pub(crate) interrupt: Option<&'a Interrupt>,
    /// Datasets to record besides the deliveries.
    pub(crate) datasets: DatasetChoice,
}

impl Runner<'_> {
    /// Simulates the scenario with a seed until it ends or is interrupted.
    pub(crate) fn run(&self, seed: u64) -> Result<FinishedRun, Failure> {
        let scenario = &self.loaded.scenario;
        let what = format!("{}, seed {seed}", scenario.name);
        let line = ProgressLine::new(&what, self.show_progress);
        let request = RunRequest {
            loaded: self.loaded,
            seed,
            threads: self.threads,
            commit: COMMIT,
            datasets: self.datasets,
        };
        let finished = request.run(&mut |progress| {
            line.update(progress);
            match self.interrupt.is_some_and(Interrupt::is_asked) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        line.finish();
        finished.map_err(|error| {
            let name = &scenario.name;
            Failure::usage(format!("{name} cannot be simulated: {error}"))
                .with_help("docs/use/scenarios.md lists keys and their bounds")
        })
    }
}

/// Warns if the runs need more memory than is available when `at_once` of them run concurrently.
pub(crate) fn warn_of_memory(scenario: &Scenario, at_once: usize) {
    let needed = estimated_bytes(scenario).saturating_mul(at_once as u64);
    if let Some(available) = available_bytes()
        && needed > available
    {
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        let times = match at_once {
            1 => String::new(),
            times => format!(", {times} times at once,"),
        };
        output::note(&format!(
            "{}{times} needs about {:.1} GB of memory, and {:.1} GB are free; the system may end the run. Fewer nodes, \
             connections or messages need less.",
            scenario.name,
            gigabytes(needed),
            gigabytes(available)
        ));
    }
}

/// Converts a scenario error to wrong usage.
pub(crate) fn scenario_failure(error: ScenarioError) -> Failure {
    Failure::usage(error.to_string())
}
