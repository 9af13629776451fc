//! What an experiment found out: figures with verdicts, tables, charts.
//!
//! A record is data. It is written as JSON by `undertone lab run`, and everything that people look at
//! (the terminal's tables, the HTML page, CSV files) is drawn from it.

mod chart;
mod figure;
mod folder;
mod names;
mod text;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use chart::{Axis, Chart, Mark, Role, Series, Shape};
pub(crate) use figure::short;
pub use figure::{Criterion, Figure, Verdict};
pub use folder::{FolderError, MAX_RECORD_BYTES, MAX_RECORDS, read_folder};
pub(crate) use names::names;

use crate::report::Measured;

/// How much work an experiment does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Seconds: fewer seeds, nodes or cases than the publication; every figure is still computed.
    Quick,
    /// As published, with several seeds.
    Full,
}

/// The record of one experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its id.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// What is reproduced: publication, table, figure.
    pub source: String,
    /// How much was run.
    pub scale: Scale,
    /// The command that repeats it.
    pub command: String,
    /// The commit of the program.
    pub commit: String,
    /// The seeds; empty where nothing is drawn at random.
    pub seeds: Vec<u64>,
    /// What it cost on this machine.
    pub measured: Measured,
    /// The scenarios that were run.
    pub scenarios: Vec<ScenarioUsed>,
    /// Ours beside what was published.
    pub figures: Vec<Figure>,
    /// More than fits a figure.
    pub tables: Vec<Table>,
    /// Pictures.
    pub charts: Vec<Chart>,
    /// What differs from the publication, and why; how to read it.
    pub notes: Vec<String>,
}

/// A scenario and what was changed of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioUsed {
    /// The name of the scenario's file.
    pub name: String,
    /// Keys that were set, `key=value`.
    pub set: Vec<String>,
}

/// Rows under a header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// One word or two for each column, with its unit.
    pub columns: Vec<String>,
    /// As many cells as columns, each.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        Self {
            title: title.into(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push<const N: usize>(&mut self, row: [String; N]) {
        debug_assert_eq!(N, self.columns.len(), "{}", self.title);
        self.rows.push(row.into());
    }
}

impl Record {
    /// Figures outside their tolerance.
    pub fn differing(&self) -> impl Iterator<Item = &Figure> {
        self.figures
            .iter()
            .filter(|figure| figure.verdict == Verdict::Differs)
    }

    /// Figures that have a tolerance.
    pub fn judged(&self) -> usize {
        self.figures
            .iter()
            .filter(|figure| figure.verdict != Verdict::Shown)
            .count()
    }
}
