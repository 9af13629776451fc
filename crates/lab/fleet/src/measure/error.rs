//! Errors of measuring proofs and memory.

use std::io;

use thiserror::Error;
use undertone_rln::{CounterError, KeyError, ProveError};

/// Reason why a measurement was not made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// No folder for the counter of message ids can be created.
    #[error("a folder for the message ids: {0}")]
    Folder(io::Error),
    /// A process that measures its own memory cannot be started.
    #[error("cannot start a child: {0}")]
    Child(io::Error),
    /// The proving key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The counter of message ids failed.
    #[error(transparent)]
    Counter(#[from] CounterError),
    /// A proof could not be made.
    #[error(transparent)]
    Prove(#[from] ProveError),
}
