//! Publisher for light clients: gives their messages to this node's relay.

use std::time::Duration;

use tokio::time::timeout;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_services::lightpush::PublishRefusal;

use crate::command::PublishFailure;
use crate::handle::NodeHandle;

/// Time for publishing a message, its proof included.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Publisher for light clients; clones share the node.
#[derive(Clone)]
pub(super) struct Publisher {
    node: NodeHandle,
    /// Whether messages need a proof that this node does not make for others.
    needs_proof: bool,
}

impl Publisher {
    pub(super) fn new(node: NodeHandle, needs_proof: bool) -> Self {
        Self { node, needs_proof }
    }

    /// Publishes a message; returns the number of peers that it was sent to.
    pub(super) async fn publish(
        &self,
        pubsub_topic: &str,
        message: WakuMessage,
    ) -> Result<u32, PublishRefusal> {
        let topic = PubsubTopic::parse_any(pubsub_topic);
        let topic = topic.map_err(|_| PublishRefusal::UnsupportedTopic)?;
        let proof = message.rate_limit_proof.as_ref();
        if self.needs_proof && proof.is_none_or(|proof| proof.is_empty()) {
            return Err(PublishRefusal::NoProof);
        }
        let publishing = timeout(TIMEOUT, self.node.publish(topic, message));
        let published = publishing.await.unwrap_or(Err(PublishFailure::Timeout));
        published
            .map(|published| u32::try_from(published.peers).unwrap_or(u32::MAX))
            .map_err(refusal)
    }
}

fn refusal(failure: PublishFailure) -> PublishRefusal {
    match failure {
        PublishFailure::NotSubscribed { .. } | PublishFailure::NotRelaying => {
            PublishRefusal::UnsupportedTopic
        }
        PublishFailure::TooLarge { max_bytes, .. } => PublishRefusal::TooLarge { max_bytes },
        PublishFailure::Duplicate => PublishRefusal::Duplicate,
        PublishFailure::Busy { .. } | PublishFailure::InvalidMessage { .. } => {
            PublishRefusal::InvalidMessage
        }
        PublishFailure::InvalidProof { .. } => PublishRefusal::InvalidProof,
        PublishFailure::RlnProof { .. } => PublishRefusal::NoProof,
        PublishFailure::RateLimit { .. } => PublishRefusal::ProofLimit,
        PublishFailure::NoPeers => PublishRefusal::NoPeers,
        PublishFailure::Timeout | PublishFailure::Bandwidth { .. } => PublishRefusal::TimedOut,
        PublishFailure::ShuttingDown => PublishRefusal::Stopping,
    }
}
