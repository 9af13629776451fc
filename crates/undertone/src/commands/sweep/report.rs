//! Result of a sweep: the table of what is there, and the runs that failed.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use undertone_lab::sweep::{Sweep, SweepFolder, SweepPoint, SweepTable, run_name};

use super::super::Failure;
use super::super::sim::replay;
use super::work::{FailedRun, WorkDone};
use super::{VERSION, unwritten};

/// File with the table.
const TABLE: &str = "sweep.csv";
/// File that says which rows belong to which point.
const INDEX: &str = "runs.csv";

/// Result of the command.
#[derive(Debug, Serialize)]
pub(super) struct SweepReport {
    /// Runs of all parts.
    runs: usize,
    /// Runs that were made now.
    made: usize,
    /// Runs that are not there.
    pub(super) left: usize,
    failures: Vec<FailedRun>,
    table: SweepTable,
    /// The table as a file, and the index of the runs.
    files: [PathBuf; 2],
}

/// Sums up everything that is in the folder.
pub(super) fn finished(
    sweep: &Sweep,
    points: &[SweepPoint],
    folder: &SweepFolder,
    done: WorkDone,
) -> Result<SweepReport, Failure> {
    let keys: Vec<String> = sweep.axes.iter().map(|axis| axis.key.clone()).collect();
    let mut table = SweepTable::new(keys.clone());
    let mut index = format!("file,seed,scenario_hash,{}\n", keys.join(","));
    let (mut failures, mut left) = (done.failed, 0);
    for point in points {
        let mut runs = Vec::new();
        for seed in &sweep.seeds {
            let name = run_name(&point.loaded.resolved, *seed, VERSION);
            let Some(figures) = folder.figures(&name) else {
                left += 1;
                continue;
            };
            if let Some(why) = figures.failure() {
                failures.push(FailedRun {
                    seed: *seed,
                    why,
                    replay: replay(&sweep.scenario, &point.set, *seed),
                });
            }
            let quoted = point.values.iter().map(|value| quoted(value));
            let values = quoted.collect::<Vec<_>>().join(",");
            let hash = &point.loaded.resolved.hash;
            index += &format!("{name}.parquet,{seed},{hash},{values}\n");
            runs.push(figures);
        }
        table.push(point.values.clone(), &runs);
    }
    let files = [
        folder.write_text(TABLE, &table.csv()).map_err(unwritten)?,
        folder.write_text(INDEX, &index).map_err(unwritten)?,
    ];
    Ok(SweepReport {
        runs: points.len() * sweep.seeds.len(),
        made: done.made,
        left,
        failures,
        table,
        files,
    })
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

impl SweepReport {
    /// Failure if a run failed.
    pub(super) fn verdict(&self) -> Result<(), Failure> {
        let Some(first) = self.failures.first() else {
            return Ok(());
        };
        let count = self.failures.len();
        let text = format!("{count} runs failed, the first: {}", first.why);
        Err(Failure::new(text).with_help(format!("replay: {}", first.replay)))
    }
}

impl fmt::Display for SweepReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.table)?;
        writeln!(f, "medians over seeds, with their bootstrap bands of 95 %")?;
        for failed in &self.failures {
            writeln!(f, "FAILED {}: {}", failed.why, failed.replay)?;
        }
        let there = self.runs - self.left;
        writeln!(
            f,
            "{there} of {} runs, {} of them made now",
            self.runs, self.made
        )?;
        let [table, index] = &self.files;
        writeln!(f, "{}, {}", table.display(), index.display())
    }
}
