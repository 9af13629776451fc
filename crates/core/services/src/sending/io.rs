//! Inputs and outputs of the sender.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use thiserror::Error;
use undertone_gossip::Time;
use undertone_message::{MessageHash, WakuMessage};

use crate::history::{HistoryPage, HistoryQuery};
use crate::light::{ServicePeer, ServicePeerFailure};
use crate::{PeerNo, RequestNo};

/// Number of a message that an application sends: unique, also over restarts, and growing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SendId(pub u64);

/// Reason why a message was not taken into the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The queue has as many messages as it may.
    #[error("the send queue holds {max} messages, its most")]
    QueueFull {
        /// Most messages of the queue.
        max: usize,
    },
    /// The queue would hold more bytes than it may.
    #[error("the send queue would hold more than {max} bytes")]
    QueueBytes {
        /// Most bytes of the queue.
        max: usize,
    },
    /// The message is longer than the network carries.
    #[error("message of {size_bytes} bytes; the network carries {max}")]
    TooLarge {
        /// Length of the encoded message, in bytes.
        size_bytes: usize,
        /// Maximum length, in bytes.
        max: usize,
    },
    /// The pubsub topic is too long.
    #[error("pubsub topic of more than {max} bytes")]
    TopicTooLong {
        /// Maximum length, in bytes.
        max: usize,
    },
    /// The message has no fragments, or more than there may be.
    #[error("message in {count} fragments; there may be 1 to {max}")]
    Fragments {
        /// Number of fragments.
        count: usize,
        /// Maximum number of fragments.
        max: usize,
    },
    /// The queue holds the same message already: same topic, content and timestamp.
    #[error("the message is in the send queue already")]
    Duplicate(SendId),
}

/// Failure of making a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProveFailure {
    /// The membership tree or the prover is not ready; the same proof is asked for again later.
    NotReady,
    /// The rate limit of the timestamp's epoch is used up; a proof is asked for again in the next epoch.
    LimitUsedUp,
    /// The node has no membership.
    NotMember,
}

/// Failure of publishing by relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayFailure {
    /// No peer took the message.
    NoPeers,
    /// The relay's own validation refused the proof.
    ProofRefused,
    /// The relay's own validation refused the message.
    Invalid,
}

/// Failure of publishing through a lightpush peer (lightpush v3 status codes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushFailure {
    /// The stream broke, or the answer could not be decoded: the message may have been published.
    NoAnswer,
    /// The peer asks for patience (429, 503).
    Busy {
        /// Time that the peer asks for, if it named one.
        retry_after: Option<Duration>,
    },
    /// The peer failed (500): the message may have been published.
    Internal,
    /// The peer has no relay peers (505), or took the message for none.
    NoPeers,
    /// The peer does not serve the pubsub topic (421).
    UnsupportedTopic,
    /// The peer refused the proof, or says that one is missing (504, or 420 about the proof).
    ProofRefused,
    /// The peer says that the message is too large (413).
    TooLarge,
    /// The peer says that the message is invalid (400, 420).
    Invalid,
}

