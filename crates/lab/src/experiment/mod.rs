//! The experiments: every published figure beside ours.
//!
//! Adding one: a file in `all`, a line in [`EXPERIMENTS`]. Criteria stand in the code of an experiment,
//! before it runs; a figure outside of its own says why where that is known.

mod all;
mod context;
mod machine;

#[cfg(test)]
mod tests;

use thiserror::Error;
use undertone_sim::SimError;

use crate::record::{Chart, Figure, Record, Scale, Table};
use crate::report::Stopwatch;
use crate::scenario::ScenarioError;

pub use all::EXPERIMENTS;
pub use context::{Context, Simulated};
pub use machine::{
    CommunityPlan, CommunityRun, LineRun, Machine, MachineError, RlnCost, RlnCosts, SpamPlan,
    SpamRun, SyncRun,
};

/// One experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name on the command line.
    pub id: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// What is reproduced.
    pub source: &'static str,
    /// Does it.
    run: fn(&mut Context<'_>) -> Result<Findings, ExperimentError>,
}

/// What an experiment found.
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

/// Why an experiment gave no record.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// Its scenario cannot be read.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Its scenario cannot be run.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The machine failed it.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A rule did not hold in a simulation.
    #[error("{scenario}, seed {seed}: {violation}; replay it with `{replay}`")]
    Violation {
        /// The scenario.
        scenario: String,
        /// The seed.
        seed: u64,
        /// The first rule that did not hold.
        violation: String,
        /// The command that repeats the run.
        replay: String,
    },
}

impl Experiment {
    /// The experiment of that id.
    pub fn find(id: &str) -> Option<&'static Self> {
        EXPERIMENTS.iter().find(|experiment| experiment.id == id)
    }

    /// Runs it.
    ///
    /// # Errors
    /// [`ExperimentError`]. Real nodes that this machine cannot run are no error: their figures are
    /// missing, and the record says why.
    pub fn run(&self, context: &mut Context<'_>) -> Result<Record, ExperimentError> {
        let watch = Stopwatch::start();
        context.begin();
        let findings = (self.run)(context)?;
        let full = match context.scale() {
            Scale::Quick => "",
            Scale::Full => " --full",
        };
        let (seeds, scenarios) = context.used();
        Ok(Record {
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
        })
    }
}
