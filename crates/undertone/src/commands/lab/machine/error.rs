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

/// Errors that keep the nodes of an experiment from running.
#[derive(Debug, Error)]
pub(super) enum NodesError {
    #[error("{what} is {value}; it must be in {range:?}")]
    Plan {
        what: &'static str,
        value: f64,
        range: RangeInclusive<f64>,
    },
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("cannot make a folder for the nodes' files: {0}")]
    Folder(io::Error),
    #[error(transparent)]
    Preset(#[from] UnknownNetwork),
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Counter(#[from] CounterError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Prove(#[from] ProveError),
    #[error("cannot start the thread that prepares tokens: {0}")]
    Tokens(io::Error),
    #[error("node {node} cannot connect: {reason}")]
    Connect { node: usize, reason: ConnectFailure },
    #[error("the mesh did not form within {0:?}; are others using the processor?")]
    Slow(Duration),
    #[error(
        "{needed} open files are needed and {allowed} are allowed; raise the limit with \
         `ulimit -n {needed}`"
    )]
    Files { needed: u64, allowed: u64 },
    #[error("this system does not tell how much memory a process has; run it on Linux")]
    Memory,
    #[error("the spammer cannot publish its first message: {0}")]
    Publish(undertone_node::command::PublishFailure),
}

/// Checks that a plan's value is within its range.
pub(super) fn within(
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
