//! Kinds of outcomes, which C compares as numbers.

use undertone_bindings::NodeError;

/// Outcome of a call: success, or who is at fault.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndertoneStatus {
    /// The call has succeeded.
    Ok = 0,
    /// The configuration is invalid.
    Configuration = 1,
    /// The node cannot start: a port is taken, or a file or database cannot be used.
    Start = 2,
    /// An argument is invalid: NULL, not UTF-8, not the JSON that is expected, no node, or not of the node's network.
    Argument = 3,
    /// No peer is known that could do what was asked for.
    NoPeers = 4,
    /// A peer could not be reached, did not answer in time, or refused.
    Peer = 5,
    /// The messages of this epoch that the node's membership allows are used up.
    RateLimit = 6,
    /// The node's membership cannot prove the message.
    Membership = 7,
    /// The node's own archive or another part of it cannot do its work now.
    Unavailable = 8,
    /// The node has stopped.
    Stopped = 9,
    /// A defect of this library: it panicked, and standard error has the message.
    Internal = 10,
}

impl From<&NodeError> for UndertoneStatus {
    fn from(error: &NodeError) -> Self {
        match error {
            NodeError::Configuration { .. } => Self::Configuration,
            NodeError::Start { .. } => Self::Start,
            NodeError::Argument { .. } => Self::Argument,
            NodeError::NoPeers { .. } => Self::NoPeers,
            NodeError::Peer { .. } => Self::Peer,
            NodeError::RateLimit { .. } => Self::RateLimit,
            NodeError::Membership { .. } => Self::Membership,
            NodeError::Stopped => Self::Stopped,
            _ => Self::Unavailable,
        }
    }
}
