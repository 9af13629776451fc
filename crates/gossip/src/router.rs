//! The state machine. This file only dispatches; every concern has a room of its own.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use crate::arriving::Arriving;
use crate::backoff::Backoffs;
use crate::cache::Cache;
use crate::config::{Config, ConfigError};
use crate::deferred::Deferred;
use crate::error::{ApiMisuse, PeerMisbehaved, Penalty};
use crate::ids::{Anywhere, Hashed, MessageIds, Placement};
use crate::io::{Class, Input, Output, Progress, Report, Stats};
use crate::paced::Paced;
use crate::peers::Peers;
use crate::pending::Pending;
use crate::promises::Promises;
use crate::rng::Rng;
use crate::score::Scores;
use crate::seen::Seen;
use crate::strategy::Strategy;
use crate::time::Time;
use crate::topics::{TopicIx, Topics};
use crate::types::{MessageId, PeerIx, SendHandle, Topic};
use crate::wire::{self, Encoder};

/// A GossipSub (or flooding) router without clock, socket, thread or hash order.
///
/// Driving it: [`handle`](Self::handle) an input, drain [`poll`](Self::poll) until it returns
/// `None`, then call `handle` with [`Input::Tick`] no later than
/// [`next_timeout`](Self::next_timeout). The same seed and inputs give the same outputs.
#[derive(Debug)]
pub struct Router {
    pub(crate) config: Config,
    pub(crate) strategy: Box<dyn Strategy>,
    pub(crate) ids: Box<dyn MessageIds>,
    pub(crate) placement: Box<dyn Placement>,
    pub(crate) rng: Rng,
    pub(crate) now: Time,
    pub(crate) started: Time,
    pub(crate) heartbeats: u64,
    pub(crate) next_heartbeat: Time,
    pub(crate) topics: Topics,
    pub(crate) peers: Peers,
    pub(crate) scores: Scores,
    pub(crate) backoffs: Backoffs,
    pub(crate) promises: Promises,
    pub(crate) arriving: Arriving,
    pub(crate) deferred: Deferred,
    pub(crate) paced: Paced,
    pub(crate) seen: Seen,
    pub(crate) cache: Cache,
    pub(crate) pending: Pending,
    pub(crate) stats: Stats,
    /// Peers that are gone and whose index is still bound, with the time until which something
    /// may be charged to it. A score or a backoff that is remembered binds it for longer.
    pub(crate) departed: BTreeMap<PeerIx, Time>,
    /// Control gathered for each peer during one input.
    control: BTreeMap<PeerIx, Encoder>,
    outputs: VecDeque<Output>,
    next_handle: u64,
}

impl Router {
    /// A router that starts at `now`. All its choices follow from `seed`.
    ///
    /// # Errors
    /// [`ConfigError`] names the rule that the configuration breaks.
    pub fn new(config: Config, seed: [u8; 32], now: Time) -> Result<Self, ConfigError> {
        config.validate()?;
        let mut rng = Rng::new(seed);
        let limits = &config.limits;
        Ok(Self {
            strategy: config.strategy.build(),
            ids: Box::new(Hashed),
            placement: Box::new(Anywhere),
            now,
            started: now,
            heartbeats: 0,
            next_heartbeat: now.after(config.heartbeat_delay),
            topics: Topics::default(),
            peers: Peers::default(),
            scores: Scores::new(config.score.clone(), now),
            backoffs: Backoffs::new(config.backoff_slack, limits.backoffs_max),
            promises: Promises::new(config.iwant_followup, limits.promises_max),
            arriving: Arriving::default(),
            deferred: Deferred::new(limits.promises_max, limits.holders_per_id_max),
            paced: Paced::default(),
            seen: Seen::new(&mut rng, limits.seen_max),
            cache: Cache::new(
                &mut rng,
                config.history_length,
                config.history_gossip,
                limits.cache_bytes_max,
            ),
            pending: Pending::new(&mut rng, limits.pending_max, limits.pending_bytes_max),
            stats: Stats::default(),
            departed: BTreeMap::new(),
            control: BTreeMap::new(),
            outputs: VecDeque::new(),
            next_handle: 0,
            rng,
            config,
        })
    }

    /// Has message ids computed by `ids`.
    #[must_use]
    pub fn with_message_ids(mut self, ids: Box<dyn MessageIds>) -> Self {
        self.ids = ids;
        self
    }

    /// Has messages dropped that do not belong on the topic that they come on.
    #[must_use]
    pub fn with_placement(mut self, placement: Box<dyn Placement>) -> Self {
        self.placement = placement;
        self
    }

