//! Errors in a configuration.

use std::{io, path::PathBuf};

use thiserror::Error;
use undertone_message::UnknownNetwork;
use undertone_settings::Origin;

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
    /// The file is not TOML, or a key or value in one of the sources is wrong.
    #[error(transparent)]
    Setting(#[from] undertone_settings::Error),
    /// The network does not exist.
    #[error("{origin}: {source}")]
    Network {
        /// Source of the network's name.
        origin: Origin,
        /// The unknown name and the known ones.
        source: UnknownNetwork,
    },
}

impl ConfigError {
    /// Returns the name of the key that the error is about; `None` if it is about a whole source.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Setting(error) => error.key(),
            Self::Network { .. } => Some("network"),
            Self::Read { .. } => None,
        }
    }
}
