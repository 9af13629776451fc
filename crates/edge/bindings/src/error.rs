//! Errors of calls, by who is at fault.

use serde::Serialize;
use thiserror::Error;
use undertone_node::assemble::AssembleError;
use undertone_node::command::{ConnectFailure, PublishFailure, SubscribeFailure};
use undertone_node::config::ConfigError;
use undertone_node::handle::Stopped;
use undertone_node::services::{SendError, SendFailure, ServiceFailure};
use undertone_services::history::HistoryError;

/// Reason why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, uniffi::Error)]
#[serde(
    tag = "kind",
    rename_all = "SCREAMING_SNAKE_CASE",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum NodeError {
    /// The configuration is invalid.
    #[error("{reason}")]
    Configuration {
        /// Name of the key; empty if the text as a whole is not TOML.
        key: String,
        /// Place, value, and what was expected.
        reason: String,
    },
    /// The node cannot start: a port is taken, or a file or database cannot be used.
    #[error("{reason}")]
    Start {
        /// Fault and remedy.
        reason: String,
    },
    /// An argument of the call is invalid, or does not fit the node's network.
    #[error("{argument}: {reason}")]
    Argument {
        /// Name of the argument or of its field.
        argument: String,
        /// Value, and what was expected.
        reason: String,
    },
    /// No peer is known that could do what was asked for.
    #[error("{reason}")]
    NoPeers {
        /// Kind of peer that is missing.
        reason: String,
    },
    /// A peer could not be reached, did not answer in time, or refused.
    #[error("{reason}")]
    Peer {
        /// Peer, and what happened.
        reason: String,
    },
    /// The messages of this epoch that the node's membership allows are used up.
    #[error("{reason}")]
    RateLimit {
        /// Limit, and when it is reset.
        reason: String,
        /// Time to the next epoch, seconds.
        resets_in_s: u64,
    },
    /// The node's membership cannot prove the message.
    #[error("{reason}")]
    Membership {
        /// Fault of the membership.
        reason: String,
    },
    /// The node's own archive or another part of it cannot do its work now.
    #[error("{reason}")]
    Unavailable {
        /// Part of the node, and its fault.
        reason: String,
    },
    /// The node has stopped.
    #[error("the node has stopped")]
    Stopped,
}

impl NodeError {
    pub(crate) fn argument(name: &str, reason: impl ToString) -> Self {
        Self::Argument {
            argument: name.to_owned(),
            reason: reason.to_string(),
        }
    }
}

impl From<ConfigError> for NodeError {
    fn from(error: ConfigError) -> Self {
        Self::Configuration {
            key: error.key().unwrap_or_default().to_owned(),
            reason: error.to_string(),
        }
    }
}

impl From<AssembleError> for NodeError {
    fn from(error: AssembleError) -> Self {
        Self::Start {
            reason: error.to_string(),
        }
    }
}

impl From<Stopped> for NodeError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

impl From<SubscribeFailure> for NodeError {
    fn from(failure: SubscribeFailure) -> Self {
        match failure {
            SubscribeFailure::Stopped(_) => Self::Stopped,
            failure => Self::argument("pubsub_topic", failure),
        }
    }
}

impl From<ConnectFailure> for NodeError {
    fn from(failure: ConnectFailure) -> Self {
        match failure {
            ConnectFailure::Stopped(_) => Self::Stopped,
            ConnectFailure::Unsupported { .. } => Self::argument("address", failure),
            failure => Self::Peer {
                reason: failure.to_string(),
            },
        }
    }
}

impl From<PublishFailure> for NodeError {
    fn from(failure: PublishFailure) -> Self {
        let reason = failure.to_string();
        match failure {
            PublishFailure::NotSubscribed { .. } => Self::argument("pubsub_topic", reason),
            PublishFailure::Duplicate
            | PublishFailure::TooLarge { .. }
            | PublishFailure::InvalidMessage { .. } => Self::argument("message", reason),
            PublishFailure::NoPeers => Self::NoPeers { reason },
            PublishFailure::RateLimit { resets_in_s, .. } => Self::RateLimit {
                reason,
                resets_in_s,
            },
            PublishFailure::RlnProof { .. } | PublishFailure::InvalidProof { .. } => {
                Self::Membership { reason }
            }
            PublishFailure::Stopped(_) => Self::Stopped,
            _ => Self::Unavailable { reason },
        }
    }
}

impl From<ServiceFailure> for NodeError {
    fn from(failure: ServiceFailure) -> Self {
        let reason = failure.to_string();
        match failure {
            ServiceFailure::NoPeer { .. } => Self::NoPeers { reason },
            ServiceFailure::Address { .. } => Self::argument("peer", reason),
            ServiceFailure::Dial { .. }
            | ServiceFailure::Refused { .. }
            | ServiceFailure::BadAnswer { .. }
            | ServiceFailure::TimedOut { .. } => Self::Peer { reason },
            ServiceFailure::Archive(HistoryError::UnknownCursor) => {
                Self::argument("cursor", reason)
            }
            ServiceFailure::Topic(_) => Self::argument("pubsub_topic", reason),
            ServiceFailure::TooManySubscriptions { .. } => Self::argument("content_topics", reason),
            ServiceFailure::Stopped(_) => Self::Stopped,
            _ => Self::Unavailable { reason },
        }
    }
}

impl From<SendFailure> for NodeError {
    fn from(failure: SendFailure) -> Self {
        let reason = failure.to_string();
        match failure {
            SendFailure::Queue(SendError::TooLarge { .. } | SendError::Duplicate(_)) => {
                Self::argument("message", reason)
            }
            SendFailure::Queue(SendError::TopicTooLong { .. }) | SendFailure::Topic(_) => {
                Self::argument("pubsub_topic", reason)
            }
            SendFailure::Message(failure) => failure.into(),
            SendFailure::Stopped(_) => Self::Stopped,
            _ => Self::Unavailable { reason },
        }
    }
}
