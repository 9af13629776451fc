//! Errors in settings, and the origin of each value.

use std::{fmt, sync::Arc};

use thiserror::Error;

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Set in a file.
    File {
        /// Path of the file.
        place: Arc<str>,
        /// Line of the key, from 1.
        line: usize,
    },
    /// Set by `--set` on the command line.
    Set,
    /// Set by an environment variable.
    Environment {
        /// Name of the variable.
        variable: String,
    },
    /// Set by its own flag on the command line.
    Flag {
        /// The flag, with its dashes.
        flag: String,
    },
    /// Set by the embedding program.
    Program,
    /// Set by no source.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { place, line } => write!(f, "{place}:{line}"),
            Self::Set => f.write_str("--set"),
            Self::Environment { variable } => write!(f, "environment variable {variable}"),
            Self::Flag { flag } => write!(f, "flag {flag}"),
            Self::Program => f.write_str("settings of the program"),
            Self::Default => f.write_str("defaults"),
        }
    }
}

/// Mistake in settings.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not TOML.
    #[error("{origin}: {message}")]
    Syntax {
        /// Position of the mistake.
        origin: Origin,
        /// Message of the parser.
        message: String,
    },
    /// A key does not exist.
    #[error("{origin}: unknown key {key:?}; {}", hint(nearest.as_deref(), reference))]
    UnknownKey {
        /// Position of the key.
        origin: Origin,
        /// Name of the key with its table.
        key: String,
        /// Name of a key that was probably meant.
        nearest: Option<String>,
        /// Advice for a key without a similar known one: where the keys are listed.
        reference: &'static str,
    },
    /// A value is not allowed for its key.
    #[error("{origin}: {key} = {value}: expected {expected}")]
    BadValue {
        /// Position of the key.
        origin: Origin,
        /// Name of the key with its table.
        key: String,
        /// The value found.
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
}

impl Error {
    /// Returns the name of the key that the error is about, with its table; `None` if the text is not TOML.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::UnknownKey { key, .. }
            | Self::BadValue { key, .. }
            | Self::Missing { key, .. }
            | Self::NoEffect { key, .. } => Some(key),
            Self::Syntax { .. } => None,
        }
    }
}

fn hint(nearest: Option<&str>, reference: &str) -> String {
    nearest.map_or_else(
        || reference.to_owned(),
        |nearest| format!("did you mean {nearest:?}?"),
    )
}
