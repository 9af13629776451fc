//! Sending of posted messages, now or when a peer is connected.

use std::collections::VecDeque;

use undertone_gossip::Topic;
use undertone_message::{PubsubTopic, WakuMessage};

use super::event_loop::EventLoop;
use super::posts::{Caller, SendingPost, WaitingPost};
use super::requests::{PendingPublish, PublishAnswer};
use crate::command::{Post, PostState, PublishFailure, Published};

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
        let bytes = message.encoded_len();
        let now_ns = self.unix_now_ns();
        let waiting = WaitingPost {
            id,
            until_ns: self.posts.deadline_ns(&message, restamp, now_ns),
            topic,
            message,
            restamp,
            bytes,
            parts: Vec::new(),
        };
        // Published without a peer, a message of a joined topic reaches this node's own readers at once.
        let is_own_topic = self.joined.contains(&waiting.topic) && self.posts.has_room(bytes);
        if is_own_topic || self.has_receiver(&waiting.topic) {
            self.posts.note(post);
            self.send_post(waiting, Some(caller));
            return;
        }
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

    /// Publishes a message, or again what was published of it.
    fn send_post(&mut self, mut post: WaitingPost, caller: Option<Caller>) {
        post.message = self.stamped(post.message);
        let (id, topic, message) = (post.id, post.topic.clone(), post.message.clone());
        let parts = post.parts.clone();
        let first = self.next_request;
        self.posts.sending.push(SendingPost {
            post,
            requests: first..u64::MAX,
            caller,
        });
        let answer = PublishAnswer::Post(id);
        if parts.is_empty() {
            self.publish(topic, message, false, answer);
        } else {
            let publishing = PendingPublish {
                pubsub_topic: topic,
                message,
                for_client: false,
                answer,
            };
            self.posts.is_repeating = true;
            self.publish_parts(publishing, parts, true);
            self.posts.is_repeating = false;
        }
        let mut sending = self.posts.sending.iter_mut();
        if let Some(sending) = sending.find(|one| one.post.id == id) {
            sending.requests.end = self.next_request;
        }
    }

    /// Sends waiting messages whose topic has a peer now.
    pub(super) fn look_after_posts(&mut self) {
        if self.posts.waiting.is_empty() {
            return;
        }
        let now_ns = self.unix_now_ns();
        self.posts.expire(now_ns);
        let mut still = VecDeque::new();
        for mut waiting in std::mem::take(&mut self.posts.waiting) {
            if !self.has_receiver(&waiting.topic) {
                still.push_back(waiting);
                continue;
            }
            let parts = &waiting.parts;
            if !parts.iter().all(|one| self.posts.is_recent(one, now_ns)) {
                waiting.parts.clear();
            }
            if waiting.parts.is_empty() && waiting.restamp {
                waiting.message.timestamp = None;
            }
            self.posts.settle(waiting.id, PostState::Sending);
            self.send_post(waiting, None);
        }
        still.append(&mut self.posts.waiting);
        self.posts.waiting = still;
    }

    /// Takes the outcome of a publication: without a peer, the message waits for one.
    pub(super) fn post_sent(&mut self, id: u64, outcome: Result<Published, PublishFailure>) {
        let sending = &mut self.posts.sending;
        let Some(at) = sending.iter().position(|one| one.post.id == id) else {
            return;
        };
        let SendingPost { post, caller, .. } = sending.swap_remove(at);
        let pubsub_topic = post.topic.clone();
        let content_topic = post.message.content_topic.to_string();
        let outcome = match outcome {
            Ok(published) => Ok(PostState::Sent {
                peers: published.peers,
                hash: published.hash(),
            }),
            Err(PublishFailure::NoPeers) if !post.parts.is_empty() => {
                self.posts.wait(post).map(|()| PostState::Waiting)
            }
            Err(failure) => Err(failure),
        };
        let failed = |reason| PostState::Failed { reason };
        let state = outcome.clone().unwrap_or_else(failed);
        self.posts.settle(id, state);
        if let Some(caller) = caller {
            let answer = outcome.map(|state| Post {
                id,
                pubsub_topic,
                content_topic,
                state,
            });
            // The caller may be gone.
            self.after_deliveries(move || drop(caller.send(answer)));
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
