//! Records in files, one per experiment.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Record;

/// A file of a record is not larger, bytes.
pub const MAX_RECORD_BYTES: u64 = 64 << 20;
/// A folder does not hold more records.
pub const MAX_RECORDS: usize = 1_000;

/// Why the records of a folder cannot be had.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The folder or a file in it cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no record in the folder.
    #[error("no experiment in {path}: a record is a file that ends in .json")]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// There are too many files.
    #[error("{path} has more than {MAX_RECORDS} files that end in .json; is it the right folder?")]
    TooMany {
        /// The folder.
        path: PathBuf,
    },
    /// A file is too large.
    #[error("{path} is larger than {MAX_RECORD_BYTES} bytes; move it out of the folder")]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// A file is no record, or one of another version of this program.
    #[error(
        "{path} is no record of this version: {source}; run its experiment again, or move it away"
    )]
    NoRecord {
        /// The file.
        path: PathBuf,
        /// Where in the file, and what was expected.
        source: serde_json::Error,
    },
}

/// All records of a folder, files named `*.json`, in the order of their ids.
///
/// # Errors
/// When a file cannot be read or is no record, and when there is none.
pub fn read_folder(folder: &Path) -> Result<Vec<Record>, FolderError> {
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
    let records: Result<Vec<Record>, FolderError> = paths.iter().map(|path| read(path)).collect();
    let mut records = records?;
    records.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(records)
}

fn read(path: &Path) -> Result<Record, FolderError> {
    let unreadable = |source| FolderError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_RECORD_BYTES + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > MAX_RECORD_BYTES {
        return Err(FolderError::TooLarge {
            path: path.to_owned(),
        });
    }
    serde_json::from_slice(&bytes).map_err(|source| FolderError::NoRecord {
        path: path.to_owned(),
        source,
    })
}
