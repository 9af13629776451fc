//! Error types, grouped by the party at fault.

use thiserror::Error;
use undertone_wire::VarintError;

use crate::types::{MessageId, PeerIx, Topic};

/// Reason why a frame cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A field has number 0, which protobuf does not allow.
    #[error("a protobuf field has number 0")]
    FieldZero,
    /// The frame is longer than allowed.
    #[error("a frame of {len} bytes is over the limit of {max}")]
    FrameTooLarge {
        /// Length of the frame, bytes.
        len: usize,
        /// Longest allowed frame, bytes.
        max: usize,
    },
    /// A required field is absent.
    #[error("{field} is missing")]
    Missing {
        /// Names of the message and the field.
        field: &'static str,
    },
    /// A list is longer than allowed.
    #[error("more than {max} {what} in one frame")]
    TooMany {
        /// Name of the list's entries.
        what: &'static str,
        /// Maximum number of entries.
        max: usize,
    },
    /// A topic name is not valid UTF-8.
    #[error("a topic is not UTF-8")]
    TopicNotUtf8,
    /// A topic name is longer than allowed.
    #[error("a topic of {len} bytes is over the limit of {max}")]
    TopicTooLong {
        /// Length of the topic name, bytes.
        len: usize,
        /// Longest allowed topic name, bytes.
        max: usize,
    },
    /// A length points past the end of the frame.
    #[error("a field extends past the end of the frame")]
    Truncated,
    /// A varint is incomplete or too large.
    #[error(transparent)]
    Varint(#[from] VarintError),
    /// A wire type that protobuf does not have, or no longer has.
    #[error("protobuf wire type {wire_type} is not supported")]
    WireType {
        /// Number of the wire type.
        wire_type: u8,
    },
}

/// Kind of misbehaviour of a peer. [`PeerMisbehaved::penalty`] returns its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PeerMisbehaved {
    /// The peer repeatedly advertised ids and did not deliver the messages when asked (see
    /// [`Config::broken_promises_habit`](crate::Config::broken_promises_habit)).
    #[error("broke {count} promises to deliver advertised messages")]
    BrokenPromises {
        /// Promises broken since the last heartbeat; they count as one offence.
        count: u32,
    },
    /// The peer sent many frames without content.
    #[error("sent {count} empty frames since the last heartbeat")]
    EmptyFrames {
        /// Number of empty frames since the last heartbeat.
        count: usize,
    },
    /// The peer sent a GRAFT during a backoff.
    #[error("grafted during backoff (flood: {flood})")]
    GraftDuringBackoff {
        /// Whether the GRAFT came within `graft_flood_threshold` of the PRUNE, which counts twice.
        flood: bool,
    },
    /// The peer sent a message that the validator rejected.
    #[error("sent invalid message {id:?}")]
    InvalidMessage {
        /// Id of the message.
        id: MessageId,
    },
    /// The peer sent a frame that cannot be decoded.
    #[error("sent a malformed frame: {0}")]
    Malformed(Malformed),
    /// The peer sent a signature, key, author or sequence number where the network
    /// allows none (StrictNoSign).
    #[error("sent signed message {id:?} on a network without signatures")]
    SignedMessage {
        /// Id of the message.
        id: MessageId,
    },
}

/// Cost of misbehaviour in the score function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Penalty {
    /// The number is added to the behaviour counter (P7).
    Behaviour(u32),
    /// One is added to the topic's invalid-message counter (P4).
    InvalidMessage,
}

impl PeerMisbehaved {
    /// Returns the cost of this misbehaviour in the score function.
    pub fn penalty(&self) -> Penalty {
        match self {
            Self::BrokenPromises { .. } | Self::EmptyFrames { .. } | Self::Malformed(_) => {
                Penalty::Behaviour(1)
            }
            Self::GraftDuringBackoff { flood } => Penalty::Behaviour(1 + u32::from(*flood)),
            Self::InvalidMessage { .. } | Self::SignedMessage { .. } => Penalty::InvalidMessage,
        }
    }
}

/// A limit of [`crate::Limits`] that was reached; the surplus is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Capacity {
    /// The bandwidth of the topic, see [`crate::TopicBudget`].
    #[error("the bandwidth of the topic is used up")]
    Bandwidth,
    /// Limit `pending_max` or `pending_bytes_max`: the validator does not keep up.
    #[error("too many messages wait for validation")]
    Pending,
    /// Limit `subscriptions_per_peer_max` on topics of one peer.
    #[error("a peer is subscribed to too many topics")]
    Subscriptions,
    /// Limit `topics_max` on topics, or `topic_bytes_max` on the name.
    #[error("too many topics are known")]
    Topics,
}

/// Violation of the router's contract by the driver.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ApiMisuse {
    /// A peer was connected twice without a disconnect.
    #[error("peer {0:?} is connected already")]
    AlreadyConnected(PeerIx),
    /// The length prefix of a frame does not match its length; drivers must split the stream by the prefix.
    #[error("the bytes from peer {0:?} are not exactly one frame")]
    NotOneFrame(PeerIx),
    /// An input was given before the outputs of the last one were drained.
    #[error("outputs of the last input were not drained with poll()")]
    OutputsNotDrained,
    /// The time of an input lies before that of the last one.
    #[error("time went backwards")]
    TimeWentBackwards,
    /// A topic name is longer than `topic_bytes_max`, or there are `topics_max` topics already.
    #[error("topic {0} does not fit the limits")]
    TopicLimit(Topic),
    /// The peer index is not connected.
    #[error("peer {0:?} is not connected")]
    UnknownPeer(PeerIx),
}

/// Reason why a message was not published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The same bytes were published or received within the seen time.
    #[error("message {0:?} was published or received before")]
    Duplicate(MessageId),
    /// The message and its envelope do not fit in a frame.
    #[error("message of {len} bytes does not fit a frame of {max}")]
    TooLarge {
        /// Length of the message, bytes.
        len: usize,
        /// Longest allowed frame, bytes.
        max: usize,
    },
}
