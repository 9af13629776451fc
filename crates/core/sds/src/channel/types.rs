//! Inputs and outputs of a channel.

use std::sync::Arc;

use thiserror::Error;

use super::super::{CausalHistoryEntry, Id, MessageError};

/// Input of a [`Channel`](super::Channel).
#[derive(Debug, Clone)]
pub enum Input {
    /// The application sends a message.
    Send {
        /// Id of the message, unique in the channel.
        id: Id,
        /// Content, not empty.
        payload: Vec<u8>,
    },
    /// The application sends a message that is neither ordered, acknowledged nor resent.
    SendEphemeral {
        /// Id of the message.
        id: Id,
        /// Content, not empty.
        payload: Vec<u8>,
    },
    /// A message of the local member was published. Later messages that name it carry the hint.
    Published {
        /// Id of the message.
        id: Id,
        /// Hint for retrieving the message, such as its Waku message hash.
        retrieval_hint: Vec<u8>,
    },
    /// A message arrived from the network.
    Received {
        /// Message as it was sent.
        bytes: Vec<u8>,
        /// Hint for retrieving the message, such as its Waku message hash.
        retrieval_hint: Option<Vec<u8>>,
    },
    /// A message was fetched from a store, in answer to [`Output::Missing`] or on joining.
    Retrieved {
        /// Message as it was sent.
        bytes: Vec<u8>,
        /// Hint for retrieving the message, such as its Waku message hash.
        retrieval_hint: Option<Vec<u8>>,
    },
    /// Time has passed.
    Tick,
}

/// Output of a [`Channel`](super::Channel).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// The state has changed: the driver must persist [`Channel::state`](super::Channel::state) before it carries out
    /// the outputs that follow. Anything that was not persisted in time is delivered again after a restart, or, if it
    /// is a sent message, fetched from the others.
    Persist,
    /// Message to be broadcast.
    Publish {
        /// Message on the wire.
        bytes: Arc<[u8]>,
        /// Reason for the broadcast.
        reason: PublishReason,
        /// Whether stores need not keep the message: it is a sync message or an ephemeral one.
        is_ephemeral: bool,
    },
    /// Message for the application, delivered after all messages that precede it, except for `gaps`.
    Deliver {
        /// Id of the message.
        id: Id,
        /// Participant id of its sender, as claimed.
        sender: Id,
        /// Lamport timestamp; messages are ordered by it and then by id. `None` for an ephemeral message.
        lamport_timestamp: Option<u64>,
        /// Content of the message.
        payload: Vec<u8>,
        /// Messages that this one names and that are missing. If one turns up later, it is delivered then.
        gaps: Vec<Id>,
    },
    /// A sent message may have reached a member: it was found in a Bloom filter.
    PossiblyAcknowledged {
        /// Id of the message.
        id: Id,
    },
    /// A sent message has reached a member.
    Acknowledged {
        /// Id of the message.
        id: Id,
    },
    /// A message was resent the maximum number of times, and nobody has acknowledged it.
    Unconfirmed {
        /// Id of the message.
        id: Id,
    },
    /// Messages that are missing, with hints for fetching them from a store.
    Missing {
        /// References as given by other members.
        entries: Vec<CausalHistoryEntry>,
    },
    /// Messages that were missing for too long and are no longer awaited.
    Lost {
        /// Ids of the messages.
        ids: Vec<Id>,
    },
    /// A received message was refused.
    Refused(SdsRefusal),
    /// A message was not sent.
    SendRefused {
        /// Id of the message.
        id: Id,
        /// Reason of the refusal.
        error: SdsSendError,
    },
}

/// Reason for a broadcast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishReason {
    /// First broadcast of a message.
    Message(Id),
    /// Resending of an unacknowledged message.
    Resend(Id),
    /// Broadcast of an ephemeral message.
    Ephemeral(Id),
    /// Broadcast of a sync message.
    Sync,
    /// Repair: a message that another member requested.
    Repair(Id),
}

/// Reason why a received message was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SdsRefusal {
    /// The message cannot be decoded: its sender is at fault.
    #[error(transparent)]
    Malformed(#[from] MessageError),
    /// The message has neither content nor timestamp: its sender is at fault.
    #[error("neither content nor timestamp")]
    Meaningless,
    /// The message has no id, or not the one required by [`IdRule`](crate::IdRule): its sender is at fault.
    #[error("id {id:?} is not allowed for the message")]
    WrongId {
        /// Id of the message.
        id: Id,
    },
    /// The Lamport timestamp is too far ahead: its sender or a clock is at fault.
    #[error("Lamport timestamp is {lead_ms} ms ahead of the clock")]
    FarFuture {
        /// Lead over the local clock, in milliseconds.
        lead_ms: u64,
    },
    /// The message belongs to another channel.
    #[error("message of another channel")]
    OtherChannel,
    /// The message claims to be from the local member.
    #[error("message of the local member")]
    Own,
    /// The message was received before.
    #[error("duplicate of {id:?}")]
    Duplicate {
        /// Id of the message.
        id: Id,
    },
}

/// Reason why a message was not sent; the application is at fault, or there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SdsSendError {
    /// The payload is empty.
    #[error("payload is empty")]
    Empty,
    /// The id is empty or too long, or not the one required by [`IdRule`](crate::IdRule).
    #[error("id is not allowed for the message")]
    WrongId,
    /// The channel already has a message with this id.
    #[error("id is in use")]
    DuplicateId,
    /// The message is too long for the channel.
    #[error("message of {size_bytes} bytes is too long")]
    TooLarge {
        /// Length of the message on the wire, in bytes.
        size_bytes: usize,
    },
    /// Too many messages wait for acknowledgement.
    #[error("too many messages wait for acknowledgement")]
    Full,
}
