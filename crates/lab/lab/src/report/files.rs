//! Writing the result files of runs.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;
use undertone_sim::Outcome;
use undertone_sim::outcome::Delivery;

use super::deliveries::{DeliveriesError, write_deliveries, write_deliveries_of};
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

/// Writes one rank's share of a run: the deliveries to its nodes as a file in the folder `deliveries`, which forms one
/// dataset with those of the other ranks. Rank 0 also writes `summary.json`.
///
/// # Errors
/// Returns [`WriteError`] for the first file that cannot be written.
pub fn write_rank(
    folder: &Path,
    (rank, count): (usize, usize),
    outcome: &Outcome,
    summary: &Summary,
) -> Result<(), WriteError> {
    if rank == 0 {
        write_summary(folder, summary)?;
    }
    let folder = folder.join("deliveries");
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    if rank == 0 {
        // An earlier run may have had more ranks.
        for number in count.. {
            let path = folder.join(rank_file(number));
            match fs::remove_file(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(source) => return Err(WriteError::File { path, source }),
            }
        }
    }
    let path = folder.join(rank_file(rank));
    let mut file = BufWriter::new(File::create(&path).map_err(at(&path))?);
    let is_own = |delivery: &Delivery| delivery.receiver as usize % count == rank;
    write_deliveries_of(outcome, summary, &[], is_own, &mut file).map_err(|source| {
        WriteError::Rows {
            path: path.clone(),
            source,
        }
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

fn rank_file(rank: usize) -> String {
    format!("rank-{rank:04}.parquet")
}

pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    let path = path.to_owned();
    |source| WriteError::File { path, source }
}
