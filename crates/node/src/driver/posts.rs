//! Own messages that may wait for a peer, and their states.

use std::collections::{BTreeMap, VecDeque};

use tokio::sync::oneshot;
use undertone_gossip::Topic;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_relay::RelayConfig;
use undertone_rln::Epoch;

use super::event_loop::EventLoop;
use crate::command::{Post, PostState, PublishFailure, Published};

#[cfg(test)]
mod tests;

/// Most messages that may wait for a peer.
const WAITING_MAX: usize = 64;

/// Most bytes of waiting messages, payloads and other fields together.
const WAITING_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Most messages whose state is kept; the oldest are forgotten.
const KNOWN_MAX: usize = 256;

/// Longest wait of a message in a network without epochs.
const WAIT_WITHOUT_EPOCH_NS: u64 = 600 * 1_000_000_000;

/// Reply channel of a caller that waits for the outcome of its post.
pub(crate) type Caller = oneshot::Sender<Result<Post, PublishFailure>>;

/// A message that waits for a peer.
#[derive(Debug)]
struct Waiting {
    id: u64,
    topic: PubsubTopic,
    message: WakuMessage,
    /// Whether the node chose the timestamp and may replace it.
    restamp: bool,
    /// Time until which receivers would accept the message, Unix nanoseconds.
    until_ns: u64,
    bytes: usize,
}

/// A message that is being proved and sent.
#[derive(Debug)]
struct Sending {
    id: u64,
    outcome: oneshot::Receiver<Result<Published, PublishFailure>>,
    caller: Option<Caller>,
}

/// All posted messages: waiting, being sent, and the states of recent ones.
#[derive(Debug)]
pub(crate) struct Posts {
    max_message_bytes: usize,
    epoch_ns: Option<u64>,
    max_clock_gap_ns: u64,
    next: u64,
    waiting: VecDeque<Waiting>,
    sending: Vec<Sending>,
    known: BTreeMap<u64, Post>,
}

impl Posts {
    pub(crate) fn new(relay: &RelayConfig) -> Self {
        let policy = relay.rln.as_ref().map(|rln| &rln.policy);
        Self {
            max_message_bytes: relay.max_message_bytes,
            epoch_ns: policy.map(|p| p.epoch_size_s.max(1).saturating_mul(1_000_000_000)),
            max_clock_gap_ns: policy.map_or(0, |p| p.max_clock_gap_ns),
            next: 1,
            waiting: VecDeque::new(),
            sending: Vec::new(),
            known: BTreeMap::new(),
        }
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.sending.is_empty()
    }

    fn note(&mut self, post: Post) {
        self.known.insert(post.id, post);
        while self.known.len() > KNOWN_MAX {
            self.known.pop_first();
        }
    }

    fn settle(&mut self, id: u64, state: PostState) {
        if let Some(post) = self.known.get_mut(&id) {
            post.state = state;
        }
    }

    /// Time until which others accept a message that is published now: the end of its epoch, and if it cannot
    /// be stamped again, no later than its timestamp may be old.
    fn deadline_ns(&self, message: &WakuMessage, restamp: bool, now_ns: u64) -> u64 {
        let Some(epoch_ns) = self.epoch_ns else {
            return now_ns.saturating_add(WAIT_WITHOUT_EPOCH_NS);
        };
        let stamp_ns = u64::try_from(message.timestamp_ns()).unwrap_or(0);
        let base_ns = if restamp { now_ns } else { stamp_ns };
        let epoch = Epoch::at(base_ns, epoch_ns / 1_000_000_000);
        let ends_ns = epoch.0.saturating_add(1).saturating_mul(epoch_ns);
        if restamp {
            ends_ns
        } else {
            ends_ns.min(stamp_ns.saturating_add(self.max_clock_gap_ns))
        }
    }

    /// Queues a message for later. Fails if the queue is full.
    fn wait(&mut self, waiting: Waiting) -> Result<(), PublishFailure> {
        let held: usize = self.waiting.iter().map(|one| one.bytes).sum();
        let is_full = self.waiting.len() >= WAITING_MAX || held + waiting.bytes > WAITING_BYTES_MAX;
        if is_full {
            return Err(PublishFailure::NoPeers);
        }
        self.waiting.push_back(waiting);
        Ok(())
    }

