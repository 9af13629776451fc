//! Errors in scenario files.

use std::{fmt, io, path::PathBuf, sync::Arc};

use thiserror::Error;

use super::GmlError;

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Set in a file; the line counts from 1.
    File {
        /// Path of the file.
        place: Arc<str>,
        /// Line of the key.
        line: usize,
    },
    /// Set by `--set` on the command line.
    Set,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { place, line } => write!(f, "{place}:{line}"),
            Self::Set => f.write_str("--set"),
        }
    }
}

/// Reason why a scenario could not be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// No built-in scenario has this name.
    #[error("no scenario is called {name:?}{}", hint(nearest.as_deref(), "; `undertone sim --list` lists those built in, a path names a file"))]
    NoSuchScenario {
        /// The name that was given.
        name: String,
        /// Name of a scenario that was probably meant.
        nearest: Option<String>,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error reported by the system.
        source: io::Error,
    },
    /// A file is too long.
    #[error("{} has {bytes} bytes; at most {max_bytes} are read", path.display())]
    TooLong {
        /// Path of the file.
        path: PathBuf,
        /// Length of the file, bytes.
        bytes: u64,
        /// Largest accepted length, bytes.
        max_bytes: u64,
    },
    /// The file is not TOML.
    #[error("{origin}: {message}")]
    Syntax {
        /// Position of the mistake.
        origin: Origin,
        /// Message of the parser.
        message: String,
    },
    /// An override is not of the form `key=value`.
    #[error("--set {text}: expected KEY=VALUE, such as network.one_way_ms=100")]
    Override {
        /// Text of the override.
        text: String,
    },
    /// A key does not exist.
    #[error("{origin}: unknown key {key:?}{}", hint(nearest.as_deref(), "; see docs/scenarios.md"))]
    UnknownKey {
        /// Position of the key.
        origin: Origin,
        /// Name of the key with its table.
        key: String,
        /// Name of a key that was probably meant.
        nearest: Option<String>,
    },
    /// A value is not allowed for its key.
    #[error("{origin}: {key} = {value}: expected {expected}")]
    BadValue {
        /// Position of the key.
        origin: Origin,
        /// Name of the key with its table.
        key: String,
        /// The value that was given.
        value: String,
        /// Description of the allowed values.
        expected: String,
    },
    /// A required key is missing.
    #[error("{origin}: {key} is missing: expected {expected}")]
    Missing {
        /// Position of the table that should have the key.
        origin: Origin,
        /// Name of the key with its table.
        key: String,
        /// Description of the allowed values.
        expected: String,
    },
    /// A key has no effect together with the others.
    #[error("{origin}: {key} has no effect here: {why}")]
    NoEffect {
        /// Position of the key.
        origin: Origin,
        /// Name of the key with its table.
        key: String,
        /// Reason why the key has no effect.
        why: &'static str,
    },
    /// Parameters of the router contradict each other.
    #[error("{origin}: [relay]: {source}")]
    Relay {
        /// Position of the table.
        origin: Origin,
        /// Rule that is violated.
        source: undertone_gossip::ConfigError,
    },
    /// A network graph cannot be used.
    #[error("{}:{line}: {source}", path.display())]
    Gml {
        /// Path of the file.
        path: PathBuf,
        /// Line of the mistake, from 1.
        line: usize,
        /// Description of the mistake.
        source: GmlError,
    },
}

fn hint(nearest: Option<&str>, otherwise: &str) -> String {
    nearest.map_or_else(
        || otherwise.to_owned(),
        |nearest| format!("; did you mean {nearest:?}?"),
    )
}
