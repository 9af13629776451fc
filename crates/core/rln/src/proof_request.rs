//! Inputs and errors of making a proof.

use crate::epoch::Epoch;
use crate::external::{Generation, RlnIdentifier};
use crate::field::Fr;
use crate::identity::Identity;
use crate::tree::MerklePath;

/// Largest limit that the circuit supports: message ids have 16 bits.
pub const MAX_LIMIT: u32 = u16::MAX as u32;

/// Inputs of one proof.
#[derive(Clone, Copy, Debug)]
pub struct ProofRequest<'a> {
    /// Identity of the publisher.
    pub identity: &'a Identity,
    /// The member's limit, as registered, in messages per epoch.
    pub limit: u32,
    /// Merkle path of the member's leaf.
    pub path: &'a MerklePath,
    /// The network's formula for external nullifiers.
    pub generation: Generation,
    /// Epoch of the message's timestamp.
    pub epoch: Epoch,
    /// Application identifier of the network.
    pub identifier: &'a RlnIdentifier,
    /// Message id: less than the limit, and never used before in this epoch (see
    /// [`crate::MessageIdCounter`]): using an id twice reveals the identity's secret.
    pub message_id: u32,
    /// Signal hash of the message, see [`crate::signal_hash`].
    pub x: Fr,
}

/// Position of a message in the rate limit: application, epoch and message id.
#[derive(Clone, Copy, Debug)]
pub struct MessageSlot<'a> {
    /// The network's formula for external nullifiers.
    pub generation: Generation,
    /// Epoch of the message's timestamp.
    pub epoch: Epoch,
    /// Application identifier of the network.
    pub identifier: &'a RlnIdentifier,
    /// Message id: less than the limit, and never used before in this epoch (see
    /// [`crate::MessageIdCounter`]): using an id twice reveals the identity's secret.
    pub message_id: u32,
}

/// Error of making a proof.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The message id is not below the limit: the member has used up the epoch.
    #[error(
        "message id {message_id} is not below the limit of {limit} messages per epoch; wait for \
         the next epoch"
    )]
    MessageIdOutOfRange {
        /// Message id that was requested.
        message_id: u32,
        /// The member's limit, in messages per epoch.
        limit: u32,
    },
    /// The limit is 0 or larger than the circuit supports.
    #[error("limit {limit} is outside 1..={MAX_LIMIT}; use the limit that was registered")]
    LimitOutOfRange {
        /// Limit that was requested.
        limit: u32,
    },
    /// The operating system provided no random numbers, without which a proof would reveal its
    /// secrets.
    #[cfg(feature = "os-rng")]
    #[error("no random numbers from the operating system: {0}")]
    NoEntropy(getrandom::Error),
}
