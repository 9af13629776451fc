//! Report of `cargo xtask test`: the final table and the verdict.

use std::fmt;
use std::time::Duration;

use crate::steps::{Outcome, Step};

/// Result of one step.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) step: Step,
    pub(crate) outcome: Outcome,
    pub(crate) took: Duration,
}

/// Results of all steps.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
    /// Whether a skipped step counts as failed.
    pub(crate) strict: bool,
}

impl Report {
    /// Whether every step passed, or was skipped where skipping is allowed.
    pub(crate) fn is_good(&self) -> bool {
        self.rows.iter().all(|row| match row.outcome {
            Outcome::Passed | Outcome::PassedBut(_) => true,
            Outcome::Skipped(_) => !self.strict,
            Outcome::Failed(_) => false,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:9} {:8} {:>9}  reason", "step", "result", "time")?;
        for row in &self.rows {
            let (result, reason) = match &row.outcome {
                Outcome::Passed => ("passed", ""),
                Outcome::PassedBut(reason) => ("passed", reason.as_str()),
                Outcome::Failed(reason) => ("failed", reason.as_str()),
                Outcome::Skipped(reason) => ("skipped", reason.as_str()),
            };
            let line = format!(
                "{:9} {result:8} {:>7.1} s  {reason}",
                row.step.name(),
                row.took.as_secs_f64()
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        let skipped = |row: &Row| matches!(row.outcome, Outcome::Skipped(_));
        let note = match (self.is_good(), self.rows.iter().any(skipped)) {
            (true, true) => " (skipped steps prove nothing; --strict counts them as failed)",
            (false, true) if self.strict => " (--strict: a skipped step counts as failed)",
            _ => "",
        };
        let verdict = if self.is_good() { "good" } else { "not good" };
        write!(f, "{verdict}{note}")
    }
}

#[cfg(test)]
mod tests;
