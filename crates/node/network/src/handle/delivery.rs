//! Messages as the application receives them.

use std::time::Instant;

use libp2p::PeerId;
use undertone_gossip::MessageId;
use undertone_message::{MessageHash, PubsubTopic, WakuMessage, message_hash};

/// Valid message of a subscribed topic, from a peer or from this node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Topic that the message was published on.
    pub pubsub_topic: PubsubTopic,
    /// Decoded message. A fragmented one is reassembled, unless the sink takes fragments.
    pub message: WakuMessage,
    /// Gossip message id: the hash of the encoded message, or of the fragment that completed it.
    pub id: MessageId,
    /// Peer that sent the first copy; `None` for an own message.
    pub from: Option<PeerId>,
    /// Time when the first copy had arrived completely, or when an own message was published.
    pub received: Instant,
    /// Time when the message was found valid.
    pub validated: Instant,
}

impl Delivery {
    /// Returns the deterministic message hash. It is computed on demand: at 150 kB this takes as long as relaying, and
    /// not every reader needs it.
    pub fn hash(&self) -> MessageHash {
        message_hash(&self.pubsub_topic.to_string(), &self.message)
    }
}
