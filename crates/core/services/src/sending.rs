//! Accountable sending: each message ends as stored, propagated, or failed with a reason.
//!
//! The [`MessageSender`] keeps messages in a queue that survives a crash. It requests a proof for each one when the
//! rate limit has room, gives it to the relay or to one lightpush peer after another until another node has it, and
//! asks stores whether they hold it. Sources on peer behaviour: lightpush v3, store v3, the LIPs messaging-api and
//! p2p-reliability.
//!
//! A proof is spent once: a message goes to further peers with the same proof as long as the driver does not call it
//! stale. The hash of a message does not change, because it does not cover the proof, and neither does the timestamp.
//! There is one exception. Where the network refuses old timestamps ([`SenderConfig::max_age`]), a message gets a new
//! timestamp if the sender chose the old one and the message is known to have reached nobody, since no peer would ever
//! accept it. A message counts as having reached nobody when every known store of its topic, at least two, lacks it, or
//! when at its deadline at least two stores lack it and none has it. On a network without proofs, a message that no
//! peer accepted also counts so when the stores that answer lack it. A lightpush peer's claim to have relayed the
//! message proves nothing. A message that the node's own relay sent to peers keeps its timestamp.
//!
//! The answer of one store is not enough to call a message stored, unless the driver marks the store as named
//! ([`Standing`](crate::trust::Standing)): a store that received the message from this node, or learned its hash, can
//! claim to have it. A message is stored when a named store has it, when a store has it that is unrelated to all peers
//! that got it from here, or when two unrelated stores have it; else it ends as propagated.
//!
//! A message that only waits for a relay peer ([`MessageSender::wait_for_peer`]) ends once a peer has it; no store
//! confirms it.
//!
//! A message may be sent in fragments. Each fragment is a queue entry with its own number, proof, timestamp and
//! attempts, but events are shared. The message reaches a state once all fragments have reached it, is stored once
//! stores have all of them, and fails with the first of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use undertone_gossip::Time;

use crate::light::peers::{PeerPool, PeerPoolConfig, PeerService, PoolEvent};
use crate::{PeerNo, RequestNo};

mod accept;
mod config;
mod confirm;
mod delivery;
mod entry;
mod io;
mod part;
mod parts;
mod peer_wait;
mod record;
mod refused_push;

#[cfg(test)]
mod tests;

pub use config::{SenderConfig, SenderLimits};
pub use io::{
    FailReason, Input, Output, ProveFailure, PushFailure, RelayFailure, SendError, SendEvent,
    SendEventKind, SendId, Unconfirmed, WaitingMessage,
};
pub use peer_wait::PeerWait;
pub use record::{RECORD_VERSION, SendRecordError};
pub use refused_push::refused_push;

use confirm::StoreQuestion;
use entry::{AwaitedAnswer, QueuedMessage};
use parts::PartedMessage;

/// Queue of messages to send, as a sans-I/O state machine.
///
/// After a start, call [`restore`](Self::restore) with each persisted record. Then call
/// [`send`](Self::send) or [`handle`](Self::handle) with each event, [`poll`](Self::poll) until it returns
/// `None`, and wait for the next event or until [`next_timeout`](Self::next_timeout).
#[derive(Debug)]
pub struct MessageSender {
    config: SenderConfig,
    unix_ns_at_zero: u64,
    last: Time,
    /// Time before which a missing store proves nothing, because discovery needs a moment.
    discovered: Option<Time>,
    requests: u64,
    last_id: SendId,
    /// Messages, and fragments of messages.
    entries: BTreeMap<SendId, QueuedMessage>,
    /// Fragmented messages, by the number of their first fragment.
    wholes: BTreeMap<SendId, PartedMessage>,
    /// Whether restored fragments have not yet been checked for completeness.
    has_restored_parts: bool,
    /// Messages, and fragments, that end once a peer has them.
    peer_waits: BTreeSet<SendId>,
    pool: PeerPool,
    /// Topics on which the relay has peers.
    relay_topics: BTreeSet<Arc<str>>,
    /// Proofs that the rate limit leaves in this epoch.
    budget: u32,
    /// End of the epoch last reported by the driver.
    epoch_ends: Time,
    /// Whether the driver reported that the limit is used up, even for proofs already requested.
    is_used_up: bool,
    question: Option<StoreQuestion>,
    out: VecDeque<Output>,
}

