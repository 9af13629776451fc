//! Sending of posted messages, now or when a peer is connected.

use std::collections::VecDeque;

use tokio::sync::oneshot;
use undertone_gossip::Topic;
use undertone_message::{PubsubTopic, WakuMessage};

use super::event_loop::EventLoop;
use super::posts::{Caller, SendingPost, WaitingPost};
use crate::command::{Post, PostState, PublishFailure};

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
        let waiting = WaitingPost {
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

    pub(super) fn has_receiver(&self, topic: &PubsubTopic) -> bool {
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
        self.posts.sending.push(SendingPost {
            id,
            outcome,
            caller,
        });
        self.publish(topic, message, false, reply);
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
