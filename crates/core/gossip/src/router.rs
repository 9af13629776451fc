//! The state machine. This file only dispatches; each concern has its own module.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;

use crate::backoff::Backoffs;
use crate::cache::Cache;
use crate::config::{Config, ConfigError};
use crate::error::{ApiMisuse, PeerMisbehaved, Penalty};
use crate::ids::{Anywhere, Hashed, MessageIds, Placement};
use crate::io::{Class, Input, Output, Progress, Report, Stats};
use crate::iwant::{Fetcher, FetcherLimits, Transfers};
use crate::peers::Peers;
use crate::pending::Pending;
use crate::publish::Repetition;
use crate::rng::Rng;
use crate::score::Scores;
use crate::seen::Seen;
use crate::send_schedule::SendSchedule;
use crate::stem::Stem;
use crate::strategy::Strategy;
use crate::time::Time;
use crate::topics::{TopicIx, Topics};
use crate::types::{MessageId, PeerIx, SendHandle, Topic};
use crate::wire::{self, Encoder};

/// A GossipSub (or flooding) router without clock, socket, thread or hash order.
///
/// To drive it, [`handle`](Self::handle) an input, drain [`poll`](Self::poll) until it returns `None`, then call
/// `handle` with [`Input::Tick`] no later than [`next_timeout`](Self::next_timeout). The same seed and inputs give
/// the same outputs.
#[derive(Debug)]
pub struct Router {
    pub(crate) config: Arc<Config>,
    pub(crate) strategy: Box<dyn Strategy>,
    pub(crate) ids: Box<dyn MessageIds>,
    pub(crate) placement: Box<dyn Placement>,
    pub(crate) rng: Rng,
    pub(crate) now: Time,
    pub(crate) started: Time,
    pub(crate) heartbeats: u64,
    pub(crate) next_heartbeat: Time,
    /// Time until which upkeep can wait; not later than `now` if it cannot.
    pub(crate) rests_until: Time,
    pub(crate) topics: Topics,
    pub(crate) peers: Peers,
    pub(crate) scores: Scores,
    pub(crate) backoffs: Backoffs,
    pub(crate) fetcher: Fetcher,
    pub(crate) transfers: Transfers,
    pub(crate) send_schedule: SendSchedule,
    pub(crate) stem: Stem,
    pub(crate) seen: Seen,
    pub(crate) cache: Cache,
    pub(crate) pending: Pending,
    pub(crate) stats: Stats,
    /// Disconnected peers whose index is still bound, with the time until which verdicts may be charged to
    /// the index. A remembered score or backoff binds the index for longer.
    pub(crate) departed: BTreeMap<PeerIx, Time>,
    /// Control entries collected for each peer during one input.
    control: BTreeMap<PeerIx, Encoder>,
    outputs: VecDeque<Output>,
    next_handle: u64,
}

