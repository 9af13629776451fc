//! Own messages that may wait for a peer, and their states.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use tokio::sync::oneshot;
use undertone_gossip::RequestId;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_relay::RelayConfig;
use undertone_rln::Epoch;

use crate::command::{Post, PostState, PublishFailure};

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
pub(super) struct WaitingPost {
    pub(super) id: u64,
    pub(super) topic: PubsubTopic,
    pub(super) message: WakuMessage,
    /// Whether the node chose the timestamp and may replace it.
    pub(super) restamp: bool,
    /// Time until which receivers would accept the message, Unix nanoseconds.
    pub(super) until_ns: u64,
    pub(super) bytes: usize,
    /// What this node's own readers have got of it and no peer has: the message, or its fragments, with their proofs.
    pub(super) parts: Vec<WakuMessage>,
}

/// A message that is being proved and sent.
#[derive(Debug)]
pub(super) struct SendingPost {
    pub(super) post: WaitingPost,
    /// Numbers of its publications.
    pub(super) requests: Range<u64>,
    pub(super) caller: Option<Caller>,
}

/// All posted messages: waiting, being sent, and the states of recent ones.
#[derive(Debug)]
pub(crate) struct Posts {
    pub(super) max_message_bytes: usize,
    epoch_ns: Option<u64>,
    max_clock_gap_ns: u64,
    pub(super) next: u64,
    pub(super) waiting: VecDeque<WaitingPost>,
    pub(super) sending: Vec<SendingPost>,
    /// Own message that was delivered last.
    pub(super) last_own: Option<WakuMessage>,
    /// Whether a message is being sent that was delivered before.
    pub(super) is_repeating: bool,
    pub(super) known: BTreeMap<u64, Post>,
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
            last_own: None,
            is_repeating: false,
            known: BTreeMap::new(),
        }
    }

    /// Keeps what was delivered of a posted message, whose publication has just ended.
    pub(super) fn keep_part(&mut self, request: RequestId) {
        let part = self.last_own.take();
        let sending = self.sending.iter_mut();
        let sending = sending
            .into_iter()
            .find(|one| one.requests.contains(&request.0));
        if let Some(sending) = sending {
            sending.post.parts.extend(part);
        }
    }

    /// Whether others accept what was published of a message, as far as its timestamp goes.
    pub(super) fn is_recent(&self, message: &WakuMessage, now_ns: u64) -> bool {
        let stamp_ns = u64::try_from(message.timestamp_ns()).unwrap_or(0);
        self.epoch_ns.is_none() || now_ns <= stamp_ns.saturating_add(self.max_clock_gap_ns)
    }

    pub(super) fn note(&mut self, post: Post) {
        self.known.insert(post.id, post);
        while self.known.len() > KNOWN_MAX {
            self.known.pop_first();
        }
    }

    pub(super) fn settle(&mut self, id: u64, state: PostState) {
        if let Some(post) = self.known.get_mut(&id) {
            post.state = state;
        }
    }

    /// Time until which others accept a message that is published now: the end of its epoch, and if it cannot
    /// be stamped again, no later than its timestamp may be old.
    pub(super) fn deadline_ns(&self, message: &WakuMessage, restamp: bool, now_ns: u64) -> u64 {
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

    /// Whether one more message of this length may wait.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        let held: usize = self.waiting.iter().map(|one| one.bytes).sum();
        self.waiting.len() < WAITING_MAX && held + bytes <= WAITING_BYTES_MAX
    }

    /// Queues a message for later. Fails if the queue is full.
    pub(super) fn wait(&mut self, waiting: WaitingPost) -> Result<(), PublishFailure> {
        if !self.has_room(waiting.bytes) {
            return Err(PublishFailure::NoPeers);
        }
        self.waiting.push_back(waiting);
        Ok(())
    }

    /// Drops the messages that receivers would no longer accept.
    pub(super) fn expire(&mut self, now_ns: u64) {
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
