//! Errors by who is at fault.

use thiserror::Error;

use crate::types::{MessageId, PeerIx, Topic};
use crate::wire::VarintError;

/// A frame that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Malformed {
    /// Field number 0 does not exist.
    #[error("a protobuf field has number 0")]
    FieldZero,
    /// The frame is longer than allowed.
    #[error("a frame of {len} bytes is over the limit of {max}")]
    FrameTooLarge {
        /// Bytes received.
        len: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// A required field is absent.
    #[error("{field} is missing")]
    Missing {
        /// Message and field.
        field: &'static str,
    },
    /// A list is longer than allowed.
    #[error("more than {max} {what} in one frame")]
    TooMany {
        /// What the list holds.
        what: &'static str,
        /// Entries allowed.
        max: usize,
    },
    /// A topic name is no text.
    #[error("a topic is not UTF-8")]
    TopicNotUtf8,
    /// A topic name is longer than allowed.
    #[error("a topic of {len} bytes is over the limit of {max}")]
    TopicTooLong {
        /// Bytes received.
        len: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// A length points past the end.
    #[error("a field ends after the frame does")]
    Truncated,
    /// A bad number.
    #[error(transparent)]
    Varint(#[from] VarintError),
    /// A wire type that protobuf no longer has.
    #[error("protobuf wire type {wire_type} is not supported")]
    WireType {
        /// The type's number.
        wire_type: u8,
    },
}

/// What a peer did wrong. [`PeerMisbehaved::penalty`] says what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PeerMisbehaved {
    /// It advertised ids and did not deliver them when asked, again and again
    /// ([`Config::broken_promises_habit`](crate::Config::broken_promises_habit)).
    #[error("broke {count} promises to deliver advertised messages")]
    BrokenPromises {
        /// Promises broken since the last heartbeat; one offence together.
        count: u32,
    },
    /// It sent many frames with nothing in them.
    #[error("sent {count} empty frames since the last heartbeat")]
    EmptyFrames {
        /// How many.
        count: usize,
    },
    /// It grafted although it had been told to stay away.
    #[error("grafted during backoff (flood: {flood})")]
    GraftDuringBackoff {
        /// Whether it came within seconds of the PRUNE, which counts twice.
        flood: bool,
    },
    /// It sent a message that the validator rejected.
    #[error("sent invalid message {id:?}")]
    InvalidMessage {
        /// Which.
        id: MessageId,
    },
    /// It sent a frame that cannot be read.
    #[error("sent a malformed frame: {0}")]
    Malformed(Malformed),
    /// It signed a message, or named an author, where the network has neither.
    #[error("sent signed message {id:?} on a network without signatures")]
    SignedMessage {
        /// Which.
        id: MessageId,
    },
}

/// What misbehaviour costs in the score function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Penalty {
    /// Adds to the behaviour counter (P7).
    Behaviour(u32),
    /// Adds one to the topic's invalid-message counter (P4).
    InvalidMessage,
}

impl PeerMisbehaved {
    /// The price.
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

/// A bound of [`crate::Limits`] that was hit; what did not fit is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Capacity {
    /// `pending_max` or `pending_bytes_max`: the validator does not keep up.
    #[error("too many messages wait for validation")]
    Pending,
    /// `subscriptions_per_peer_max`.
    #[error("a peer is subscribed to too many topics")]
    Subscriptions,
    /// `topics_max`.
    #[error("too many topics are known")]
    Topics,
}

/// The driver broke the contract.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ApiMisuse {
    /// A peer was connected twice.
    #[error("peer {0:?} is connected already")]
    AlreadyConnected(PeerIx),
    /// A frame whose length prefix is not that of the rest: the driver cuts frames by it.
    #[error("what came from peer {0:?} is not one frame")]
    NotOneFrame(PeerIx),
    /// An input came before the outputs of the last one were drained.
    #[error("outputs of the last input were not drained with poll()")]
    OutputsNotDrained,
    /// `now` went backwards.
    #[error("time went backwards")]
    TimeWentBackwards,
    /// A name that is longer than `topic_bytes_max`, or one topic more than `topics_max`.
    #[error("topic {0} does not fit the limits")]
    TopicLimit(Topic),
    /// An index that is not connected.
    #[error("peer {0:?} is not connected")]
    UnknownPeer(PeerIx),
}

/// Why a message was not published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The same bytes were published or received within the seen time.
    #[error("message {0:?} was published or received before")]
    Duplicate(MessageId),
    /// The message and its envelope do not fit a frame.
    #[error("message of {len} bytes does not fit a frame of {max}")]
    TooLarge {
        /// Bytes of the message.
        len: usize,
        /// Bytes a frame may have.
        max: usize,
    },
}
