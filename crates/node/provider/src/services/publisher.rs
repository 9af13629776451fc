//! Publisher for light clients: passes their messages to this node's relay.

use std::sync::Arc;
use std::time::{Duration, Instant};
use undertone_network::handle::Stopped;

use parking_lot::Mutex;
use tokio::time::timeout;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_services::lightpush::PublishRefusal;

use undertone_network::command::PublishFailure;
use undertone_network::handle::NodeHandle;

/// Time limit for publishing a message, including its proof.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Minimum time between two log lines about messages that are not proved.
const QUIET: Duration = Duration::from_secs(600);

/// Publisher for light clients; clones share the node.
#[derive(Clone)]
pub(super) struct Publisher {
    node: NodeHandle,
    /// Whether messages need a proof that this node does not generate for others.
    needs_proof: bool,
    /// Time from which on messages that are not proved are logged again.
    quiet_until: Arc<Mutex<Option<Instant>>>,
}

impl Publisher {
    pub(super) fn new(node: NodeHandle, needs_proof: bool) -> Self {
        Self {
            node,
            needs_proof,
            quiet_until: Arc::default(),
        }
    }

    /// Returns the node that publishes.
    pub(super) fn node(&self) -> &NodeHandle {
        &self.node
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
            self.log_unproved("lightpush-proofs is false", QUIET);
            return Err(PublishRefusal::NoProof);
        }
        let publishing = timeout(TIMEOUT, self.node.publish_for(topic, message, true));
        let published = publishing.await.unwrap_or(Err(PublishFailure::Timeout));
        match &published {
            Err(PublishFailure::RateLimit { resets_in_s, .. }) => self.log_unproved(
                "the light clients' share of the epoch is used up (a quarter of it is the node's own)",
                Duration::from_secs((*resets_in_s).max(1)),
            ),
            Err(PublishFailure::RlnProof { reason }) => self.log_unproved(reason, QUIET),
            _ => {}
        }
        published
            .map(|published| u32::try_from(published.peers).unwrap_or(u32::MAX))
            .map_err(refusal)
    }

    /// Logs that messages of light clients are refused, then stays silent for a while.
    fn log_unproved(&self, reason: &str, quiet: Duration) {
        let now = Instant::now();
        let mut quiet_until = self.quiet_until.lock();
        if quiet_until.is_none_or(|until| until <= now) {
            *quiet_until = Some(now + quiet);
            tracing::warn!(
                reason,
                "messages of light clients that come without a proof are refused"
            );
        }
    }
}

fn refusal(failure: PublishFailure) -> PublishRefusal {
    match failure {
        PublishFailure::NotSubscribed { .. } | PublishFailure::NotRelaying => {
            PublishRefusal::UnsupportedTopic
        }
        PublishFailure::TooLarge { max_bytes, .. } => PublishRefusal::TooLarge { max_bytes },
        PublishFailure::Duplicate => PublishRefusal::Duplicate,
        PublishFailure::Busy { .. } => PublishRefusal::Busy,
        PublishFailure::InvalidMessage { .. } => PublishRefusal::InvalidMessage,
        PublishFailure::InvalidProof {
            is_forged: true, ..
        } => PublishRefusal::ForgedProof,
        PublishFailure::InvalidProof { .. } => PublishRefusal::InvalidProof,
        PublishFailure::RlnProof { .. } => PublishRefusal::NoProof,
        PublishFailure::RateLimit { .. } => PublishRefusal::ProofLimit,
        PublishFailure::NoPeers => PublishRefusal::NoPeers,
        PublishFailure::Timeout | PublishFailure::Bandwidth { .. } => PublishRefusal::TimedOut,
        PublishFailure::Stopped(Stopped) => PublishRefusal::Stopping,
    }
}

#[cfg(test)]
#[path = "tests/publisher.rs"]
mod tests;