    /// Takes one input, then runs every timer that is due.
    ///
    /// # Errors
    /// [`ApiMisuse`] when the driver breaks the contract; the input is then not taken.
    pub fn handle(&mut self, now: Time, input: Input) -> Result<(), ApiMisuse> {
        if now < self.now {
            return Err(ApiMisuse::TimeWentBackwards);
        }
        if !self.outputs.is_empty() {
            return Err(ApiMisuse::OutputsNotDrained);
        }
        self.now = now;
        match input {
            Input::Connected(peer) => self.connected(peer)?,
            Input::Disconnected(peer) => self.disconnected(peer)?,
            Input::Renewed(peer) => self.renewed(peer)?,
            Input::Arriving { peer, is_arriving } => self.arriving(peer, is_arriving),
            Input::Frame { peer, frame } => self.frame(peer, &frame)?,
            Input::Validated { id, verdict } => self.validated(id, verdict),
            Input::Publish { topic, data, token } => self.publish(&topic, data, token)?,
            Input::Subscribe(topic) => self.join(&topic)?,
            Input::Unsubscribe(topic) => self.leave(&topic),
            Input::Sent {
                peer,
                handle,
                progress,
            } => self.sent(peer, handle, progress),
            Input::ApplicationScore { peer, score } => self.scores.set_application(peer, score),
            Input::Tick => {}
        }
        if self.scores.decay(now) {
            self.after_decay();
        }
        if now >= self.next_heartbeat {
            self.heartbeat();
        }
        if self.paced.next() <= now {
            self.send_due();
        }
        if self.next_question() <= now {
            self.ask_due();
        }
        self.flush_control();
        Ok(())
    }

    /// The next thing to do, or `None` when there is nothing until the next input.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When [`Input::Tick`] is due at the latest.
    pub fn next_timeout(&self) -> Time {
        let upkeep = self.next_heartbeat.min(self.scores.next_decay());
        upkeep.min(self.paced.next()).min(self.next_question())
    }

    fn sent(&mut self, peer: PeerIx, handle: SendHandle, progress: Progress) {
        // The peer may be gone by the time its queue reports: that is no misuse.
        if let Some(state) = self.peers.get_mut(peer) {
            state.settled(handle);
        }
        if progress == Progress::Dropped {
            self.stats.sends_dropped += 1;
            self.scores.slow(peer);
        }
    }

