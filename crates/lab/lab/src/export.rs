//! Export of records as files for other plotting programs.
//!
//! `figures.csv` and `figures.parquet` have one row per figure of all records; `ID.chart-N.csv` has one
//! row per value of a chart, `ID.table-N.csv` the rows of a table.

mod csv;
mod figures;
mod parquet;

#[cfg(test)]
#[path = "tests/export.rs"]
mod tests;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use ::parquet::errors::ParquetError;
use thiserror::Error;

use crate::record::{ExperimentRecord, names};

/// Returned when a file cannot be written.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The system reported an error.
    #[error("cannot write {path}: {source}")]
    File {
        /// Path of the file or folder.
        path: PathBuf,
        /// Error reported by the system.
        source: io::Error,
    },
    /// The Parquet writer reported an error.
    #[error("cannot write {path}: {source}")]
    Parquet {
        /// Path of the file.
        path: PathBuf,
        /// Error reported by the writer.
        source: ParquetError,
    },
}

/// Writes all files into `folder`, which is created if necessary. Returns the paths of the files.
///
/// # Errors
/// Returns an error when a file cannot be written; the files before it remain.
pub fn write(records: &[ExperimentRecord], folder: &Path) -> Result<Vec<PathBuf>, ExportError> {
    fs::create_dir_all(folder).map_err(at(folder))?;
    let mut files = Vec::new();
    let mut save = |name: String, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(at(&path))?;
        files.push(path);
        Ok(())
    };
    save("figures.csv".to_owned(), csv::figures(records))?;
    for (record, name) in records.iter().zip(names(records)) {
        for (number, chart) in (1..).zip(&record.charts) {
            save(format!("{name}.chart-{number}.csv"), csv::chart(chart))?;
        }
        for (number, table) in (1..).zip(&record.tables) {
            save(format!("{name}.table-{number}.csv"), csv::table(table))?;
        }
    }
    let path = folder.join("figures.parquet");
    let mut file = BufWriter::new(File::create(&path).map_err(at(&path))?);
    parquet::write(records, &mut file).map_err(|source| ExportError::Parquet {
        path: path.clone(),
        source,
    })?;
    file.flush().map_err(at(&path))?;
    files.push(path);
    Ok(files)
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> ExportError {
    let path = path.to_owned();
    |source| ExportError::File { path, source }
}
