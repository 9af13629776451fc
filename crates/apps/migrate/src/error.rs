//! Reasons why a migration fails.

use std::io;
use std::path::PathBuf;

use thiserror::Error;
use undertone_archive::ArchiveError;
use undertone_node::config::ConfigError;
use undertone_rln::{CounterError, IdentityFileError, KeystoreError};

use crate::read::ReadFault;

/// Reason why a migration fails. Faults of the sources are found before the first file is written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MigrateError {
    /// A source of flags cannot be read.
    #[error(transparent)]
    Source(#[from] ReadFault),
    /// No source says how the node was run: the new one would join a network of its own.
    #[error("no source says how the node was run")]
    NoSource,
    /// The release is not a valid release number.
    #[error("{text:?} is no release of the reference node")]
    Release {
        /// The text found.
        text: String,
    },
    /// The flags contradict each other, or have values that this node does not accept.
    #[error("the flags make no valid configuration of ours: {source}{noted}")]
    Config {
        /// What is wrong.
        source: Box<ConfigError>,
        /// Remarks made while reading the sources; empty if there are none.
        noted: String,
    },
    /// A file or folder that the migration would create exists already.
    #[error("{}: exists already; nothing was changed", path.display())]
    Exists {
        /// The file or folder.
        path: PathBuf,
    },
    /// A file of the deployment, or a folder of the migration, cannot be read or created.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A new file cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The node key is malformed. Its text is a secret and not shown.
    #[error("{place}: not a node key")]
    NodeKey {
        /// Flag or file that contains it.
        place: String,
    },
    /// There is a keystore, but the flags switch rate limiting off.
    #[error("the flags switch rate limiting off, so the node has no use for a keystore")]
    NoRateLimit,
    /// The keystore cannot be read, or not decrypted with this password.
    #[error(transparent)]
    Keystore(#[from] KeystoreError),
    /// The keystore has no credential for the membership.
    #[error("{}: no credential of this membership", path.display())]
    NoCredential {
        /// Path of the keystore.
        path: PathBuf,
    },
    /// The keystore has several credentials, and none is selected.
    #[error("{}: {count} credentials", path.display())]
    SeveralCredentials {
        /// Path of the keystore.
        path: PathBuf,
        /// Number of its credentials.
        count: usize,
    },
    /// The system clock shows a time before 1970.
    #[error("the clock is before 1970")]
    Clock,
    /// The counter of message ids cannot be created.
    #[error(transparent)]
    Counter(#[from] CounterError),
    /// The identity cannot be written.
    #[error(transparent)]
    Identity(#[from] IdentityFileError),
    /// The archive to copy cannot be opened.
    #[error("{}: {source}", path.display())]
    OpenArchive {
        /// Path of the archive.
        path: PathBuf,
        /// Error of the database.
        source: rusqlite::Error,
    },
    /// The archive to copy has an unsupported schema.
    #[error("{}: schema version {version}, but {expected} is read", path.display())]
    ArchiveSchema {
        /// Path of the archive.
        path: PathBuf,
        /// Schema version of the archive.
        version: i64,
        /// Supported schema version.
        expected: i64,
    },
    /// The archive to copy cannot be read completely.
    #[error("{}: {source}", path.display())]
    ReadArchive {
        /// Path of the archive.
        path: PathBuf,
        /// Error of the database.
        source: rusqlite::Error,
    },
    /// The new archive cannot be created or written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

impl MigrateError {
    /// Returns advice for the operator, if the message alone does not say what to do.
    pub fn remedy(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoSource => {
                "give its flags: --flags, --compose, --toml, or --env with LOGOS_DELIVERY_NODE_* or WAKUNODE2_* variables"
            }
            Self::Release { .. } => "write it as 0.38",
            Self::Config { .. } => {
                "correct the flag that the error is about in a copy of the file, and give that"
            }
            Self::Exists { .. } => "choose another --output, or move this away",
            Self::Write { .. } => "check that the folder is writable and has space",
            Self::NodeKey { .. } => {
                "a node key is 64 hexadecimal digits, a secret key of secp256k1"
            }
            Self::NoRateLimit => {
                "leave --keystore out, or give flags with rln-relay=true or preset=twn"
            }
            Self::NoCredential { .. } => {
                "check rln-relay-membership-index; `undertone rln keystore list` lists the credentials"
            }
            Self::SeveralCredentials { .. } => {
                "choose one by the flag rln-relay-membership-index in the file of --flags"
            }
            Self::Clock => "set the clock right: epochs depend on it",
            Self::OpenArchive { .. } => {
                "give the SQLite file of a stopped node; a copy of it will do"
            }
            Self::ArchiveSchema { .. } => {
                "start the present version of nwaku once, which brings its archive up to date"
            }
            Self::Source(_)
            | Self::File { .. }
            | Self::Keystore(_)
            | Self::Counter(_)
            | Self::Identity(_)
            | Self::ReadArchive { .. }
            | Self::Archive(_) => return None,
        })
    }
}