impl MessageSender {
    /// Creates a sender with an empty queue.
    ///
    /// `unix_ns_at_zero` is the wall time at [`Time::ZERO`] in Unix nanoseconds; `rng` varies backoffs.
    pub fn new(config: SenderConfig, unix_ns_at_zero: u64, rng: ChaCha8Rng) -> Self {
        let pool = PeerPoolConfig {
            max_peers: config.limits.max_peers,
            max_peer_topics: config.limits.max_peer_topics,
            connect_timeout: config.connect_timeout,
            backoff_first: config.backoff_first,
            backoff_max: config.backoff_max,
        };
        Self {
            config,
            unix_ns_at_zero,
            last: Time::ZERO,
            discovered: None,
            requests: 0,
            last_id: SendId(0),
            entries: BTreeMap::new(),
            wholes: BTreeMap::new(),
            has_restored_parts: false,
            peer_waits: BTreeSet::new(),
            pool: PeerPool::new(pool, rng),
            relay_topics: BTreeSet::new(),
            budget: 0,
            epoch_ends: Time::MAX,
            is_used_up: false,
            question: None,
            out: VecDeque::new(),
        }
    }

    /// Returns the pubsub topics of the messages in the queue.
    pub fn pubsub_topics(&self) -> BTreeSet<Arc<str>> {
        let topics = self.entries.values();
        topics
            .map(|entry| entry.record.pubsub_topic.clone())
            .collect()
    }

    /// Returns the number of messages in the queue; a fragmented message counts once.
    pub fn len(&self) -> usize {
        let is_whole = |entry: &&QueuedMessage| entry.record.part.is_none();
        self.entries.values().filter(is_whole).count() + self.wholes.len()
    }

