//! Reasons for not publishing a message, with the statuses and texts of nwaku.
//!
//! js-waku distinguishes server faults from message faults by parts of the texts: `RLN validation
//! failed`, `could not generate rln proof` and `could not get new message id to generate an rln proof`.

use thiserror::Error;
use undertone_message::DecodeError;

use super::{codec::LightpushStatus, version::PushVersion};
use crate::{rpc::RpcFrameError, sharding::ShardingError};

/// Reason why a relay does not publish a message. Its text is sent to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PublishRefusal {
    /// No peer of the topic is connected.
    #[error("No peers for topic, skipping publish")]
    NoPeers,
    /// The message is larger than the network carries.
    #[error("Message size exceeded maximum of {max_bytes} bytes")]
    TooLarge {
        /// Largest message, in bytes.
        max_bytes: usize,
    },
    /// The message was published before.
    #[error("Dropping already-seen message")]
    Duplicate,
    /// The message breaks a network rule other than that on proofs.
    #[error("message is not valid on this network")]
    InvalidMessage,
    /// The message's proof is missing or invalid, or its sender exceeds the rate limit.
    #[error("RLN validation failed")]
    InvalidProof,
    /// No honest client sends this proof. Clients get the same text as for any other invalid proof.
    #[error("RLN validation failed")]
    ForgedProof,
    /// The relay has no free slot for a message; the client may try again.
    #[error("the relay is busy, try again")]
    Busy,
    /// The server would have to generate a proof but has no membership available.
    #[error("could not generate rln proof: no membership available")]
    NoProof,
    /// The server would have to generate a proof but its membership's limit for the epoch is used up.
    #[error("could not get new message id to generate an rln proof: limit of the epoch reached")]
    ProofLimit,
    /// The relay does not carry the topic.
    #[error("pubsub topic is not supported by this node")]
    UnsupportedTopic,
    /// The node is stopping.
    #[error("the node is shutting down")]
    Stopping,
    /// The relay did not finish in time.
    #[error("publishing timed out")]
    TimedOut,
    /// The relay failed for a reason that is neither the client's fault nor the network's.
    #[error("the relay failed")]
    Failed,
}

/// Reason why a request fails.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum LightpushRefusal {
    #[error("decode_rpc_failure: {0}")]
    Malformed(RpcFrameError),
    #[error("empty_request_body_failure")]
    EmptyRequest,
    #[error(transparent)]
    Sharding(ShardingError),
    #[error("too many messages of this peer are being published")]
    PeerBusy,
    #[error("too many messages are being published")]
    Busy,
    #[error("Request rejected due to too many requests")]
    TooManyRequests,
    #[error(transparent)]
    Publish(PublishRefusal),
}

impl LightpushRefusal {
    pub(super) fn status(&self) -> LightpushStatus {
        match self {
            Self::Malformed(_) | Self::EmptyRequest => LightpushStatus::BAD_REQUEST,
            Self::Sharding(_) => LightpushStatus::INVALID_MESSAGE,
            Self::PeerBusy | Self::TooManyRequests => LightpushStatus::TOO_MANY_REQUESTS,
            Self::Busy => LightpushStatus::SERVICE_NOT_AVAILABLE,
            Self::Publish(refusal) => match refusal {
                PublishRefusal::NoPeers => LightpushStatus::NO_PEERS_TO_RELAY,
                PublishRefusal::TooLarge { .. } => LightpushStatus::PAYLOAD_TOO_LARGE,
                PublishRefusal::Duplicate
                | PublishRefusal::InvalidMessage
                | PublishRefusal::InvalidProof
                | PublishRefusal::ForgedProof => LightpushStatus::INVALID_MESSAGE,
                PublishRefusal::NoProof | PublishRefusal::ProofLimit => {
                    LightpushStatus::OUT_OF_RLN_PROOF
                }
                PublishRefusal::UnsupportedTopic => LightpushStatus::UNSUPPORTED_PUBSUB_TOPIC,
                PublishRefusal::Busy | PublishRefusal::Stopping | PublishRefusal::TimedOut => {
                    LightpushStatus::SERVICE_NOT_AVAILABLE
                }
                PublishRefusal::Failed => LightpushStatus::INTERNAL_SERVER_ERROR,
            },
        }
    }

    /// Returns the text for a client. v2 has texts of its own for failures that have a status in v3.
    pub(super) fn text(&self, version: PushVersion) -> String {
        match (version, self) {
            (PushVersion::V2, Self::TooManyRequests) => "TOO_MANY_REQUESTS".to_owned(),
            (PushVersion::V2, Self::Publish(PublishRefusal::NoPeers)) => {
                "not_published_to_any_peer".to_owned()
            }
            _ => self.to_string(),
        }
    }
}

impl From<RpcFrameError> for LightpushRefusal {
    fn from(error: RpcFrameError) -> Self {
        match error {
            RpcFrameError::Message(DecodeError::TooLarge { max_bytes, .. }) => {
                Self::Publish(PublishRefusal::TooLarge { max_bytes })
            }
            RpcFrameError::Missing { field: "request" } => Self::EmptyRequest,
            error => Self::Malformed(error),
        }
    }
}
