//! Requests of callers that are in progress.

use bytes::Bytes;
use libp2p::Multiaddr;
use tokio::sync::oneshot;
use undertone_message::{PubsubTopic, WakuMessage};

use super::waiting_dials::ConnectReply;
use crate::command::{ProofRefusal, PublishFailure, Published, Unsent};

/// A publication in progress.
pub(crate) struct PendingPublish {
    pub(crate) pubsub_topic: PubsubTopic,
    pub(crate) message: WakuMessage,
    /// Whether the message is a light client's.
    pub(crate) for_client: bool,
    pub(crate) answer: PublishAnswer,
    /// What this node's own readers have got of it: the message or its fragments, with their proofs.
    pub(crate) delivered: Vec<WakuMessage>,
}

/// Receiver of the outcome of a publication.
pub(crate) enum PublishAnswer {
    /// Caller that waits for it.
    Caller(oneshot::Sender<Result<Published, PublishFailure>>),
    /// Sender that lets the message wait if no peer has it.
    First(oneshot::Sender<Result<Option<Unsent>, PublishFailure>>),
}

/// A connection attempt in progress, and the caller that waits for it, if any.
pub(crate) struct PendingDial {
    pub(crate) address: Multiaddr,
    pub(crate) reply: Option<ConnectReply>,
}

/// Channel on which the accountable sender waits for a proof.
pub(crate) type ProofReply = oneshot::Sender<Result<Bytes, ProofRefusal>>;
