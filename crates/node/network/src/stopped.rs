//! The error that every request to a stopped node returns.

use thiserror::Error;

/// Error: the node is stopping or has stopped, so there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the node is shutting down")]
pub struct Stopped;
