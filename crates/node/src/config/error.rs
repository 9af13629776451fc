//! What can be wrong with a configuration.

use std::{fmt, io, path::PathBuf};

use thiserror::Error;
use undertone_message::UnknownNetwork;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The configuration file; the line counts from 1.
    File {
        /// The file.
        path: PathBuf,
        /// The line of the key.
        line: usize,
    },
    /// An environment variable.
    Environment {
        /// Its name.
        variable: String,
    },
    /// The command line.
    Flag {
        /// The flag, with its dashes.
        flag: String,
    },
    /// Nobody set it.
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

/// Why there is no configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read configuration file {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("{}:{line}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// A source sets a key that does not exist.
    #[error("{origin}: unknown key {key:?}{}", hint(nearest.as_deref()))]
    UnknownKey {
        /// Where it is.
        origin: Origin,
        /// The key, as written.
        key: String,
        /// The key that was probably meant.
        nearest: Option<String>,
    },
    /// A value that the key cannot have.
    #[error("{origin}: {key} = {value}: expected {expected}")]
    BadValue {
        /// Where it is.
        origin: Origin,
        /// The key.
        key: &'static str,
        /// The value, as JSON.
        value: String,
        /// What it must be.
        expected: String,
    },
    /// The network does not exist.
    #[error("{origin}: {source}")]
    Network {
        /// Where its name is.
        origin: Origin,
        /// The name and the known ones.
        source: UnknownNetwork,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(
        || "; see the documentation for the list of keys".to_owned(),
        |nearest| format!("; did you mean {nearest:?}?"),
    )
}
