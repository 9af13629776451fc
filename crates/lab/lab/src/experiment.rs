//! Experiments, each of which sets published figures beside ours.
//!
//! A new experiment needs a file in `all` and a line in [`EXPERIMENTS`]. Criteria are part of an
//! experiment's code, so they are fixed before it runs. A figure outside its criterion states the reason
//! where it is known.

mod all;
mod context;
mod machine;

#[cfg(test)]
#[path = "tests/experiment.rs"]
mod tests;

use thiserror::Error;
use undertone_sim::SimError;

use crate::record::{Chart, ExperimentRecord, Figure, Scale, Table};
use crate::report::Stopwatch;
use crate::scenario::ScenarioError;

pub use all::EXPERIMENTS;
pub use context::{Context, Simulated};
pub use machine::{
    LineRun, MachineError, NetworkLoadPlan, NetworkLoadRun, RealNodes, RlnCost, RlnCosts, SpamPlan,
    SpamRun, SyncRun,
};

/// One experiment that reproduces published figures.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Name on the command line.
    pub id: &'static str,
    /// Title in one line, for people.
    pub title: &'static str,
    /// Publication, table or figure that is reproduced.
    pub source: &'static str,
    /// Function that runs the experiment.
    run: fn(&mut Context<'_>) -> Result<Findings, ExperimentError>,
}

/// Results of an experiment.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) figures: Vec<Figure>,
    pub(crate) tables: Vec<Table>,
    pub(crate) charts: Vec<Chart>,
    pub(crate) notes: Vec<String>,
}

impl Findings {
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// Reason why an experiment produced no record.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// The experiment's scenario cannot be read.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The experiment's scenario cannot be run.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// A measurement on this machine failed.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A rule was violated in a simulation.
    #[error("{scenario}, seed {seed}: {violation}; replay it with `{replay}`")]
    Violation {
        /// Name of the scenario.
        scenario: String,
        /// Seed of the run.
        seed: u64,
        /// The first rule that was violated.
        violation: String,
        /// Command that repeats the run.
        replay: String,
    },
}

impl Experiment {
    /// Returns the experiment with the given id.
    pub fn find(id: &str) -> Option<&'static Self> {
        EXPERIMENTS.iter().find(|experiment| experiment.id == id)
    }

    /// Runs the experiment and records its results.
    ///
    /// # Errors
    /// Returns [`ExperimentError`] when a scenario cannot be read or run, a measurement fails, or a rule
    /// is violated. If this machine cannot run real nodes, that is not an error: their figures are
    /// missing, and the record says why.
    pub fn run(&self, context: &mut Context<'_>) -> Result<ExperimentRecord, ExperimentError> {
        let watch = Stopwatch::start();
        context.begin();
        let findings = (self.run)(context)?;
        let full = match context.scale() {
            Scale::Quick => "",
            Scale::Full => " --full",
        };
        let (seeds, scenarios) = context.used();
        Ok(ExperimentRecord {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            source: self.source.to_owned(),
            scale: context.scale(),
            command: format!("undertone lab run {}{full}", self.id),
            commit: context.commit().to_owned(),
            seeds,
            measured: watch.read(),
            scenarios,
            figures: findings.figures,
            tables: findings.tables,
            charts: findings.charts,
            notes: findings.notes,
            validity: context.outside_checked(),
        })
    }
}
