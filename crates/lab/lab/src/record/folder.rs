//! Folders of records, one file per experiment.

use std::path::{Path, PathBuf};
use std::{fs, io};

use thiserror::Error;
use undertone_rln::durable::read_bounded;

use super::ExperimentRecord;

/// Size limit of a record file, bytes.
pub const MAX_RECORD_BYTES: u64 = 64 << 20;
/// Maximum number of records in a folder.
pub const MAX_RECORDS: usize = 1_000;

/// Reason why the records of a folder cannot be read.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The folder or a file in it cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// Path of the folder or file.
        path: PathBuf,
        /// Error reported by the system.
        source: io::Error,
    },
    /// The folder holds no record.
    #[error("no experiment in {path}: a record is a file that ends in .json")]
    Empty {
        /// Path of the folder.
        path: PathBuf,
    },
    /// The folder holds too many files.
    #[error("{path} has more than {MAX_RECORDS} files that end in .json; is it the right folder?")]
    TooMany {
        /// Path of the folder.
        path: PathBuf,
    },
    /// A file is larger than [`MAX_RECORD_BYTES`].
    #[error("{path} is larger than {MAX_RECORD_BYTES} bytes; move it out of the folder")]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
    },
    /// A file is not a record, or was written by another version of this program.
    #[error(
        "{path} is no record of this version: {source}; run its experiment again, or move it away"
    )]
    NoRecord {
        /// Path of the file.
        path: PathBuf,
        /// Position in the file, and what was expected there.
        source: serde_json::Error,
    },
}

/// Reads all records of a folder (files named `*.json`) in the order of their ids.
///
/// # Errors
/// Returns an error when a file cannot be read, is too large or is not a record, and when there is no
/// file or there are too many.
pub fn read_folder(folder: &Path) -> Result<Vec<ExperimentRecord>, FolderError> {
    let unreadable = |source| FolderError::Unreadable {
        path: folder.to_owned(),
        source,
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_none_or(|extension| extension != "json") || !path.is_file() {
            continue;
        }
        if paths.len() == MAX_RECORDS {
            return Err(FolderError::TooMany {
                path: folder.to_owned(),
            });
        }
        paths.push(path);
    }
    if paths.is_empty() {
        return Err(FolderError::Empty {
            path: folder.to_owned(),
        });
    }
    paths.sort();
    let records: Result<Vec<ExperimentRecord>, FolderError> =
        paths.iter().map(|path| read(path)).collect();
    let mut records = records?;
    records.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(records)
}

fn read(path: &Path) -> Result<ExperimentRecord, FolderError> {
    let bytes = read_bounded(path, MAX_RECORD_BYTES).map_err(|source| match source.kind() {
        io::ErrorKind::FileTooLarge => FolderError::TooLarge {
            path: path.to_owned(),
        },
        _ => FolderError::Unreadable {
            path: path.to_owned(),
            source,
        },
    })?;
    serde_json::from_slice(&bytes).map_err(|source| FolderError::NoRecord {
        path: path.to_owned(),
        source,
    })
}
