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
    /// Processor time of the step's commands; `None` where the system does not tell.
    pub(crate) processor: Option<Duration>,
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
        writeln!(
            f,
            "{:9} {:8} {:>9} {:>10}  reason",
            "step", "result", "time", "processor"
        )?;
        for row in &self.rows {
            let (result, reason) = match &row.outcome {
                Outcome::Passed => ("passed", ""),
                Outcome::PassedBut(reason) => ("passed", reason.as_str()),
                Outcome::Failed(reason) => ("failed", reason.as_str()),
                Outcome::Skipped(reason) => ("skipped", reason.as_str()),
            };
            let processor = row.processor.map_or_else(|| "?".into(), seconds);
            let line = format!(
                "{:9} {result:8} {:>9} {processor:>10}  {reason}",
                row.step.name(),
                seconds(row.took),
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        let took = self.rows.iter().map(|row| row.took).sum();
        let processor: Option<Duration> = self.rows.iter().map(|row| row.processor).sum();
        writeln!(
            f,
            "{:9} {:8} {:>9} {:>10}",
            "together",
            "",
            seconds(took),
            processor.map_or_else(|| "?".into(), seconds)
        )?;
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

/// Writes a time in seconds, with its unit.
fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests;