impl Router {
    /// Creates a router that starts at `now`. All its random choices follow from `seed`. Routers of one process may
    /// share a configuration.
    ///
    /// # Errors
    /// Returns [`ConfigError`] with the violated rule.
    pub fn new(
        config: impl Into<Arc<Config>>,
        seed: [u8; 32],
        now: Time,
    ) -> Result<Self, ConfigError> {
        let config = config.into();
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
            rests_until: now,
            topics: Topics::default(),
            peers: Peers::default(),
            scores: Scores::new(Arc::clone(&config), now),
            backoffs: Backoffs::new(config.backoff_slack, limits.backoffs_max),
            fetcher: Fetcher::new(config.iwant_followup, FetcherLimits::from(limits)),
            transfers: Transfers::default(),
            send_schedule: SendSchedule::new(limits.delayed_messages_max),
            stem: Stem::default(),
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

    /// Replaces the function that computes message ids.
    #[must_use]
    pub fn with_message_ids(mut self, ids: Box<dyn MessageIds>) -> Self {
        self.ids = ids;
        self
    }

    /// Replaces the rule that decides which messages belong on which topics; others are dropped.
    #[must_use]
    pub fn with_placement(mut self, placement: Box<dyn Placement>) -> Self {
        self.placement = placement;
        self
    }

    /// Reserves memory for exactly this many peers, numbered from 0. Without it, memory grows as peers connect.
    pub fn reserve_peers(&mut self, count: usize) {
        self.peers.reserve(count);
        self.scores.reserve(count);
    }

    /// Handles one input, then runs every timer that is due.
    ///
    /// # Errors
    /// Returns [`ApiMisuse`] when the driver breaks the contract; the input then has no effect.
    pub fn handle(&mut self, now: Time, input: Input) -> Result<(), ApiMisuse> {
        if now < self.now {
            return Err(ApiMisuse::TimeWentBackwards);
        }
        if !self.outputs.is_empty() {
            return Err(ApiMisuse::OutputsNotDrained);
        }
        self.catch_up(now);
        self.now = now;
        self.rests_until = now;
        match input {
            Input::Connected(peer) => self.connected(peer)?,
            Input::Disconnected(peer) => self.disconnected(peer)?,
            Input::Renewed(peer) => self.renewed(peer)?,
            Input::TransferStarted(peer) => self.transfer_started(peer),
            Input::TransferEnded(peer) => self.transfer_ended(peer),
            Input::Frame { peer, frame } => self.frame(peer, &frame)?,
            Input::Validated { id, verdict } => self.validated(id, verdict),
            Input::Publish {
                topic,
                data,
                request,
            } => self.publish(&topic, data, request, Repetition::Refused)?,
            Input::Republish {
                topic,
                data,
                request,
            } => self.publish(&topic, data, request, Repetition::Allowed)?,
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
        self.upkeep();
        if self.send_schedule.next() <= now {
            self.send_due();
        }
        self.end_embargoes();
        if self.next_iwant() <= now {
            self.ask_due();
        }
        self.flush_control();
        Ok(())
    }

    /// Returns the next output, or `None` until the next input.
    pub fn poll(&mut self) -> Option<Output> {
        let next = self.outputs.pop_front();
        if next.is_none() {
            self.outputs = VecDeque::new();
        }
        next
    }

    /// Returns the latest time at which the driver must pass the next input, e.g. [`Input::Tick`].
    pub fn next_timeout(&self) -> Time {
        let upkeep = self.upkeep_timeout().min(self.stem.next());
        upkeep.min(self.send_schedule.next()).min(self.next_iwant())
    }

    /// Number of outputs and control entries that wait to be polled.
    pub(crate) fn outputs_waiting(&self) -> usize {
        self.outputs.len() + self.control.len()
    }

    fn sent(&mut self, peer: PeerIx, handle: SendHandle, progress: Progress) {
        // The peer may be gone by the time its queue reports, so an unknown peer is not an error.
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

    /// Returns the control encoder of a peer, with room for one entry with the longest topic name; its frame is
    /// sent at the end of the current input.
    pub(crate) fn control(&mut self, peer: PeerIx) -> &mut Encoder {
        self.control_with_room(peer, 0)
    }

    /// Returns the control encoder of a peer, with room for `bytes` more; if they do not fit, the collected entries
    /// are sent first.
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
        let Some(busy) = self.peers.get_busy(peer) else {
            return;
        };
        if busy.cancellable.len() >= max {
            busy.cancellable.pop_front();
        } else if busy.cancellable.capacity() == 0 {
            // Usually there is one, and a queue starts with room for four.
            busy.cancellable.reserve_exact(1);
        }
        busy.cancellable.push_back((id, handle, self.heartbeats));
        self.stats.messages_sent += 1;
        self.output(Output::Send {
            peer,
            handle,
            class,
            frame,
        });
    }

    /// Cancels every copy of `id` that is scheduled or queued for `peer` and has not been started.
    pub(crate) fn cancel(&mut self, peer: PeerIx, id: &MessageId) {
        self.send_schedule.cancel(peer, id);
        if !self.config.policy.cancels_queued {
            return;
        }
        // Several copies may be queued: a forwarded one and answers to IWANT.
        while let Some(handle) = self
            .peers
            .get_mut(peer)
            .and_then(|state| state.take_cancellable(id))
        {
            self.stats.sends_cancelled += 1;
            self.output(Output::Cancel { peer, handle });
        }
    }

    /// Reports misbehaviour, charges its penalty, and disconnects the peer if its score is now too low.
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

    pub(crate) fn after_decay(&mut self) {
        let connected: Vec<_> = self.peers.iter().map(|(peer, _)| peer).collect();
        for peer in connected {
            self.disconnect_if_graylisted(peer);
        }
    }

    /// Whether a peer is connected.
    pub fn is_connected(&self, peer: PeerIx) -> bool {
        self.peers.get(peer).is_some()
    }

    /// Current score of a peer; 0 for an unknown one.
    pub fn score(&self, peer: PeerIx) -> f64 {
        self.scores.score(peer)
    }

    /// Whether a peer is below the graylist threshold only because too many peers share its address (P6).
    pub fn is_graylisted_for_address(&self, peer: PeerIx) -> bool {
        self.is_graylisted(peer)
            && self.scores.score_without_address(peer) >= self.config.thresholds.graylist
    }

    /// Peer that sent the first copy of a message whose verdict is awaited.
    pub fn first_sender(&self, id: &MessageId) -> Option<PeerIx> {
        self.pending.first_sender(id)
    }

    /// Peers that sent a copy of a message whose verdict is awaited, in order of arrival.
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

    /// Topics that this node is subscribed to.
    pub fn joined(&self) -> Vec<Topic> {
        let joined = self.topics.iter().filter(|(_, topic)| topic.joined);
        joined.map(|(_, topic)| topic.name.clone()).collect()
    }

    /// Topics that a connected peer is subscribed to.
    pub fn topics_of(&self, peer: PeerIx) -> Vec<Topic> {
        let topics = self
            .peers
            .get(peer)
            .map_or(&[][..], |state| state.topics.as_slice());
        topics
            .iter()
            .map(|ix| self.topics.get(*ix).name.clone())
            .collect()
    }

    /// Totals since the router was created.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Configuration of this router.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether the strategy maintains meshes and gossips ids.
    pub fn keeps_mesh(&self) -> bool {
        self.strategy.keeps_mesh()
    }

    /// Returns the current use of each limit.
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
            iwant_requests: self.fetcher.requests(),
            iwant_waiting: self.fetcher.waiting(),
            transfers: self.transfers.len(),
            delayed_messages: self.send_schedule.len(),
            stem_messages: self.stem.len(),
            stem_bytes: self.stem.bytes(),
            backoffs: self.backoffs.len(),
            departed: self.departed.len(),
            subscriptions_of_a_peer: per_peer(|state| state.topics.len()),
            idontwant_of_a_peer: per_peer(|state| {
                state.activity().map_or(0, |busy| busy.dont_send.len())
            }),
            cancellable_of_a_peer: per_peer(|state| {
                state.activity().map_or(0, |busy| busy.cancellable.len())
            }),
        }
    }
}

