//! What can go wrong with the file, sorted by what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::schema::SCHEMA_VERSION;

/// Trouble with a registry's file.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The file is not an SQLite database.
    #[error("{path}: not an SQLite database; give the path of a registry or of a new file")]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is an SQLite database of another program.
    #[error("{path}: a database, but not a registry; give the path of a registry or a new file")]
    NotARegistry {
        /// The file.
        path: PathBuf,
    },
    /// Another version of the program made the file.
    #[error(
        "{path}: made by another version of this program (schema {found}, this one reads \
         {SCHEMA_VERSION}); use that version, or register anew in a new file"
    )]
    WrongSchema {
        /// The file.
        path: PathBuf,
        /// The file's schema number.
        found: i32,
    },
    /// The file follows another contract.
    #[error(
        "{path}: follows contract {found} on chain {found_chain}; give another file for this one, \
         it is filled from the chain"
    )]
    OtherContract {
        /// The file.
        path: PathBuf,
        /// The contract that it follows.
        found: String,
        /// That contract's chain.
        found_chain: u64,
    },
    /// The file is of the other mode of following a contract.
    #[error(
        "{path}: not of {wanted} mode; give another file for it, it is filled from the chain, or go \
         back to the mode that made it"
    )]
    OtherMode {
        /// The file.
        path: PathBuf,
        /// The mode that was to use it.
        wanted: &'static str,
    },
    /// Another process kept the file locked for several seconds.
    #[error("{path}: locked by another process for too long; end or repair that process")]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The disk is full.
    #[error("{path}: the disk is full; nothing was changed, free some space and try again")]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The file, or its folder, may not be written or does not exist.
    #[error("{path}: cannot be opened for writing; check the folder, the owner and the mode")]
    NotWritable {
        /// The file.
        path: PathBuf,
    },
    /// The content contradicts itself.
    #[error("{path}: damaged ({what}); restore it from a backup")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: Damage,
    },
    /// The lock file could not be used.
    #[error("{path}: {source}; check the folder, the owner and the mode")]
    Io {
        /// The lock file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// SQLite reports something else.
    #[error("{path}: {source}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's own words.
        source: rusqlite::Error,
    },
}

/// Where a registry's file contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// SQLite found the file's pages or indices inconsistent.
    #[error("SQLite: {report}")]
    Structure {
        /// The first finding.
        report: String,
    },
    /// A row has the wrong types or lengths.
    #[error("a row cannot be read: {report}")]
    Row {
        /// What the reader objects to.
        report: String,
    },
    /// An index outside the tree.
    #[error("member index {index} is outside the tree")]
    Index {
        /// The index.
        index: u32,
    },
    /// A commitment that is not a field element.
    #[error("the commitment of member {index} is not a canonical field element")]
    Commitment {
        /// The member.
        index: u32,
    },
    /// A member without a limit.
    #[error("member {index} has no limit")]
    Limit {
        /// The member.
        index: u32,
    },
}

/// Sorts an error of SQLite about the file at `path`.
pub(crate) fn storage(path: &Path) -> impl Fn(rusqlite::Error) -> StorageError {
    move |source| {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => StorageError::NotADatabase { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StorageError::Locked { path }
            }
            Some(ErrorCode::DiskFull) => StorageError::DiskFull { path },
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                StorageError::NotWritable { path }
            }
            Some(ErrorCode::DatabaseCorrupt) => {
                let what = Damage::Structure {
                    report: source.to_string(),
                };
                StorageError::Corrupt { path, what }
            }
            Some(_) => StorageError::Sqlite { path, source },
            // Without a code the error comes from converting what SQLite delivered.
            None => {
                let what = Damage::Row {
                    report: source.to_string(),
                };
                StorageError::Corrupt { path, what }
            }
        }
    }
}