    pub(crate) fn output(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    pub(crate) fn report(&mut self, report: Report) {
        self.outputs.push_back(Output::Report(report));
    }

    /// The control gathered for a peer, with room for one entry of the largest topic; goes out at
    /// the end of the current input.
    pub(crate) fn control(&mut self, peer: PeerIx) -> &mut Encoder {
        self.control_with_room(peer, 0)
    }

    /// The same, with room for `bytes` more: what is gathered goes out first if need be.
    pub(crate) fn control_with_room(&mut self, peer: PeerIx, bytes: usize) -> &mut Encoder {
        let limits = &self.config.limits;
        let entry = bytes + limits.topic_bytes_max + wire::ENTRY_OVERHEAD_BYTES;
        let max = limits.control_frame_bytes_max;
        if self
            .control
            .get(&peer)
            .is_some_and(|encoder| encoder.len() + entry > max)
        {
            let full = self.control.get_mut(&peer).and_then(Encoder::finish);
            self.send_control(peer, full);
        }
        self.control.entry(peer).or_default()
    }

    fn flush_control(&mut self) {
        for (peer, mut encoder) in std::mem::take(&mut self.control) {
            let frame = encoder.finish();
            self.send_control(peer, frame);
        }
    }

    pub(crate) fn send_control(&mut self, peer: PeerIx, frame: Option<Bytes>) {
        if let Some(frame) = frame.filter(|_| self.peers.get(peer).is_some()) {
            let handle = self.handle_for_send();
            self.output(Output::Send {
                peer,
                handle,
                class: Class::Control,
                frame,
            });
        }
    }

    pub(crate) fn handle_for_send(&mut self) -> SendHandle {
        self.next_handle += 1;
        SendHandle(self.next_handle)
    }

    /// Sends a copy of a message and remembers it as cancellable.
    pub(crate) fn send_message(&mut self, peer: PeerIx, class: Class, id: MessageId, frame: Bytes) {
        let handle = self.handle_for_send();
        let max = self.config.limits.cancellable_per_peer_max;
        let Some(state) = self.peers.get_busy(peer) else {
            return;
        };
        if state.cancellable.len() >= max {
            state.cancellable.pop_front();
        }
        state.cancellable.push_back((id, handle, self.heartbeats));
        self.stats.messages_sent += 1;
        self.output(Output::Send {
            peer,
            handle,
            class,
            frame,
        });
    }

    /// Takes back every copy of `id` that waits for `peer` and has not begun.
    pub(crate) fn cancel(&mut self, peer: PeerIx, id: &MessageId) {
        self.paced.take_back(peer, id);
        // More than one may wait: a forwarded copy and answers to IWANT.
        while let Some(handle) = self
            .peers
            .get_mut(peer)
            .and_then(|state| state.take_cancellable(id))
        {
            self.stats.sends_cancelled += 1;
            self.output(Output::Cancel { peer, handle });
        }
    }

    /// Reports misbehaviour, charges its price, and drops the peer if that was too much.
    pub(crate) fn misbehaved(
        &mut self,
        peer: PeerIx,
        topic: Option<TopicIx>,
        what: PeerMisbehaved,
    ) {
        match (what.penalty(), topic) {
            (Penalty::Behaviour(count), _) => self.scores.behaviour(peer, count),
            (Penalty::InvalidMessage, Some(topic)) => self.scores.invalid_message(peer, topic),
            (Penalty::InvalidMessage, None) => {}
        }
        self.report(Report::Misbehaved { peer, what });
        self.disconnect_if_graylisted(peer);
    }

    pub(crate) fn is_graylisted(&self, peer: PeerIx) -> bool {
        self.scores.score(peer) < self.config.thresholds.graylist
            && self.peers.get(peer).is_some_and(|state| !state.explicit)
    }

    pub(crate) fn disconnect_if_graylisted(&mut self, peer: PeerIx) {
        if self.config.disconnect_graylisted && self.is_graylisted(peer) {
            self.output(Output::Disconnect(peer));
        }
    }

    fn after_decay(&mut self) {
        let connected: Vec<_> = self.peers.iter().map(|(peer, _)| peer).collect();
        for peer in connected {
            self.disconnect_if_graylisted(peer);
        }
    }

    /// Whether a peer is connected.
    pub fn is_connected(&self, peer: PeerIx) -> bool {
        self.peers.get(peer).is_some()
    }

    /// The score of a peer now; 0 for one that is not known.
    pub fn score(&self, peer: PeerIx) -> f64 {
        self.scores.score(peer)
    }

    /// Who sent a copy of a message whose verdict is awaited, the first one first.
    pub fn senders(&self, id: &MessageId) -> &[PeerIx] {
        self.seen.senders(id)
    }

    /// Peers in the mesh of a topic, in the order of their indices.
    pub fn mesh(&self, topic: &Topic) -> &[PeerIx] {
        self.topics
            .find(topic)
            .map_or(&[], |ix| self.topics.get(ix).mesh.as_slice())
    }

    /// Connected peers that are subscribed to a topic, in the order of their indices.
    pub fn subscribers(&self, topic: &Topic) -> &[PeerIx] {
        self.topics
            .find(topic)
            .map_or(&[], |ix| self.topics.get(ix).subscribers.as_slice())
    }

    /// Topics that we are subscribed to.
    pub fn joined(&self) -> Vec<Topic> {
        let joined = self.topics.iter().filter(|(_, topic)| topic.joined);
        joined.map(|(_, topic)| topic.name.clone()).collect()
    }

    /// Topics that a connected peer is subscribed to.
    pub fn topics_of(&self, peer: PeerIx) -> Vec<Topic> {
        let topics = self.peers.get(peer).map_or(&[][..], |state| &state.topics);
        topics
            .iter()
            .map(|ix| self.topics.get(*ix).name.clone())
            .collect()
    }

    /// Totals since the start.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How much of each bound is in use.
    pub fn usage(&self) -> Usage {
        let per_peer = |count: fn(&crate::peers::PeerState) -> usize| {
            self.peers
                .iter()
                .map(|(_, state)| count(state))
                .max()
                .unwrap_or(0)
        };
        Usage {
            topics: self.topics.len(),
            seen: self.seen.len(),
            pending: self.pending.len(),
            pending_bytes: self.pending.bytes(),
            cache_bytes: self.cache.bytes(),
            promises: self.promises.len(),
            deferred: self.deferred.len(),
            arriving: self.arriving.len(),
            backoffs: self.backoffs.len(),
            departed: self.departed.len(),
            subscriptions_of_a_peer: per_peer(|state| state.topics.len()),
            idontwant_of_a_peer: per_peer(|state| state.dont_send.len()),
            cancellable_of_a_peer: per_peer(|state| state.cancellable.len()),
        }
    }
}

/// How much of each bound of [`crate::Limits`] is in use; maxima over peers for the last three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Topics known.
    pub topics: usize,
    /// Ids remembered as seen.
    pub seen: usize,
    /// Messages that wait for the validator.
    pub pending: usize,
    /// Bytes of messages that wait for the validator.
    pub pending_bytes: usize,
    /// Bytes in the message cache.
    pub cache_bytes: usize,
    /// Open requests.
    pub promises: usize,
    /// Ids to ask for later.
    pub deferred: usize,
    /// Peers from which a long frame is coming in.
    pub arriving: usize,
    /// Backoffs remembered.
    pub backoffs: usize,
    /// Peers that are gone and whose index is still bound.
    pub departed: usize,
    /// Most topics of one peer.
    pub subscriptions_of_a_peer: usize,
    /// Most unwanted ids of one peer.
    pub idontwant_of_a_peer: usize,
    /// Most cancellable copies of one peer.
    pub cancellable_of_a_peer: usize,
}
