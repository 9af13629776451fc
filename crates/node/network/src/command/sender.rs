//! Questions of the accountable sender to the running node.

use bytes::Bytes;
use thiserror::Error;
use tokio::sync::oneshot;
use undertone_message::{PubsubTopic, WakuMessage};

use super::{PublishFailure, Published};

/// A question of the accountable sender.
#[derive(Debug)]
pub enum SenderQuestion {
    /// Asks whether a message could be published, ignoring its proof. A missing timestamp counts as the current time.
    Check {
        /// Topic to publish on.
        pubsub_topic: PubsubTopic,
        /// Message to be checked.
        message: WakuMessage,
        /// Channel for the answer.
        reply: oneshot::Sender<Result<(), PublishFailure>>,
    },
    /// Asks for the proof of a message with a timestamp. This uses up a message id of the rate limit.
    Prove {
        /// Topic to publish on.
        pubsub_topic: PubsubTopic,
        /// Message without a proof.
        message: WakuMessage,
        /// Channel for the serialized proof.
        reply: oneshot::Sender<Result<Bytes, ProofRefusal>>,
    },
    /// Asks whether other nodes would still accept the proof of a message.
    IsProofGood {
        /// Message with its proof.
        message: WakuMessage,
        /// Channel for the answer.
        reply: oneshot::Sender<bool>,
    },
    /// Publishes a message for the first time, on any topic of the network, joined or not. The answer is the parts that
    /// no peer received, which the sender keeps for later; `None` if a peer has received the message.
    PublishFirst {
        /// Topic to publish on.
        pubsub_topic: PubsubTopic,
        /// Message to be published.
        message: WakuMessage,
        /// Whether the message may wait for a peer. If not, it is not published without one.
        may_wait: bool,
        /// Channel for the answer, sent once this node's own readers have received the message.
        reply: oneshot::Sender<Result<Option<Unsent>, PublishFailure>>,
    },
    /// Publishes a message with its proof on any topic of the network, if a peer can take it now. The message may have
    /// been published before.
    Publish {
        /// Topic to publish on.
        pubsub_topic: PubsubTopic,
        /// Message with its timestamp, and with its proof where the network requires one.
        message: WakuMessage,
        /// Whether this node's own readers have already received it.
        is_delivered: bool,
        /// Channel for the answer.
        reply: oneshot::Sender<Result<Published, PublishFailure>>,
    },
    /// Asks what can be sent now.
    Conditions {
        /// Topics of the waiting messages.
        pubsub_topics: Vec<PubsubTopic>,
        /// Channel for the answer.
        reply: oneshot::Sender<SendConditions>,
    },
}

/// Message that no peer has received.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsent {
    /// The message or its fragments. If already delivered, they are as this node's own readers received them, with
    /// their proofs; otherwise the message as it was passed in.
    pub parts: Vec<WakuMessage>,
    /// Whether this node's own readers have received it.
    pub is_delivered: bool,
}

/// Reason why no proof was generated for the accountable sender.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProofRefusal {
    /// No proof can be generated at present.
    #[error("{reason}")]
    NotReady {
        /// Reason, for the log.
        reason: String,
    },
    /// The rate limit of the timestamp's epoch is used up.
    #[error("the messages of the epoch are used up")]
    LimitUsedUp,
    /// The node has no known membership.
    #[error("this node has no membership")]
    NotMember,
}

/// Conditions for sending at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SendConditions {
    /// Topics for which a peer that accepts messages from this node is connected, and for which bandwidth is left.
    pub reached: Vec<PubsubTopic>,
    /// Rest of the rate limit; `None` if it is unknown or there is none.
    pub budget: Option<SendBudget>,
}

/// Rest of the rate limit in the present epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendBudget {
    /// Number of messages that can still be proved.
    pub remaining: u32,
    /// End of the epoch by the node's clock, Unix nanoseconds.
    pub epoch_ends_ns: u64,
}
