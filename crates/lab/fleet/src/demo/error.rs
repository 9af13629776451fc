//! Errors that end the demo.

use std::io;
use std::time::Duration;

use thiserror::Error;
use undertone_contracts::{ChainError, DevChainError};
use undertone_membership::RegistryError;
use undertone_membership::evm::EvmError;
use undertone_node::command::{ConnectFailure, PublishFailure};
use undertone_rln::KeyError;

use crate::in_process::NodesError;

/// Time limit for the line to form, after which the demo gives up.
pub(super) const START_LIMIT: Duration = Duration::from_secs(30);

/// Time limit for the registry to follow a block, which usually takes a fraction of a second.
pub(super) const FOLLOW_LIMIT: Duration = Duration::from_secs(30);

/// Reason why the demo cannot go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DemoError {
    /// The proving key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The network did not start.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The development chain failed.
    #[error(transparent)]
    Chain(#[from] OnChainError),
    /// A node refused to publish.
    #[error("cannot publish from node {node}: {reason}")]
    Publish {
        /// Number of the node in the line, from 0.
        node: usize,
        /// Reason that it reports.
        reason: PublishFailure,
    },
    /// The spammer cannot reach a node that it is to attack.
    #[error("the spammer cannot connect to node {node}: {reason}")]
    Spammer {
        /// Number of the node in the line, from 0.
        node: usize,
        /// Reason that the spammer's node reports.
        reason: ConnectFailure,
    },
    /// A node ended.
    #[error("node {node} stopped while it was needed")]
    NodeGone {
        /// Number of the node in the line, from 0.
        node: usize,
    },
}

/// Reason why the demo's network did not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The nodes cannot be made or started.
    #[error(transparent)]
    Nodes(#[from] NodesError),
    /// The development chain failed.
    #[error(transparent)]
    Chain(#[from] OnChainError),
    /// The system has no random numbers.
    #[error("the system's random generator: {0}")]
    Random(io::Error),
    /// The nodes did not find each other.
    #[error("the line did not form within {START_LIMIT:?}; is loopback traffic blocked?")]
    Slow,
}

/// Errors of the demo's development chain.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OnChainError {
    /// The chain did not start.
    #[error(transparent)]
    Start(#[from] DevChainError),
    /// A transaction or a request failed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The registry cannot follow the chain.
    #[error(transparent)]
    Follow(#[from] EvmError),
    /// The registry read from the chain failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// No folder for the data read from the chain can be made.
    #[error("cannot make a folder for the data read from the chain: {0}")]
    Folder(io::Error),
    /// The registry did not reach a block in time.
    #[error("block {block} was not followed within {FOLLOW_LIMIT:?}; is loopback traffic blocked?")]
    Slow {
        /// Number of the block.
        block: u64,
    },
    /// A member of the contract is not in the registry.
    #[error("member {commitment} is on the chain, but not in the registry read from it")]
    Missing {
        /// Commitment of the member, 64 hex digits, little-endian.
        commitment: String,
    },
}
