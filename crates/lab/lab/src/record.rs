//! Results of an experiment: figures with verdicts, tables, charts.
//!
//! A record is data. `undertone lab run` writes it as JSON; the tables in the terminal, the HTML page and
//! the CSV files are generated from it.

mod chart;
mod figure;
mod folder;
mod names;
mod text;

#[cfg(test)]
#[path = "tests/record.rs"]
mod tests;

use serde::{Deserialize, Serialize};

pub use chart::{Axis, Chart, ChartMark, Role, Series, Shape};
pub use figure::short;
pub use figure::{Criterion, Figure, Verdict};
pub use folder::{FolderError, MAX_RECORD_BYTES, MAX_RECORDS, read_folder};
pub use names::names;

use crate::report::RunCosts;
use crate::validity::OutsideChecked;

/// Amount of work that an experiment does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Runs for seconds, with fewer seeds, nodes or cases than the publication; every
    /// figure is still computed.
    Quick,
    /// Runs as published, with several seeds.
    Full,
}

/// The record of one experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentRecord {
    /// Id of the experiment.
    pub id: String,
    /// Title in one line, for people.
    pub title: String,
    /// Publication, table or figure that is reproduced.
    pub source: String,
    /// Amount of work that was done.
    pub scale: Scale,
    /// Command that repeats the experiment.
    pub command: String,
    /// Commit of the program.
    pub commit: String,
    /// Seeds of the runs; empty where nothing is drawn at random.
    pub seeds: Vec<u64>,
    /// Costs of the experiment on this machine.
    pub measured: RunCosts,
    /// Scenarios that were run.
    pub scenarios: Vec<ScenarioUsed>,
    /// Figures of ours beside published ones.
    pub figures: Vec<Figure>,
    /// Tables of data that does not fit into figures.
    pub tables: Vec<Table>,
    /// Charts of the experiment.
    pub charts: Vec<Chart>,
    /// Notes for the reader: differences from the publication and their reasons.
    pub notes: Vec<String>,
    /// Unvalidated mechanisms in the simulations; empty in records written before these were listed.
    #[serde(default)]
    pub validity: Vec<OutsideOfRuns>,
}

/// Unvalidated mechanism in one or more of an experiment's simulations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideOfRuns {
    /// The mechanism, with the rule that found it.
    #[serde(flatten)]
    pub outside: OutsideChecked,
    /// Number of simulations in which it mattered.
    pub runs: u32,
}

impl OutsideOfRuns {
    /// Number of simulations in words.
    pub fn simulations(&self) -> String {
        match self.runs {
            1 => "one simulation".to_owned(),
            runs => format!("{runs} simulations"),
        }
    }

    /// Adds the mechanisms of `runs` further simulations to `known`.
    pub fn count(known: &mut Vec<Self>, outside: &[OutsideChecked], runs: u32) {
        for outside in outside {
            match known.iter_mut().find(|known| known.outside == *outside) {
                Some(known) => known.runs += runs,
                None => known.push(Self {
                    outside: outside.clone(),
                    runs,
                }),
            }
        }
    }
}

/// A scenario with the overrides applied to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioUsed {
    /// Name of the scenario's file.
    pub name: String,
    /// Keys that were overridden, as `key=value`.
    pub set: Vec<String>,
}

/// A table of text cells under a header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Title of the table.
    pub title: String,
    /// Short title of each column, with its unit.
    pub columns: Vec<String>,
    /// Rows, each with as many cells as there are columns.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        Self {
            title: title.into(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Appends a row to the table.
    pub fn push<const N: usize>(&mut self, row: [String; N]) {
        debug_assert_eq!(N, self.columns.len(), "{}", self.title);
        self.rows.push(row.into());
    }
}

impl ExperimentRecord {
    /// Figures that are outside their criterion.
    pub fn differing(&self) -> impl Iterator<Item = &Figure> {
        self.figures
            .iter()
            .filter(|figure| figure.verdict == Verdict::Differs)
    }

    /// Number of figures that have a criterion.
    pub fn judged(&self) -> usize {
        self.figures
            .iter()
            .filter(|figure| figure.verdict != Verdict::Shown)
            .count()
    }
}
