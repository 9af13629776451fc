//! Error of everything that is asked of a node that is no longer there.

use thiserror::Error;

/// Error: the node is stopping or has stopped, so there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the node is shutting down")]
pub struct Stopped;
