//! Writing the result files of runs.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;
use undertone_sim::Outcome;

use super::deliveries::{DeliveriesError, write_deliveries};
use super::summary::Summary;

/// Reason why a result file was not written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The file or its folder cannot be written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Path of the file or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A table cannot be written.
    #[error("{path}: {source}", path = path.display())]
    Rows {
        /// Path of the file.
        path: PathBuf,
        /// Reason reported by the writer of the table.
        source: DeliveriesError,
    },
}

/// Writes `summary.json` and `deliveries.parquet` into the folder.
///
/// # Errors
/// Returns [`WriteError`] for the first file that cannot be written.
pub fn write_run(folder: &Path, outcome: &Outcome, summary: &Summary) -> Result<(), WriteError> {
    write_summary(folder, summary)?;
    let path = folder.join("deliveries.parquet");
    let mut file = BufWriter::new(File::create(&path).map_err(at(&path))?);
    write_deliveries(outcome, summary, &[], &mut file).map_err(|source| WriteError::Rows {
        path: path.clone(),
        source,
    })?;
    file.flush().map_err(at(&path))
}

/// Writes `summary.json` into the folder, which is created if absent.
///
/// # Errors
/// Returns [`WriteError`] when the folder or the file cannot be written.
pub fn write_summary(folder: &Path, summary: &impl Serialize) -> Result<(), WriteError> {
    fs::create_dir_all(folder).map_err(at(folder))?;
    let path = folder.join("summary.json");
    let text = serde_json::to_string_pretty(summary)
        .expect("summaries have string keys and infallible fields");
    fs::write(&path, text + "\n").map_err(at(&path))
}

pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    let path = path.to_owned();
    |source| WriteError::File { path, source }
}