/// Event that the driver reports to the sender, or a command for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Input {
    /// Discovery found a service peer, or learned more about one.
    PeerFound(ServicePeer),
    /// Discovery gave a peer up; the sender forgets it.
    PeerLost(PeerNo),
    /// A peer is connected now.
    Connected(PeerNo),
    /// A peer is disconnected now.
    Disconnected(PeerNo),
    /// A connection that [`Output::Connect`] asked for could not be made.
    ConnectFailed(PeerNo),
    /// Pubsub topics on which the relay has somebody to publish to now, in place of those told before.
    RelayTopics(BTreeSet<Arc<str>>),
    /// Messages that the rate limit leaves in this epoch. To be told at the start of each epoch and
    /// whenever others spend of the same limit.
    Budget {
        /// Proofs that can be made before the epoch ends.
        remaining: u32,
        /// End of the epoch.
        epoch_ends: Time,
    },
    /// Answer to an [`Output::Prove`]: the serialized `RateLimitProof`.
    Proved {
        /// Message of the proof.
        id: SendId,
        /// Number of the proof, as in [`Output::Prove`].
        attempt: u32,
        /// The proof, or the reason why none was made.
        result: Result<Bytes, ProveFailure>,
    },
    /// The proof of a message cannot be accepted any more: its root or epoch is too old.
    ProofStale(SendId),
    /// Answer to an [`Output::CheckProof`]: the proof is still good. [`Input::ProofStale`] answers that
    /// it is not.
    ProofFresh(SendId),
    /// Answer to an [`Output::Relay`]: number of peers that took the message, or the failure.
    Relayed {
        /// Number of the message that the relay was given.
        id: SendId,
        /// Number of peers, or the failure.
        result: Result<usize, RelayFailure>,
    },
    /// Answer to an [`Output::Push`].
    PushAnswer {
        /// Number of the request.
        request: RequestNo,
        /// Number of relay peers that took the message, or the failure. `None` for answers without the
        /// number (lightpush v2), which are given only if a peer took it.
        answer: Result<Option<u32>, PushFailure>,
    },
    /// Answer to an [`Output::History`].
    HistoryAnswer {
        /// Number of the request.
        request: RequestNo,
        /// The page, or the reason of the failure.
        answer: Result<HistoryPage, ServicePeerFailure>,
    },
    /// A message came back to this node by relay or filter from another.
    Seen(MessageHash),
    /// The wall clock was set or corrected.
    ClockSet {
        /// Wall time at [`Time::ZERO`], Unix nanoseconds.
        unix_ns_at_zero: u64,
    },
    /// Time has passed: run the timers that are due.
    Tick,
}

/// Reason why a message ends propagated, without the word of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unconfirmed {
    /// The message is ephemeral: stores do not keep it.
    Ephemeral,
    /// No store is known.
    NoStore,
    /// No known store answered.
    StoresSilent,
    /// A store says that it has the message, and its word is not enough: it may have the message from this node, or is
    /// related to a peer that has, and no second one agrees.
    OneStore,
}

/// Reason why a message failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailReason {
    /// No peer took the message before its deadline.
    Deadline,
    /// The message was propagated, but stores answer that they do not hold it.
    NotStored,
    /// The message is older than the network accepts, and it is not known to have been published.
    TooOld,
    /// Several peers, or this node's relay, refused the message as invalid or too large.
    Refused,
    /// The node has no membership to prove with.
    NotMember,
}

/// Step of a message on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendEventKind {
    /// The message is in the queue, durably.
    Queued,
    /// The message, with its proof, is given to the relay or a lightpush peer.
    Sent,
    /// Another node of the network has the message.
    Propagated,
    /// A store has the message whose word is enough, or two that are unrelated. An end.
    Stored,
    /// The message is propagated, and no store can tell more. An end.
    PropagatedOnly(Unconfirmed),
    /// The message failed. An end.
    Failed(FailReason),
}

impl SendEventKind {
    /// Whether no further event of the message follows.
    pub fn is_end(self) -> bool {
        match self {
            Self::Queued | Self::Sent | Self::Propagated => false,
            Self::Stored | Self::PropagatedOnly(_) | Self::Failed(_) => true,
        }
    }
}

/// Event of a message, for the application. After a crash the last event may come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendEvent {
    /// Number of the message that the event is about.
    pub id: SendId,
    /// Step on its way.
    pub kind: SendEventKind,
    /// Hash of the message; `None` before it has a timestamp, and of one in fragments, which have hashes of their own.
    pub hash: Option<MessageHash>,
}

