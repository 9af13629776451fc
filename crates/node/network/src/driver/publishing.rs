//! Own messages that are being published, and proofs that the accountable sender waits for.

use std::collections::BTreeMap;
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::oneshot;
use undertone_gossip::RequestId;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_relay::{self as relay, ProofFailure, PublishError, Rejection, Relay};

use super::fragmenter::Fragmenter;
use crate::command::{ProofRefusal, PublishFailure, Published, Unsent};
use crate::stopped::Stopped;

/// A publication in progress.
pub(crate) struct PendingPublish {
    pubsub_topic: PubsubTopic,
    message: WakuMessage,
    /// Whether the message is a light client's.
    for_client: bool,
    answer: PublishAnswer,
    /// Parts that this node's own readers have received: the message or its fragments, with their proofs.
    delivered: Vec<WakuMessage>,
}

/// Recipient of the outcome of a publication.
pub(crate) enum PublishAnswer {
    /// Caller that waits for it.
    Caller(oneshot::Sender<Result<Published, PublishFailure>>),
    /// Accountable sender, which keeps the message for later if no peer has received it.
    First(oneshot::Sender<Result<Option<Unsent>, PublishFailure>>),
}

/// Channel on which the accountable sender waits for a proof.
pub(crate) type ProofReply = oneshot::Sender<Result<Bytes, ProofRefusal>>;

/// Publications in progress, whole or in fragments, and the proofs that are being made.
#[derive(Default)]
pub(crate) struct Publishing {
    fragmenter: Fragmenter,
    /// Publications in progress, by the request number of the first fragment.
    in_progress: BTreeMap<RequestId, PendingPublish>,
    /// Proofs that the accountable sender waits for.
    proofs_asked: BTreeMap<RequestId, ProofReply>,
    proving_since: BTreeMap<RequestId, Instant>,
    /// Number of the next request to the relay.
    next_request: u64,
    /// The own message delivered last.
    last_own: Option<WakuMessage>,
    /// Whether the message being published has been delivered before.
    is_repeating: bool,
}

impl PendingPublish {
    pub(super) fn new(
        pubsub_topic: PubsubTopic,
        message: WakuMessage,
        for_client: bool,
        answer: PublishAnswer,
    ) -> Self {
        Self {
            pubsub_topic,
            message,
            for_client,
            answer,
            delivered: Vec::new(),
        }
    }

    pub(super) fn topic(&self) -> &PubsubTopic {
        &self.pubsub_topic
    }

    /// Returns the action that tells the caller the outcome.
    pub(super) fn answer(
        self,
        outcome: Result<relay::Published, PublishError>,
        relay: &Relay,
    ) -> impl FnOnce() + Send + use<> {
        let answer = match outcome {
            // The message is in the cache and will be gossiped, but no peer has it yet.
            Ok(published) if published.peers == 0 => Err(PublishFailure::NoPeers),
            Ok(published) => Ok(Published {
                id: published.id,
                pubsub_topic: self.pubsub_topic,
                message: self.message,
                peers: published.peers,
            }),
            Err(error) => Err(failure_of(error, relay)),
        };
        move || self.answer.send(answer, self.delivered)
    }
}

impl PublishAnswer {
    /// Sends the outcome of a publication. `delivered` are the parts that this node's own readers have received. The
    /// caller may be gone.
    fn send(self, outcome: Result<Published, PublishFailure>, delivered: Vec<WakuMessage>) {
        match self {
            Self::Caller(reply) => drop(reply.send(outcome)),
            Self::First(reply) => drop(reply.send(unsent(outcome, delivered))),
        }
    }
}

impl Publishing {
    pub(super) fn new(fragmenter: Fragmenter) -> Self {
        Self {
            fragmenter,
            ..Self::default()
        }
    }

    /// Number of publications in progress.
    pub(super) fn under_way(&self) -> usize {
        self.in_progress.len()
    }

    /// Returns the fragments of a message, or the message itself if it is not split.
    pub(super) fn parts_of(&self, message: &WakuMessage) -> Vec<WakuMessage> {
        let fragments = self.fragmenter.split(message);
        fragments.unwrap_or_else(|| vec![message.clone()])
    }

    /// Begins to publish a message of `parts` parts; returns their request numbers.
    pub(super) fn begin(
        &mut self,
        publishing: PendingPublish,
        parts: usize,
    ) -> impl Iterator<Item = RequestId> + use<> {
        let first = RequestId(self.next_request);
        self.next_request += parts as u64;
        self.in_progress.insert(first, publishing);
        if parts > 1 {
            self.fragmenter.begin(first, parts);
        }
        (first.0..self.next_request).map(RequestId)
    }

