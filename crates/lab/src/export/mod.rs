//! Records as files for those who plot themselves.
//!
//! `figures.csv` and `figures.parquet` have one row per figure of all records;
//! `ID.chart-N.csv` one row per value of a chart, `ID.table-N.csv` the rows of a table.

mod csv;
mod figures;
mod parquet;

#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use ::parquet::errors::ParquetError;
use thiserror::Error;

use crate::record::{Record, names};

/// A file could not be written.
#[derive(Debug, Error)]
pub enum ExportError {
    /// By the system.
    #[error("cannot write {path}: {source}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// By the Parquet writer.
    #[error("cannot write {path}: {source}")]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the writer said.
        source: ParquetError,
    },
}

/// Writes everything into `folder`, which is made if it is not there. Returns the files.
///
/// # Errors
/// When a file cannot be written; those before it are.
pub fn write(records: &[Record], folder: &Path) -> Result<Vec<PathBuf>, ExportError> {
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
