//! Result of a sweep: the table of the runs in its folder, and the runs that failed.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::file::Sweep;
use super::folder::{RunFigures, SweepFolder, SweepFolderError, run_name};
use super::points::SweepPoint;
use super::table::SweepTable;
use super::work::{FailedRun, WorkDone};
use crate::record::OutsideOfRuns;
use crate::run::{program_version, replay};
use crate::validity::validity;

/// File with the table.
const TABLE: &str = "sweep.csv";
/// File that says which rows belong to which point.
const INDEX: &str = "runs.csv";

/// Summary of the folder of a sweep.
#[derive(Debug, Serialize)]
pub struct SweepReport {
    /// Number of runs, over all parts.
    pub runs: usize,
    /// Number of runs made by this invocation.
    pub made: usize,
    /// Number of runs missing from the folder.
    pub left: usize,
    /// Runs that could not be made, violated a rule, or delivered nothing.
    pub failures: Vec<FailedRun>,
    /// Medians over seeds of every point.
    pub table: SweepTable,
    /// Unvalidated mechanisms of the runs in the folder.
    pub validity: Vec<OutsideOfRuns>,
    /// The table as a file, and the index of the runs.
    pub files: [PathBuf; 2],
    /// The runs in the folder.
    #[serde(skip)]
    pub there: Vec<SweepRun>,
}

/// One run in the folder.
#[derive(Clone, Debug)]
pub struct SweepRun {
    /// Number of its point, from 0.
    pub point: usize,
    /// Seed of the run.
    pub seed: u64,
    /// File with its rows.
    pub file: PathBuf,
    /// Figures of the run.
    pub figures: RunFigures,
}

impl SweepReport {
    /// Summarises the runs in the folder, and writes the table and the index into it.
    ///
    /// # Errors
    /// Fails if these two files cannot be written.
    pub fn new(
        sweep: &Sweep,
        points: &[SweepPoint],
        folder: &SweepFolder,
        done: WorkDone,
        commit: &str,
    ) -> Result<Self, SweepFolderError> {
        let version = program_version(commit);
        let keys: Vec<String> = sweep.axes.iter().map(|axis| axis.key.clone()).collect();
        let mut table = SweepTable::new(keys.clone());
        let mut index = format!("file,seed,scenario_hash,{}\n", keys.join(","));
        let (mut failures, mut left, mut there) = (done.failed, 0, Vec::new());
        let mut outside = Vec::new();
        for (number, point) in points.iter().enumerate() {
            let mut runs = Vec::new();
            for seed in &sweep.seeds {
                let name = run_name(&point.loaded.resolved, *seed, &version);
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
                there.push(SweepRun {
                    point: number,
                    seed: *seed,
                    file: folder.file(&name),
                    figures: figures.clone(),
                });
                runs.push(figures);
            }
            if !runs.is_empty() {
                let of_point = validity(&point.loaded.scenario);
                OutsideOfRuns::count(&mut outside, &of_point, runs.len() as u32);
            }
            table.push(point.values.clone(), &runs);
        }
        let files = [
            folder.write_text(TABLE, &table.csv())?,
            folder.write_text(INDEX, &index)?,
        ];
        Ok(Self {
            runs: points.len() * sweep.seeds.len(),
            made: done.made,
            left,
            failures,
            table,
            validity: outside,
            files,
            there,
        })
    }
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

impl fmt::Display for SweepReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.table)?;
        writeln!(f, "medians over seeds, with their bootstrap bands of 95 %")?;
        for failed in &self.failures {
            writeln!(f, "FAILED {}: {}", failed.why, failed.replay)?;
        }
        for outside in &self.validity {
            writeln!(f, "{outside}")?;
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