    /// Sets whether the message published next has been delivered before.
    pub(super) fn set_repeating(&mut self, is_repeating: bool) {
        self.is_repeating = is_repeating;
    }

    /// Records that an own message is about to be delivered; returns whether this is the first delivery.
    pub(super) fn delivers(&mut self, message: &WakuMessage) -> bool {
        if !self.is_repeating {
            self.last_own = Some(message.clone());
        }
        !self.is_repeating
    }

    /// Records that a proof was requested; returns whether its message comes from a light client.
    pub(super) fn proving(&mut self, request: RequestId) -> bool {
        self.proving_since.insert(request, Instant::now());
        let publishing = self.in_progress.range(..=request).next_back();
        publishing.is_some_and(|(_, publishing)| publishing.for_client)
    }

    /// Records that a proof was generated or refused; returns when it was requested.
    pub(super) fn proved(&mut self, request: RequestId) -> Option<Instant> {
        self.proving_since.remove(&request)
    }

    /// Records the outcome of a part; returns the outcome of the message once all its parts are settled.
    pub(super) fn settled(
        &mut self,
        request: RequestId,
        outcome: Result<relay::Published, PublishError>,
    ) -> Option<(PendingPublish, Result<relay::Published, PublishError>)> {
        self.proving_since.remove(&request);
        let of_part = self.in_progress.range_mut(..=request).next_back();
        if let (Some(part), Some((_, publishing))) = (self.last_own.take(), of_part) {
            publishing.delivered.push(part);
        }
        let (first, outcome) = self.fragmenter.settled(request, outcome)?;
        Some((self.in_progress.remove(&first)?, outcome))
    }

    /// Returns the number of the next request.
    pub(super) fn next_request(&mut self) -> RequestId {
        self.next_request += 1;
        RequestId(self.next_request - 1)
    }

    /// Records that the accountable sender waits for a proof.
    pub(super) fn on_proof_requested(&mut self, request: RequestId, reply: ProofReply) {
        self.proofs_asked.insert(request, reply);
    }

    /// Removes and returns the channel to the accountable sender, if it waits for this proof.
    pub(super) fn proof_reply(&mut self, request: RequestId) -> Option<ProofReply> {
        self.proofs_asked.remove(&request)
    }

    /// Tells all callers that the node is stopping.
    pub(super) fn stop(&mut self) {
        for publishing in std::mem::take(&mut self.in_progress).into_values() {
            let stopping = Err(PublishFailure::Stopped(Stopped));
            publishing.answer.send(stopping, Vec::new());
        }
    }
}

/// Returns the failure that is reported to the caller for an error.
pub(super) fn failure_of(error: PublishError, relay: &Relay) -> PublishFailure {
    match error {
        PublishError::NotSubscribed { topic } => PublishFailure::NotSubscribed { topic },
        PublishError::Duplicate | PublishError::InvalidProof(Rejection::Duplicate) => {
            PublishFailure::Duplicate
        }
        PublishError::TooLarge { len, max } => PublishFailure::TooLarge {
            size_bytes: len,
            max_bytes: max,
        },
        PublishError::Proof(ProofFailure::Exhausted { limit, epoch }) => {
            PublishFailure::RateLimit {
                limit: u64::from(limit),
                resets_in_s: relay.seconds_until_after(epoch),
            }
        }
        PublishError::Proof(failure) => PublishFailure::RlnProof {
            reason: failure.to_string(),
        },
        PublishError::Busy { waiting } => PublishFailure::Busy { waiting },
        PublishError::Bandwidth { topic, wait } => PublishFailure::Bandwidth {
            pubsub_topic: topic,
            wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
        },
        PublishError::InvalidProof(rejection) => PublishFailure::InvalidProof {
            reason: error.to_string(),
            is_forged: rejection.is_blamed(),
        },
        error => PublishFailure::InvalidMessage {
            reason: error.to_string(),
        },
    }
}

/// Returns the parts of a message that no peer received in its first publication.
fn unsent(
    outcome: Result<Published, PublishFailure>,
    parts: Vec<WakuMessage>,
) -> Result<Option<Unsent>, PublishFailure> {
    match outcome {
        Ok(_) => Ok(None),
        Err(PublishFailure::NoPeers) if !parts.is_empty() => Ok(Some(Unsent {
            parts,
            is_delivered: true,
        })),
        Err(failure) => Err(failure),
    }
}
