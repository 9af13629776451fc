//! Writing the result files of a run.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use undertone_lab::report::{Summary, write_deliveries};
use undertone_sim::Outcome;

use super::super::Failure;

/// Writes `summary.json` and `deliveries.parquet` into the folder.
pub(crate) fn write_run(
    folder: &Path,
    outcome: &Outcome,
    summary: &Summary,
) -> Result<(), Failure> {
    write_summary(folder, summary)?;
    let path = folder.join("deliveries.parquet");
    let mut file = create(&path)?;
    write_deliveries(outcome, &mut file).map_err(|error| Failure::at(&path, error))?;
    file.flush().map_err(|error| Failure::at(&path, error))
}

/// Writes `summary.json` into the folder, which is created if absent.
pub(crate) fn write_summary(folder: &Path, summary: &impl Serialize) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
    let path = folder.join("summary.json");
    let text = serde_json::to_string_pretty(summary)
        .expect("summaries have string keys and infallible fields");
    fs::write(&path, text + "\n").map_err(|error| Failure::at(&path, error))
}

fn create(path: &Path) -> Result<BufWriter<File>, Failure> {
    let file = File::create(path).map_err(|error| Failure::at(path, error))?;
    Ok(BufWriter::new(file))
}
