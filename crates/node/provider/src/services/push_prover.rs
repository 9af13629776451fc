//! Prover for messages that a node without relay publishes through peers.

use undertone_message::{PubsubTopic, WakuMessage};
use undertone_services::lightpush::LightpushStatus;

use super::ServiceFailure;
use undertone_network::command::{ProofRefusal, SenderQuestion};
use undertone_network::driver::Clock;
use undertone_network::handle::NodeHandle;

/// Prover that uses this node's membership; clones share it.
#[derive(Clone)]
pub(super) struct PushProver {
    node: NodeHandle,
    clock: Clock,
}

impl PushProver {
    /// Creates the prover of a node whose clock is ahead of the system's by this time.
    pub(super) fn new(node: NodeHandle, clock_ahead_ns: i64) -> Self {
        let clock = Clock::start(clock_ahead_ns);
        Self { node, clock }
    }

    /// Returns a message with a proof, and with the current time if it has no timestamp. If this node is not a member,
    /// the message gets no proof: a peer may prove it.
    ///
    /// # Errors
    /// [`ServiceFailure::Refused`] with a lightpush status if the messages of the epoch are used up, or no proof can be
    /// generated at present.
    pub(super) async fn proved(
        &self,
        topic: &PubsubTopic,
        mut message: WakuMessage,
    ) -> Result<WakuMessage, ServiceFailure> {
        let proof = message.rate_limit_proof.as_ref();
        if proof.is_some_and(|proof| !proof.is_empty()) {
            return Ok(message);
        }
        if message.timestamp_ns() == 0 {
            let now_ns = self.clock.unix_ns_at_zero() + self.clock.now().as_nanos();
            message.timestamp = Some(i64::try_from(now_ns).unwrap_or(i64::MAX));
        }
        let asked = self.node.sender(|reply| SenderQuestion::Prove {
            pubsub_topic: topic.clone(),
            message: message.clone(),
            reply,
        });
        match asked.await? {
            Ok(proof) => message.rate_limit_proof = Some(proof),
            Err(ProofRefusal::NotMember) => {}
            Err(refusal) => {
                return Err(ServiceFailure::Refused {
                    status: LightpushStatus::OUT_OF_RLN_PROOF.0,
                    description: refusal.to_string(),
                });
            }
        }
        Ok(message)
    }
}
