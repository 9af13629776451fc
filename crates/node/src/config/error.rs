//! Errors in a configuration, and the source of each value.

use std::{fmt, io, path::PathBuf};

use thiserror::Error;
use undertone_message::UnknownNetwork;

/// Source of a configuration value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The configuration file; the line counts from 1.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Line of the key, from 1.
        line: usize,
    },
    /// One of the environment variables.
    Environment {
        /// Name of the variable.
        variable: String,
    },
    /// A flag on the command line.
    Flag {
        /// The flag, with its dashes.
        flag: String,
    },
    /// No source set the value.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment { variable } => write!(f, "environment variable {variable}"),
            Self::Flag { flag } => write!(f, "flag {flag}"),
            Self::Default => f.write_str("defaults"),
        }
    }
}

/// Reason why the configuration is invalid.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read configuration file {}: {source}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file is not valid TOML.
    #[error("{}:{line}: {message}", path.display())]
    Syntax {
        /// Path of the file.
        path: PathBuf,
        /// Line of the error, from 1.
        line: usize,
        /// Error message of the parser.
        message: String,
    },
    /// A source sets a key that does not exist.
    #[error("{origin}: unknown key {key:?}{}", hint(nearest.as_deref()))]
    UnknownKey {
        /// Source of the key.
        origin: Origin,
        /// The key, as written.
        key: String,
        /// Key that was probably meant, if any is similar.
        nearest: Option<String>,
    },
    /// A key has a value that it cannot have.
    #[error("{origin}: {key} = {value}: expected {expected}")]
    BadValue {
        /// Source of the value.
        origin: Origin,
        /// Name of the key.
        key: &'static str,
        /// The value, as JSON.
        value: String,
        /// Description of the values allowed.
        expected: String,
    },
    /// The network does not exist.
    #[error("{origin}: {source}")]
    Network {
        /// Source of the network's name.
        origin: Origin,
        /// The unknown name and the known ones.
        source: UnknownNetwork,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(
        || "; see the documentation for the list of keys".to_owned(),
        |nearest| format!("; did you mean {nearest:?}?"),
    )
}
