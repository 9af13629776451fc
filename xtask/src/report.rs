//! Report of `cargo xtask test`: a table, the failures and how to run them again, and what was not run.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::steps::{STEPS, Step};

/// Outcome of a step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Every command passed, except those that could not run on this machine, each with its reason.
    Passed {
        without: Vec<String>,
    },
    Failed {
        error: String,
        log: PathBuf,
    },
    /// The step could not run on this machine, for this reason.
    Skipped(String),
}

/// Result of a step.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) took: Duration,
}

/// Results of all steps.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
}

impl Report {
    /// Whether no step failed.
    pub(crate) fn is_good(&self) -> bool {
        let is_failed = |row: &Row| matches!(row.outcome, Outcome::Failed { .. });
        !self.rows.iter().any(is_failed)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:9} {:8} {:>9}", "step", "result", "time")?;
        for row in &self.rows {
            let result = match &row.outcome {
                Outcome::Passed { without } if without.is_empty() => "passed",
                Outcome::Passed { .. } => "in part",
                Outcome::Failed { .. } => "FAILED",
                Outcome::Skipped(_) => "SKIPPED",
            };
            let seconds = row.took.as_secs_f64();
            writeln!(f, "{:9} {result:8} {seconds:>7.1} s", row.name)?;
        }
        let together: Duration = self.rows.iter().map(|row| row.took).sum();
        writeln!(f, "{:18} {:>7.1} s", "together", together.as_secs_f64())?;
        for row in &self.rows {
            if let Outcome::Failed { error, log } = &row.outcome {
                let log = log.display();
                writeln!(
                    f,
                    "\nFAILED: {}; its output is in {log}\n    {error}",
                    row.name
                )?;
            }
        }
        let not_run = self.rows.iter().flat_map(|row| {
            let reasons = match &row.outcome {
                Outcome::Skipped(reason) => std::slice::from_ref(reason),
                Outcome::Passed { without } => without,
                Outcome::Failed { .. } => &[],
            };
            reasons.iter().map(|reason| (row.name, reason))
        });
        let mut not_run = not_run.peekable();
        if not_run.peek().is_some() {
            writeln!(f, "\nNOT RUN, and so not proved:")?;
        }
        for (name, reason) in not_run {
            writeln!(f, "    {name}: {reason}")?;
        }
        let is_left = |step: &&Step| !self.rows.iter().any(|row| row.name == step.name);
        let left: Vec<_> = STEPS.iter().filter(is_left).map(|step| step.name).collect();
        if !left.is_empty() {
            writeln!(f, "\nnot asked for: {}", left.join(", "))?;
        }
        let verdict = if self.is_good() { "good" } else { "not good" };
        write!(f, "\n{verdict}")
    }
}

#[cfg(test)]
#[path = "tests/report.rs"]
mod tests;
