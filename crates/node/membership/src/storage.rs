//! Errors of the files of registries and chain followers, grouped by what the user can do about them.

use std::error::Error;
use std::io;
use std::path::PathBuf;

#[cfg(any(feature = "evm", feature = "sqlite"))]
mod convert;

#[cfg(any(feature = "evm", feature = "sqlite"))]
pub(crate) use convert::storage;

/// Error of a registry's file, or of the file in which a chain follower keeps its state.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The file is not an SQLite database.
    #[error("{path}: not an SQLite database; give the path of a registry or of a new file")]
    NotADatabase {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file is an SQLite database, but of another program.
    #[error("{path}: a database, but not a registry; give the path of a registry or a new file")]
    NotARegistry {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file was made by another version of this program.
    #[error(
        "{path}: made by another version of this program (schema {found}, this one reads \
         {supported}); use that version, or begin a new file: a registry's members register anew, \
         a contract's are read from the chain"
    )]
    WrongSchema {
        /// Path of the file.
        path: PathBuf,
        /// Schema number found in the file.
        found: i32,
        /// Schema number of such files that this program supports.
        supported: i32,
    },
    /// The file holds the state of another contract.
    #[error(
        "{path}: follows contract {found} on chain {found_chain}; give another file for this one, \
         it is filled from the chain"
    )]
    OtherContract {
        /// Path of the file.
        path: PathBuf,
        /// Address of the contract that the file follows.
        found: String,
        /// Chain id of the contract that the file follows.
        found_chain: u64,
    },
    /// The file belongs to the other mode of following a contract (light or full).
    #[error(
        "{path}: not of {wanted} mode; give another path, the file is filled from the chain, or \
         go back to the mode that made it"
    )]
    OtherMode {
        /// Path of the file.
        path: PathBuf,
        /// The mode that tried to open the file.
        wanted: &'static str,
    },
    /// Another process kept the database locked for several seconds, or holds a follower's lock file.
    #[error("{path}: locked by another process for too long; end or repair that process")]
    Locked {
        /// Path of the file.
        path: PathBuf,
    },
    /// The disk is full.
    #[error("{path}: the disk is full; nothing was changed, free some space and try again")]
    DiskFull {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file, or its folder, is not writable or does not exist.
    #[error("{path}: cannot be opened for writing; check the folder, the owner and the mode")]
    NotWritable {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file's content is inconsistent.
    #[error("{path}: damaged ({what}); restore it from a backup")]
    Corrupt {
        /// Path of the file.
        path: PathBuf,
        /// The inconsistency that was found.
        what: StorageDamage,
    },
    /// The lock file could not be used.
    #[error("{path}: {source}; check the folder, the owner and the mode")]
    Io {
        /// Path of the lock file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Any other error that SQLite reports.
    #[error("{path}: {source}")]
    Sqlite {
        /// Path of the file.
        path: PathBuf,
        /// The error as SQLite reports it.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// An inconsistency in a registry's file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StorageDamage {
    /// SQLite found the file's pages or indices to be inconsistent.
    #[error("SQLite: {report}")]
    Structure {
        /// The first problem that SQLite reports.
        report: String,
    },
    /// A row has the wrong types or lengths.
    #[error("a row cannot be read: {report}")]
    Row {
        /// The conversion error of the row's value.
        report: String,
    },
    /// A member's index is outside the tree.
    #[error("member index {index} is outside the tree")]
    Index {
        /// The index that was read.
        index: u32,
    },
    /// A commitment is not a canonical field element.
    #[error("the commitment of member {index} is not a canonical field element")]
    Commitment {
        /// Index of the member.
        index: u32,
    },
    /// A member has no message limit.
    #[error("member {index} has no limit")]
    Limit {
        /// Index of the member.
        index: u32,
    },
}
