//! Answers to the accountable sender: message checks, proofs, publications and send conditions.

use tokio::sync::oneshot;
use undertone_gossip::{RequestId, Topic};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_relay::ProofFailure;
use undertone_rln::{CounterError, RateLimitProof};

use super::event_loop::EventLoop;
use super::publishing::{PendingPublish, ProofReply, PublishAnswer, failure_of};
use super::rln::RlnService;
use crate::command::{
    ProofRefusal, PublishFailure, Published, SendConditions, SenderQuestion, Unsent,
};

/// Maximum number of the sender's messages in progress. The relay has room for as many again, for other callers.
const UNDER_WAY_MAX: usize = 48;

impl EventLoop {
    /// Answers a question. A sender that no longer waits is not an error.
    pub(super) fn on_sender(&mut self, question: SenderQuestion) {
        match question {
            SenderQuestion::Check {
                pubsub_topic,
                message,
                reply,
            } => {
                self.set_clock();
                let checked = self.relay.check_message(&pubsub_topic, &message);
                let _ = reply.send(checked.map_err(|error| failure_of(error, &self.relay)));
            }
            SenderQuestion::Prove {
                pubsub_topic,
                message,
                reply,
            } => self.prove_for_sender(&pubsub_topic, &message, reply),
            SenderQuestion::IsProofGood { message, reply } => {
                self.set_clock();
                let _ = reply.send(self.relay.is_own_proof_good(&message));
            }
            SenderQuestion::PublishFirst {
                pubsub_topic,
                message,
                may_wait,
                reply,
            } => self.publish_first(pubsub_topic, message, may_wait, reply),
            SenderQuestion::Publish {
                pubsub_topic,
                message,
                is_delivered,
                reply,
            } => self.publish_for_sender(pubsub_topic, message, is_delivered, reply),
            SenderQuestion::Conditions {
                pubsub_topics,
                reply,
            } => {
                let mut reached = pubsub_topics;
                // A message waits for bandwidth just as it waits for a peer.
                reached.retain(|topic| {
                    self.has_receiver(topic) && self.relay.bandwidth_wait(topic).is_zero()
                });
                let budget = self.rln.as_ref().and_then(RlnService::budget);
                let _ = reply.send(SendConditions { reached, budget });
            }
        }
    }

    fn prove_for_sender(&mut self, topic: &PubsubTopic, message: &WakuMessage, reply: ProofReply) {
        self.set_clock();
        let refused = match self.relay.proof_statement(topic, message) {
            Ok(Some((epoch, x))) => {
                let request = self.publishing.next_request();
                let asked = match &self.rln {
                    // Another node with this identity may have used the next message id: the relay finds that out only
                    // when a message is published, which is too late for one that keeps its proof.
                    Some(rln) => rln.prove_unused(request, epoch, x),
                    None => Err(ProofFailure::NoMembership),
                };
                match asked {
                    Ok(()) => {
                        self.publishing.on_proof_requested(request, reply);
                        return;
                    }
                    Err(failure) => self.proof_refusal(&failure),
                }
            }
            Ok(None) => ProofRefusal::NotReady {
                reason: "the network asks for no proofs".to_owned(),
            },
            Err(error) => ProofRefusal::NotReady {
                reason: error.to_string(),
            },
        };
        let _ = reply.send(Err(refused));
    }

    /// Passes a proof to the sender; returns whether the sender requested it.
    pub(super) fn proved_for_sender(
        &mut self,
        request: RequestId,
        result: &Result<RateLimitProof, ProofFailure>,
    ) -> bool {
        let Some(reply) = self.publishing.proof_reply(request) else {
            return false;
        };
        let answer = match result {
            Ok(proof) => Ok(proof.encode().into()),
            Err(failure) => Err(self.proof_refusal(failure)),
        };
        let _ = reply.send(answer);
        true
    }

    fn proof_refusal(&self, failure: &ProofFailure) -> ProofRefusal {
        let is_closed = |error: &(dyn std::error::Error + 'static)| {
            let error = error.downcast_ref();
            matches!(error, Some(CounterError::EpochClosed { .. }))
        };
        let trouble = self.rln.as_ref().and_then(RlnService::trouble);
        match (failure, trouble) {
            (ProofFailure::Exhausted { .. }, _) => ProofRefusal::LimitUsedUp,
            (ProofFailure::Prover(error), _) if is_closed(&**error) => ProofRefusal::LimitUsedUp,
            // The registry may be about to say that the node is a member.
            (ProofFailure::NoMembership, None) => ProofRefusal::NotMember,
            (ProofFailure::NoMembership, Some(reason)) => ProofRefusal::NotReady { reason },
            (failure, _) => ProofRefusal::NotReady {
                reason: failure.to_string(),
            },
        }
    }

    fn publish_first(
        &mut self,
        topic: PubsubTopic,
        message: WakuMessage,
        may_wait: bool,
        reply: oneshot::Sender<Result<Option<Unsent>, PublishFailure>>,
    ) {
        // On a joined topic, this node's own readers receive a published message at once, even without a peer.
        if may_wait && self.shards.joined().contains(&topic) || self.has_receiver(&topic) {
            self.publish(topic, message, false, PublishAnswer::First(reply));
            return;
        }
        let answer = self.can_be_sent(&topic, &message).and_then(|()| {
            let unsent = Unsent {
                parts: vec![message],
                is_delivered: false,
            };
            may_wait
                .then_some(Some(unsent))
                .ok_or(PublishFailure::NoPeers)
        });
        let _ = reply.send(answer);
    }

    /// Checks everything that does not depend on the receiver.
    fn can_be_sent(
        &mut self,
        topic: &PubsubTopic,
        message: &WakuMessage,
    ) -> Result<(), PublishFailure> {
        self.set_clock();
        let checked = self.relay.check_message(topic, message);
        checked.map_err(|error| failure_of(error, &self.relay))?;
        let proof = message.rate_limit_proof.as_ref();
        let brings_proof = proof.is_some_and(|proof| !proof.is_empty());
        match &self.rln {
            Some(rln) if !rln.is_member() && !brings_proof => Err(PublishFailure::RlnProof {
                reason: ProofFailure::NoMembership.to_string(),
            }),
            _ => Ok(()),
        }
    }

    fn has_receiver(&self, topic: &PubsubTopic) -> bool {
        let router = self.relay.router();
        let threshold = router.config().thresholds.publish;
        let subscribers = router.subscribers(&Topic::new(&topic.to_string()));
        subscribers.iter().any(|ix| router.score(*ix) >= threshold)
    }

    fn publish_for_sender(
        &mut self,
        pubsub_topic: PubsubTopic,
        message: WakuMessage,
        is_delivered: bool,
        reply: oneshot::Sender<Result<Published, PublishFailure>>,
    ) {
        if !self.has_receiver(&pubsub_topic) {
            let _ = reply.send(Err(PublishFailure::NoPeers));
            return;
        }
        let waiting = self.publishing.under_way();
        if waiting >= UNDER_WAY_MAX {
            let _ = reply.send(Err(PublishFailure::Busy { waiting }));
            return;
        }
        let answer = PublishAnswer::Caller(reply);
        let publishing = PendingPublish::new(pubsub_topic, message.clone(), false, answer);
        self.publishing.set_repeating(is_delivered);
        self.publish_parts(publishing, vec![message], true);
        self.publishing.set_repeating(false);
    }
}
