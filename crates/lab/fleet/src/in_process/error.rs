//! Errors of running real nodes for an experiment.

use std::io;
use std::ops::RangeInclusive;
use std::time::Duration;

use thiserror::Error;
use undertone_membership::RegistryError;
use undertone_message::UnknownNetwork;
use undertone_node::command::ConnectFailure;
use undertone_node::driver::StartError;
use undertone_rln::{CounterError, KeyError, ProveError};

/// Reason why the nodes of an experiment cannot run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NodesError {
    /// A value of the plan is out of range.
    #[error("{what} is {value}; it must be in {range:?}")]
    Plan {
        /// Name of the value in the plan.
        what: &'static str,
        /// Value that was given.
        value: f64,
        /// Values that are allowed.
        range: RangeInclusive<f64>,
    },
    /// The proving key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// No folder for the files can be created.
    #[error("cannot make a folder for the nodes' files: {0}")]
    Folder(io::Error),
    /// The network has no preset.
    #[error(transparent)]
    Preset(#[from] UnknownNetwork),
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A counter of message ids failed.
    #[error(transparent)]
    Counter(#[from] CounterError),
    /// A node did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A proof or a token could not be made.
    #[error(transparent)]
    Prove(#[from] ProveError),
    /// The thread that prepares tokens cannot be started.
    #[error("cannot start the thread that prepares tokens: {0}")]
    Tokens(io::Error),
    /// A node cannot connect to another.
    #[error("node {node} cannot connect: {reason}")]
    Connect {
        /// Number of the node that dials.
        node: usize,
        /// Reason that it reports.
        reason: ConnectFailure,
    },
    /// The mesh did not form in time.
    #[error("the mesh did not form within {0:?}; are others using the processor?")]
    Slow(Duration),
    /// The limit on open files is too low.
    #[error(
        "{needed} open files are needed and {allowed} are allowed; raise the limit with \
         `ulimit -n {needed}`"
    )]
    Files {
        /// Number of files that the nodes need.
        needed: u64,
        /// Number of files that the process may have open.
        allowed: u64,
    },
    /// The system does not report memory.
    #[error("this system does not tell how much memory a process has; run it on Linux")]
    Memory,
    /// The spammer cannot publish its first message.
    #[error("the spammer cannot publish its first message: {0}")]
    Publish(undertone_node::command::PublishFailure),
}

/// Checks that a plan's value is within its range.
pub(crate) fn within(
    what: &'static str,
    value: impl Into<f64>,
    range: RangeInclusive<f64>,
) -> Result<(), NodesError> {
    let value = value.into();
    if range.contains(&value) {
        return Ok(());
    }
    Err(NodesError::Plan { what, value, range })
}
