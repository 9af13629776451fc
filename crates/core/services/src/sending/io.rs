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

/// Number of a message that an application sends: unique even across restarts, and increasing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SendId(pub u64);

/// Reason why a message was not taken into the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The queue has its maximum number of messages.
    #[error("the send queue holds {max} messages, its most")]
    QueueFull {
        /// Maximum number of messages in the queue.
        max: usize,
    },
    /// The queue would hold more bytes than it may.
    #[error("the send queue would hold more than {max} bytes")]
    QueueBytes {
        /// Maximum number of bytes in the queue.
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

/// Reason why no proof was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProveFailure {
    /// The membership tree or the prover is not ready; the same proof is requested again later.
    NotReady,
    /// The rate limit of the timestamp's epoch is used up; a proof is requested again in the next epoch.
    LimitUsedUp,
    /// The node has no membership.
    NotMember,
}

/// Reason why publishing through the relay failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayFailure {
    /// No peer accepted the message.
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
    /// The peer is overloaded or limits the rate (429, 503).
    Busy {
        /// Retry delay that the peer requests, if it named one.
        retry_after: Option<Duration>,
    },
    /// The peer failed (500): the message may have been published.
    Internal,
    /// The peer has no relay peers (505), or sent the message to none.
    NoPeers,
    /// The peer does not serve the pubsub topic (421).
    UnsupportedTopic,
    /// The peer refused the proof, or reports a missing one (504, or 420 about the proof).
    ProofRefused,
    /// The peer reports that the message is too large (413).
    TooLarge,
    /// The peer reports that the message is invalid (400, 420).
    Invalid,
}

/// Event that the driver reports to the sender, or a command for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Input {
    /// Discovery found a service peer, or learned more about one.
    PeerFound(ServicePeer),
    /// Discovery dropped a peer; the sender forgets it.
    PeerLost(PeerNo),
    /// A peer is connected now.
    Connected(PeerNo),
    /// A peer is disconnected now.
    Disconnected(PeerNo),
    /// A connection that [`Output::Connect`] asked for could not be made.
    ConnectFailed(PeerNo),
    /// Pubsub topics on which the relay currently has peers; replaces the previous set.
    RelayTopics(BTreeSet<Arc<str>>),
    /// Number of messages that the rate limit still allows in this epoch. The driver sends it at the start of each
    /// epoch and whenever others use up part of the same limit.
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
    /// The proof of a message is no longer acceptable: its root or epoch is too old.
    ProofStale(SendId),
    /// Answer to an [`Output::CheckProof`]: the proof is still good. The opposite answer is [`Input::ProofStale`].
    ProofFresh(SendId),
    /// Answer to an [`Output::Relay`]: number of peers that accepted the message, or the failure.
    Relayed {
        /// Number of the message given to the relay.
        id: SendId,
        /// Number of peers, or the failure.
        result: Result<usize, RelayFailure>,
    },
    /// Answer to an [`Output::Push`].
    PushAnswer {
        /// Number of the request.
        request: RequestNo,
        /// Number of relay peers that the message was sent to, or the failure. `None` for answers without the number
        /// (lightpush v2), which report success only if a peer accepted it.
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

/// Reason why a message ends as propagated, without confirmation by a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unconfirmed {
    /// The message is ephemeral: stores do not keep it.
    Ephemeral,
    /// No store is known.
    NoStore,
    /// No known store answered.
    StoresSilent,
    /// A single store claims to have the message, which is not enough: it may have it from this node, or is related to
    /// a peer that does, and no second store agrees.
    OneStore,
}

/// Reason why a message failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailReason {
    /// No peer accepted the message before its deadline.
    Deadline,
    /// The message was propagated, but stores answer that they lack it.
    NotStored,
    /// The message is older than the network accepts, and it is not known to have been published.
    TooOld,
    /// Several peers, or this node's relay, refused the message as invalid or too large.
    Refused,
    /// The node has no membership to prove with.
    NotMember,
}

/// State that a message reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendEventKind {
    /// The message is in the queue and persisted.
    Queued,
    /// The message, with its proof, was sent to the relay or a lightpush peer.
    Sent,
    /// Another node of the network has the message.
    Propagated,
    /// A trusted store has the message, or two unrelated ones do. Final.
    Stored,
    /// The message is propagated, and no store can confirm more. Final.
    PropagatedOnly(Unconfirmed),
    /// The message failed. Final.
    Failed(FailReason),
}

impl SendEventKind {
    /// Whether the state is final.
    pub fn is_end(self) -> bool {
        match self {
            Self::Queued | Self::Sent | Self::Propagated => false,
            Self::Stored | Self::PropagatedOnly(_) | Self::Failed(_) => true,
        }
    }
}

/// Event of a message, for the application. After a crash the last event may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendEvent {
    /// Number of the message that the event is about.
    pub id: SendId,
    /// State that it reached.
    pub kind: SendEventKind,
    /// Hash of the message; `None` before it has a timestamp, and for a fragmented one, whose fragments have their
    /// own.
    pub hash: Option<MessageHash>,
}

/// Message in the queue.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingMessage {
    /// Number of the message.
    pub id: SendId,
    /// Topic that it is published on.
    pub pubsub_topic: Arc<str>,
    /// The message, or the first of its fragments that has not ended.
    pub message: WakuMessage,
    /// Whether it is sent in fragments.
    pub is_in_fragments: bool,
    /// Last state that it reached.
    pub step: SendEventKind,
    /// Hash of the message, as in [`SendEvent`].
    pub hash: Option<MessageHash>,
}

/// Action for the driver, or event for the application.
///
/// A fragment has its own number in all of them except [`Event`](Self::Event).
///
/// The driver carries outputs out in order, and a [`Persist`](Self::Persist) must be durable before the next output is
/// begun. The enum is exhaustive on purpose: a driver that overlooks a new action is wrong, so it must not compile.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Persist a record, replacing the former one of the same message.
    Persist {
        /// Number of the record's message.
        id: SendId,
        /// Bytes for [`MessageSender::restore`](super::MessageSender::restore).
        record: Bytes,
    },
    /// Delete the record of a message.
    Erase(SendId),
    /// Make a proof; answer with [`Input::Proved`].
    ///
    /// After a crash the same number may be requested again. The driver must then return the same proof, or one with
    /// the same message id of the rate limit: the message is the same, so it breaks no limit.
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
    /// Publish a message through the relay; answer with [`Input::Relayed`].
    Relay {
        /// The message's number.
        id: SendId,
        /// Topic to publish on.
        pubsub_topic: Arc<str>,
        /// The message with its proof.
        message: WakuMessage,
        /// Whether this node's own subscribers have it already.
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
    /// Report a message's new state to the application.
    Event(SendEvent),
    /// A message that waited for a peer failed; the application gets no event.
    GivenUp {
        /// Number of the message.
        id: SendId,
        /// Reason of the failure.
        reason: FailReason,
    },
    /// The sender holds no state for a peer any more: its number may be reassigned.
    Forgotten(PeerNo),
}

impl Output {
    /// Returns the number of the message that the action or event is for; `None` for those of peers and stores.
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
