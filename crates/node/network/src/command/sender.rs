//! Questions of the accountable sender to the running node.

use bytes::Bytes;
use thiserror::Error;
use tokio::sync::oneshot;
use undertone_message::{PubsubTopic, WakuMessage};

use super::{PublishFailure, Published};

/// Question of the accountable sender.
#[derive(Debug)]
pub enum SenderQuestion {
    /// Asks whether a message could be published but for its proof. One without a timestamp counts as one of now.
    Check {
        /// Topic to publish on.
        pubsub_topic: PubsubTopic,
        /// Message to be checked.
        message: WakuMessage,
        /// Channel for the answer.
        reply: oneshot::Sender<Result<(), PublishFailure>>,
    },
    /// Asks for the proof of a message with a timestamp. A message id of the rate limit is spent.
    Prove {
        /// Topic to publish on.
        pubsub_topic: PubsubTopic,
        /// Message without a proof.
        message: WakuMessage,
        /// Channel for the serialized proof.
        reply: oneshot::Sender<Result<Bytes, ProofRefusal>>,
    },
    /// Asks whether receivers would still accept the proof of a message.
    IsProofGood {
        /// Message with its proof.
        message: WakuMessage,
        /// Channel for the answer.
        reply: oneshot::Sender<bool>,
    },
    /// Publishes a message for the first time on any topic of the network, joined or not. What no peer has of it then is
    /// answered, so that the sender lets it wait for one; `None` if a peer has the message.
    PublishFirst {
        /// Topic to publish on.
        pubsub_topic: PubsubTopic,
        /// Message to be published.
        message: WakuMessage,
        /// Whether the message may wait: without that and a peer, it is not published.
        may_wait: bool,
        /// Channel for the answer, which comes after this node's own readers have the message.
        reply: oneshot::Sender<Result<Option<Unsent>, PublishFailure>>,
    },
    /// Publishes a message with its proof on any topic of the network, if a peer can take it now; also again.
    Publish {
        /// Topic to publish on.
        pubsub_topic: PubsubTopic,
        /// Message with its timestamp, and its proof where the network asks for one.
        message: WakuMessage,
        /// Whether this node's own readers have it already.
        is_delivered: bool,
        /// Channel for the answer.
        reply: oneshot::Sender<Result<Published, PublishFailure>>,
    },
    /// Asks what can be sent now.
    Conditions {
        /// Topics of the messages that are to be sent.
        pubsub_topics: Vec<PubsubTopic>,
        /// Channel for the answer.
        reply: oneshot::Sender<SendConditions>,
    },
}

/// Message that no peer has.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsent {
    /// The message or its fragments: as this node's own readers have them, with their proofs, or as it was to be published.
    pub parts: Vec<WakuMessage>,
    /// Whether this node's own readers have it.
    pub is_delivered: bool,
}

/// Reason why no proof was made for the accountable sender.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProofRefusal {
    /// No proof can be made at present.
    #[error("{reason}")]
    NotReady {
        /// Reason, for the log.
        reason: String,
    },
    /// The rate limit of the timestamp's epoch is used up.
    #[error("the messages of the epoch are used up")]
    LimitUsedUp,
    /// The node has no membership, as far as it knows.
    #[error("this node has no membership")]
    NotMember,
}

/// Conditions for sending at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SendConditions {
    /// Topics for which a peer is connected that takes messages of this node.
    pub reached: Vec<PubsubTopic>,
    /// Rest of the rate limit; `None` where it is not known or there is none.
    pub budget: Option<SendBudget>,
}

/// Rest of the rate limit in the present epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendBudget {
    /// Messages that can still be proved.
    pub remaining: u32,
    /// End of the epoch by the node's clock, Unix nanoseconds.
    pub epoch_ends_ns: u64,
}