/// Message of the queue.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingMessage {
    /// Number of the message.
    pub id: SendId,
    /// Topic that it is published on.
    pub pubsub_topic: Arc<str>,
    /// The message, or the first of its fragments that has no end.
    pub message: WakuMessage,
    /// Whether it goes in fragments.
    pub is_in_fragments: bool,
    /// Last step that it made.
    pub step: SendEventKind,
    /// Hash of the message, as in [`SendEvent`].
    pub hash: Option<MessageHash>,
}

/// Action that the driver has to take, or event for the application.
///
/// A fragment of a message has a number of its own in all of them but [`Event`](Self::Event).
///
/// The driver carries outputs out in order, and a [`Persist`](Self::Persist) is durable before the
/// outputs behind it are begun. The enum is exhaustive on purpose: a driver that overlooks a new action is
/// wrong, so it must not compile.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Keep a record in place of the former one of the same message.
    Persist {
        /// Number of the message that the record is of.
        id: SendId,
        /// Bytes for [`MessageSender::restore`](super::MessageSender::restore).
        record: Bytes,
    },
    /// Forget the record of a message.
    Erase(SendId),
    /// Make a proof; answer with [`Input::Proved`].
    ///
    /// After a crash the same number may be asked for again. The driver then has to return the same proof,
    /// or one with the same message id of the rate limit: the message is the same, so it breaks no limit.
    Prove {
        /// Number of the message that needs the proof.
        id: SendId,
        /// Number of the proof, counted for each message from 1.
        attempt: u32,
        /// Topic to publish on.
        pubsub_topic: Arc<str>,
        /// The message, without a proof.
        message: WakuMessage,
    },
    /// Check whether the proof of a message is still good, since a peer refused it; answer with
    /// [`Input::ProofFresh`] or [`Input::ProofStale`].
    CheckProof {
        /// Number of the message.
        id: SendId,
        /// The message with its proof.
        message: WakuMessage,
    },
    /// Publish a message by relay; answer with [`Input::Relayed`].
    Relay {
        /// The message's number.
        id: SendId,
        /// Topic to publish on.
        pubsub_topic: Arc<str>,
        /// The message with its proof.
        message: WakuMessage,
        /// Whether this node's own readers have it already.
        is_delivered: bool,
    },
    /// Publish a message through a lightpush peer; answer with [`Input::PushAnswer`].
    Push {
        /// Number of the message.
        id: SendId,
        /// Peer to ask.
        peer: PeerNo,
        /// Number of the request, repeated in the answer.
        request: RequestNo,
        /// Topic to publish on.
        pubsub_topic: Arc<str>,
        /// The message with its proof.
        message: WakuMessage,
    },
    /// Connect to a peer; answer with [`Input::Connected`] or [`Input::ConnectFailed`].
    Connect(PeerNo),
    /// Send a query to a store peer; answer with [`Input::HistoryAnswer`].
    History {
        /// Peer to ask.
        peer: PeerNo,
        /// Number of the request, repeated in the answer.
        request: RequestNo,
        /// Query for the store peer.
        query: HistoryQuery,
    },
    /// Tell the application how a message fares.
    Event(SendEvent),
    /// A message that waited for a peer failed, of which nobody is told.
    GivenUp {
        /// Number of the message.
        id: SendId,
        /// Reason of the failure.
        reason: FailReason,
    },
    /// The sender holds no state for a peer any more: its number may be given to another.
    Forgotten(PeerNo),
}

impl Output {
    /// Number of the message that the action or event is for; `None` for those of peers and stores.
    pub fn message_id(&self) -> Option<SendId> {
        match self {
            Self::Persist { id, .. }
            | Self::Erase(id)
            | Self::Prove { id, .. }
            | Self::CheckProof { id, .. }
            | Self::Relay { id, .. }
            | Self::Push { id, .. }
            | Self::GivenUp { id, .. }
            | Self::Event(SendEvent { id, .. }) => Some(*id),
            Self::Connect(_) | Self::History { .. } | Self::Forgotten(_) => None,
        }
    }
}