    /// Drops the messages that receivers would no longer accept.
    fn expire(&mut self, now_ns: u64) {
        let expired: Vec<_> = self
            .waiting
            .iter()
            .filter(|one| one.until_ns <= now_ns)
            .map(|one| one.id)
            .collect();
        self.waiting.retain(|one| one.until_ns > now_ns);
        for id in expired {
            self.settle(id, PostState::Expired);
        }
    }
}

impl EventLoop {
    /// Sends a message now, or when a peer of its topic is connected.
    pub(super) fn post(
        &mut self,
        topic: PubsubTopic,
        message: WakuMessage,
        restamp: bool,
        caller: Caller,
    ) {
        let id = self.posts.next;
        self.posts.next += 1;
        let mut post = Post {
            id,
            pubsub_topic: topic.clone(),
            content_topic: message.content_topic.to_string(),
            state: PostState::Sending,
        };
        if self.has_receiver(&topic) {
            self.posts.note(post);
            self.send_post(id, topic, message, Some(caller));
            return;
        }
        let bytes = message.encoded_len();
        let now_ns = self.unix_now_ns();
        let waiting = Waiting {
            id,
            until_ns: self.posts.deadline_ns(&message, restamp, now_ns),
            topic,
            message,
            restamp,
            bytes,
        };
        let brings_proof = waiting
            .message
            .rate_limit_proof
            .as_ref()
            .is_some_and(|p| !p.is_empty());
        let answer = self.can_be_sent(bytes, brings_proof).and_then(|()| {
            self.posts.wait(waiting)?;
            post.state = PostState::Waiting;
            self.posts.note(post.clone());
            Ok(post)
        });
        // The caller may be gone.
        let _ = caller.send(answer);
    }

    /// Checks what does not depend on the receiver; other faults are found when the message is sent.
    fn can_be_sent(&self, bytes: usize, brings_proof: bool) -> Result<(), PublishFailure> {
        let max_bytes = self.posts.max_message_bytes;
        if bytes > max_bytes {
            return Err(PublishFailure::TooLarge {
                size_bytes: bytes,
                max_bytes,
            });
        }
        match &self.rln {
            Some(rln) if !rln.is_member() && !brings_proof => Err(PublishFailure::RlnProof {
                reason: undertone_relay::ProofFailure::NoMembership.to_string(),
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

    fn send_post(
        &mut self,
        id: u64,
        topic: PubsubTopic,
        message: WakuMessage,
        caller: Option<Caller>,
    ) {
        let (reply, outcome) = oneshot::channel();
        self.posts.sending.push(Sending {
            id,
            outcome,
            caller,
        });
        self.publish(topic, message, reply);
    }

    /// Sends waiting messages whose topic has a peer now, and records the outcomes of sent ones.
    pub(super) fn look_after_posts(&mut self) {
        if self.posts.is_idle() {
            return;
        }
        self.posts.expire(self.unix_now_ns());
        let mut still = VecDeque::new();
        for waiting in std::mem::take(&mut self.posts.waiting) {
            if !self.has_receiver(&waiting.topic) {
                still.push_back(waiting);
                continue;
            }
            let mut message = waiting.message;
            if waiting.restamp {
                message.timestamp = None;
            }
            self.posts.settle(waiting.id, PostState::Sending);
            self.send_post(waiting.id, waiting.topic, message, None);
        }
        self.posts.waiting = still;
        for mut sending in std::mem::take(&mut self.posts.sending) {
            let outcome = match sending.outcome.try_recv() {
                Err(oneshot::error::TryRecvError::Empty) => {
                    self.posts.sending.push(sending);
                    continue;
                }
                Err(oneshot::error::TryRecvError::Closed) => Err(PublishFailure::ShuttingDown),
                Ok(outcome) => outcome,
            };
            let state = match &outcome {
                Ok(published) => PostState::Sent {
                    peers: published.peers,
                    hash: published.hash(),
                },
                Err(failure) => PostState::Failed {
                    reason: failure.clone(),
                },
            };
            self.posts.settle(sending.id, state.clone());
            let Some(caller) = sending.caller else {
                continue;
            };
            let answer = outcome.map(|published| Post {
                id: sending.id,
                pubsub_topic: published.pubsub_topic,
                content_topic: published.message.content_topic.to_string(),
                state,
            });
            // The caller may be gone.
            let _ = caller.send(answer);
        }
    }

    pub(super) fn posts(&self) -> Vec<Post> {
        self.posts.known.values().cloned().collect()
    }

    fn unix_now_ns(&self) -> u64 {
        self.clock
            .unix_ns_at_zero()
            .saturating_add(self.clock.now().as_nanos())
    }
}
