//! What can be wrong with a scenario file.

use std::{fmt, io, path::PathBuf, sync::Arc};

use thiserror::Error;

use super::GmlError;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file; the line counts from 1.
    File {
        /// The file.
        place: Arc<str>,
        /// The line of the key.
        line: usize,
    },
    /// `--set` on the command line.
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

/// Why there is no scenario.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// No scenario is built in under this name.
    #[error("no scenario is called {name:?}{}", hint(nearest.as_deref(), "; `undertone sim --list` lists those built in, a path names a file"))]
    NoSuchScenario {
        /// The name.
        name: String,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is too long.
    #[error("{} has {bytes} bytes; at most {max_bytes} are read", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
        /// The bound.
        max_bytes: u64,
    },
    /// The file is not TOML.
    #[error("{origin}: {message}")]
    Syntax {
        /// Where.
        origin: Origin,
        /// What the parser says.
        message: String,
    },
    /// An override is not of the form `key=value`.
    #[error("--set {text}: expected KEY=VALUE, such as network.one_way_ms=100")]
    Override {
        /// What was given.
        text: String,
    },
    /// A key that does not exist.
    #[error("{origin}: unknown key {key:?}{}", hint(nearest.as_deref(), "; see docs/scenarios.md"))]
    UnknownKey {
        /// Where.
        origin: Origin,
        /// The key with its table.
        key: String,
        /// The key that was probably meant.
        nearest: Option<String>,
    },
    /// A value that the key cannot have.
    #[error("{origin}: {key} = {value}: expected {expected}")]
    BadValue {
        /// Where.
        origin: Origin,
        /// The key with its table.
        key: String,
        /// The value.
        value: String,
        /// What it must be.
        expected: String,
    },
    /// A key that must be there.
    #[error("{origin}: {key} is missing: expected {expected}")]
    Missing {
        /// The table that should have it.
        origin: Origin,
        /// The key with its table.
        key: String,
        /// What it must be.
        expected: String,
    },
    /// A key that nothing would read.
    #[error("{origin}: {key} has no effect here: {why}")]
    NoEffect {
        /// Where.
        origin: Origin,
        /// The key with its table.
        key: String,
        /// Because of what.
        why: &'static str,
    },
    /// Parameters of the router that do not fit together.
    #[error("{origin}: [relay]: {source}")]
    Relay {
        /// The table.
        origin: Origin,
        /// The rule.
        source: undertone_gossip::ConfigError,
    },
    /// A network graph that cannot be used.
    #[error("{}:{line}: {source}", path.display())]
    Gml {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        source: GmlError,
    },
}

fn hint(nearest: Option<&str>, otherwise: &str) -> String {
    nearest.map_or_else(
        || otherwise.to_owned(),
        |nearest| format!("; did you mean {nearest:?}?"),
    )
}
