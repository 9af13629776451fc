//! Report of `cargo xtask test`: the final table and the verdict.

use std::fmt;
use std::time::Duration;

use crate::steps::{Outcome, Step};

/// Result of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Time from the first step's beginning to the last one's end. Steps that run beside each other take less than their sum.
    pub(crate) took: Duration,
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
            let (result, reason) = words(&row.outcome);
            let processor = row.processor.map_or_else(|| "?".into(), seconds);
            let line = format!(
                "{:9} {result:8} {:>9} {processor:>10}  {reason}",
                row.step.name(),
                seconds(row.took),
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        let processor: Option<Duration> = self.rows.iter().map(|row| row.processor).sum();
        writeln!(
            f,
            "{:9} {:8} {:>9} {:>10}",
            "together",
            "",
            seconds(self.took),
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

/// Returns the result of a step in a word, and its reason.
fn words(outcome: &Outcome) -> (&'static str, &str) {
    match outcome {
        Outcome::Passed => ("passed", ""),
        Outcome::PassedBut(reason) => ("passed", reason),
        Outcome::Failed(reason) => ("failed", reason),
        Outcome::Skipped(reason) => ("skipped", reason),
    }
}

/// Writes rows for [`rows`]: a line for each, with step, result, time and processor time in milliseconds, and reason, separated
/// by tabs.
pub(crate) fn lines(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let (result, reason) = words(&row.outcome);
        let processor = row.processor.map(|time| time.as_millis().to_string());
        let fields = [
            row.step.name(),
            result,
            &row.took.as_millis().to_string(),
            processor.as_deref().unwrap_or("?"),
            &reason.replace(['\t', '\n'], " "),
        ];
        fields.join("\t") + "\n"
    };
    rows.iter().map(line).collect()
}

/// Reads the rows that [`lines`] wrote. A line that is none, as at the end of a file that was not written whole, is left out.
pub(crate) fn rows(text: &str) -> Vec<Row> {
    text.split_inclusive('\n')
        .filter_map(|line| row(line.strip_suffix('\n')?))
        .collect()
}

fn row(line: &str) -> Option<Row> {
    let fields: Vec<_> = line.splitn(5, '\t').collect();
    let &[name, result, took_ms, processor_ms, reason] = fields.as_slice() else {
        return None;
    };
    let reason = reason.to_owned();
    Some(Row {
        step: Step::ALL.into_iter().find(|step| step.name() == name)?,
        outcome: match result {
            "passed" if reason.is_empty() => Outcome::Passed,
            "passed" => Outcome::PassedBut(reason),
            "failed" => Outcome::Failed(reason),
            "skipped" => Outcome::Skipped(reason),
            _ => return None,
        },
        took: Duration::from_millis(took_ms.parse().ok()?),
        processor: processor_ms.parse().ok().map(Duration::from_millis),
    })
}

/// Writes a time in seconds, with its unit.
fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests;