/// Current use of each limit of [`crate::Limits`]; the last three are maxima over peers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Topics known to the router.
    pub topics: usize,
    /// Message ids remembered as seen.
    pub seen: usize,
    /// Messages waiting for the validator.
    pub pending: usize,
    /// Bytes of messages waiting for the validator.
    pub pending_bytes: usize,
    /// Bytes of frames in the message cache.
    pub cache_bytes: usize,
    /// Open IWANT requests, over all peers.
    pub iwant_requests: usize,
    /// Ids waiting to be asked for.
    pub iwant_waiting: usize,
    /// Peers with a long incoming frame in transit.
    pub transfers: usize,
    /// Messages with delayed copies.
    pub delayed_messages: usize,
    /// Messages in the stem of Dandelion++.
    pub stem_messages: usize,
    /// Bytes of messages in the stem.
    pub stem_bytes: usize,
    /// Backoffs remembered, over all topics and peers.
    pub backoffs: usize,
    /// Disconnected peers whose index is still bound.
    pub departed: usize,
    /// Largest number of topics of one peer.
    pub subscriptions_of_a_peer: usize,
    /// Largest number of unwanted ids (IDONTWANT) of one peer.
    pub idontwant_of_a_peer: usize,
    /// Largest number of cancellable copies of one peer.
    pub cancellable_of_a_peer: usize,
}