    /// Returns the messages in the queue, the oldest first.
    pub fn waiting(&self) -> Vec<WaitingMessage> {
        let mut last = None;
        let entries = self.entries.values().filter_map(|entry| {
            let part = entry.record.part;
            let id = part.map_or(entry.id(), |place| place.whole);
            if last.replace(id) == Some(id) {
                return None;
            }
            let step = match part {
                Some(place) => self.shared_step(place.whole).kind(),
                None => entry.step(),
            };
            Some(WaitingMessage {
                id,
                pubsub_topic: entry.record.pubsub_topic.clone(),
                message: entry.record.message.clone(),
                is_in_fragments: part.is_some(),
                step,
                hash: entry.hash.filter(|_| part.is_none()),
            })
        });
        entries.collect()
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes an event that happened at `now`.
    pub fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::PeerFound(peer) => {
                self.pool.found(peer);
            }
            Input::PeerLost(peer) => {
                self.disconnected(now, peer);
                self.pool.forget(peer);
            }
            Input::Connected(peer) => self.pool.connected(peer),
            Input::Disconnected(peer) => self.disconnected(now, peer),
            Input::ConnectFailed(peer) => self.pool.connect_failed(now, peer),
            Input::RelayTopics(topics) => self.set_relay_topics(now, topics),
            Input::Budget {
                remaining,
                epoch_ends,
            } => {
                self.budget = remaining;
                self.epoch_ends = epoch_ends;
                self.is_used_up = false;
            }
            Input::Proved {
                id,
                attempt,
                result,
            } => self.proved(now, id, attempt, result),
            Input::ProofStale(id) => self.proof_stale(id),
            Input::ProofFresh(id) => self.proof_fresh(id),
            Input::Relayed { id, result } => self.relayed(now, id, result),
            Input::PushAnswer { request, answer } => self.push_answer(now, request, answer),
            Input::HistoryAnswer { request, answer } => self.history_answer(now, request, answer),
            Input::Seen(hash) => {
                let seen =
                    |entry: &&QueuedMessage| entry.hash == Some(hash) && entry.record.is_given;
                if let Some(id) = self.entries.values().find(seen).map(QueuedMessage::id) {
                    self.propagated(now, id);
                }
            }
            Input::ClockSet { unix_ns_at_zero } => self.unix_ns_at_zero = unix_ns_at_zero,
            Input::Tick => {}
        }
        self.drive(now);
    }

    /// Returns the next action for the driver.
    pub fn poll(&mut self) -> Option<Output> {
        loop {
            let output = self.out.pop_front()?;
            if let Some(output) = self.for_driver(output) {
                return Some(output);
            }
        }
    }

    /// Returns the time at which [`Input::Tick`] is due, unless something happens before.
    pub fn next_timeout(&self) -> Option<Time> {
        let now = self.last;
        let mut next = self.pool.next_timeout();
        if !self.entries.is_empty() {
            next = next.min(self.epoch_ends);
        }
        if let Some(question) = &self.question {
            next = next.min(question.deadline);
        }
        let next_store = self
            .pool
            .next_usable(now, PeerService::Store, None, |_| false);
        for entry in self.entries.values() {
            next = next.min(self.timeout_of(now, entry));
            if self.question.is_none() {
                let discovered = self.discovered.filter(|at| *at > now).unwrap_or(Time::MAX);
                next = next.min(match entry.check_at > now {
                    true => entry.check_at,
                    false => next_store.min(discovered),
                });
            }
        }
        (next != Time::MAX).then_some(next)
    }

    fn timeout_of(&self, now: Time, entry: &QueuedMessage) -> Time {
        let deadline = match entry.is_propagated() {
            true => entry.confirm_until,
            false => entry.confirm_until.min(entry.deadline),
        };
        let topic = Some(&*entry.record.pubsub_topic);
        let wants_out = !entry.is_propagated() || entry.wants_resend;
        match entry.work {
            AwaitedAnswer::Relay { deadline } | AwaitedAnswer::Push { deadline, .. } => deadline,
            AwaitedAnswer::Nothing if wants_out && entry.retry_at > now => {
                deadline.min(entry.retry_at)
            }
            AwaitedAnswer::Nothing if wants_out => {
                let is_by_relay = self.waits_for_peer(entry.id());
                let tried = |peer| is_by_relay || entry.tried.contains(&peer);
                deadline.min(
                    self.pool
                        .next_usable(now, PeerService::Lightpush, topic, tried),
                )
            }
            AwaitedAnswer::Nothing | AwaitedAnswer::Proof | AwaitedAnswer::ProofCheck => deadline,
        }
    }

    /// Records the relay's topics. Messages of newly reachable topics need not wait for their next round.
    fn set_relay_topics(&mut self, now: Time, topics: BTreeSet<Arc<str>>) {
        for entry in self.entries.values_mut() {
            let topic = &entry.record.pubsub_topic;
            let is_new = topics.contains(topic) && !self.relay_topics.contains(topic);
            if is_new && entry.confirm_until == Time::MAX && entry.retry_at > now {
                entry.is_relay_tried = false;
                entry.retry_at = now;
            }
        }
        self.relay_topics = topics;
    }

    fn disconnected(&mut self, now: Time, peer: PeerNo) {
        self.pool.disconnected(peer);
        self.peer_gone(now, peer);
        self.store_gone(now, peer);
    }

    fn drive(&mut self, now: Time) {
        self.last = self.last.max(now);
        let discovery = self.config.discovery;
        self.discovered.get_or_insert(now.after(discovery));
        self.pool.expire(now);
        if std::mem::take(&mut self.has_restored_parts) {
            self.settle_restored();
        }
        if self.epoch_ends <= now {
            // The driver should have reported the new epoch; one request shows how much it allows.
            self.epoch_ends = Time::MAX;
            self.budget = self.budget.max(1);
            self.is_used_up = false;
        }
        self.ask(now);
        let ids: Vec<SendId> = self.entries.keys().copied().collect();
        for id in ids {
            self.step(now, id);
        }
        while let Some(event) = self.pool.events.pop_front() {
            self.out.push_back(match event {
                PoolEvent::Connect(peer) => Output::Connect(peer),
                PoolEvent::Forgotten(peer) => Output::Forgotten(peer),
            });
        }
    }

    fn next_request(&mut self) -> RequestNo {
        self.requests = self.requests.wrapping_add(1);
        RequestNo(self.requests)
    }

    /// Returns the wall time at `now`, Unix nanoseconds.
    fn wall_ns(&self, now: Time) -> u64 {
        self.unix_ns_at_zero.saturating_add(now.as_nanos())
    }
}

/// Returns `first` doubled `times` times, at most `max`.
fn doubled(first: Duration, times: u32, max: Duration) -> Duration {
    first.saturating_mul(1_u32 << times.min(20)).min(max)
}

/// Returns a duration in nanoseconds, at most `u64::MAX`.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
