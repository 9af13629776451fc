//! The score function: one number per peer that sums up its behaviour (GossipSub v1.1, "Peer Scoring").
//!
//! Counters are in `counters`, parameters in `params`; the seen cache records which peer delivered what.
//! Where the text and the implementations of the specification differ, this crate follows the
//! implementations: a positive score is lost at disconnect, a negative one is kept for `retain_score`, and
//! nothing decays while the peer is disconnected. It deviates where the implementations let strangers harm
//! an innocent peer: see [`Scores::disconnected`] for what is kept, and `colocation` for which peers are
//! charged when many share an address.

mod colocation;
mod counters;
mod params;

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use colocation::Colocation;
use counters::{TopicCounters, decay_counter};
pub use params::{Evaluation, ScoreParams, Thresholds, TopicScoreParams};

use crate::config::Config;
use crate::time::Time;
use crate::topics::TopicIx;
use crate::types::{PeerIx, Topic};

/// Last computed score, in eight bytes: NaN when there is none.
#[derive(Clone, Debug)]
struct ScoreMemo(Cell<f64>);

impl Default for ScoreMemo {
    fn default() -> Self {
        Self(Cell::new(f64::NAN))
    }
}

impl ScoreMemo {
    fn get(&self) -> Option<f64> {
        Some(self.0.get()).filter(|score| !score.is_nan())
    }

    fn set(&self, score: f64) {
        self.0.set(score);
    }
}

/// Counters and cached score of one peer.
#[derive(Clone, Debug, Default)]
struct Record {
    topics: Vec<(TopicIx, TopicCounters)>,
    ip: Option<IpAddr>,
    application: f64,
    behaviour: f64,
    slow: f64,
    /// End of retention; set while the peer is disconnected.
    retained_until: Option<Time>,
    /// Score at the last decay tick, for [`Evaluation::AtDecay`].
    cached: f64,
    /// On-demand score, valid until a counter changes: it is read far more often than it changes.
    memo: ScoreMemo,
}

impl Record {
    /// Whether the peer is connected and has no penalties; its address is not considered.
    fn is_spotless(&self) -> bool {
        let mut topics = self.topics.iter();
        self.retained_until.is_none()
            && self.behaviour == 0.0
            && self.slow == 0.0
            && self.application >= 0.0
            && topics.all(|(_, counters)| counters.is_spotless())
    }

    /// Invalidates the cached score after a change.
    fn touched(&mut self) {
        self.memo.set(f64::NAN);
    }
}

/// Scores of all peers. Without parameters every score is 0 and nothing is counted.
#[derive(Debug)]
pub(crate) struct Scores {
    config: Arc<Config>,
    /// Parameters per topic, resolved when the topic gets its index.
    topics: Vec<Option<TopicScoreParams>>,
    /// Records of peers with anything to remember, which most peers rarely have.
    peers: Vec<Option<Box<Record>>>,
    /// Whether a peer is connected or remembered, by index.
    known: Vec<bool>,
    colocation: Colocation,
    next_decay: Time,
}

impl Scores {
    pub(crate) fn new(config: Arc<Config>, now: Time) -> Self {
        let next_decay = match &config.score {
            Some(params) => now.after(params.decay_interval),
            None => Time::MAX,
        };
        Self {
            config,
            topics: Vec::new(),
            peers: Vec::new(),
            known: Vec::new(),
            colocation: Colocation::default(),
            next_decay,
        }
    }

    /// Reserves memory for exactly this many peers.
    pub(crate) fn reserve(&mut self, count: usize) {
        let more = count.saturating_sub(self.peers.len());
        self.peers.reserve_exact(more);
        self.known.reserve_exact(more);
    }

    pub(crate) fn next_decay(&self) -> Time {
        self.next_decay
    }

    /// Binds a topic index to the parameters of a topic. Must be called whenever an index gets a new name.
    pub(crate) fn name_topic(&mut self, ix: TopicIx, topic: &Topic) {
        if let Some(params) = &self.config.score {
            let named = params
                .topics
                .get(topic.as_str())
                .unwrap_or(&params.default_topic);
            let named = named.clone();
            if self.topics.len() <= ix.slot() {
                if self.topics.is_empty() {
                    // Most routers know one topic, and a vector starts with room for four.
                    self.topics.reserve_exact(ix.slot() + 1);
                }
                self.topics.resize_with(ix.slot() + 1, || None);
            }
            self.topics[ix.slot()] = Some(named);
            for record in self.peers.iter_mut().flatten() {
                record.touched();
            }
        }
    }

    /// Forgets the counters of a topic index that is about to be reused for another topic.
    pub(crate) fn forget_topic(&mut self, ix: TopicIx) {
        if let Some(topic) = self.topics.get_mut(ix.slot()) {
            *topic = None;
        }
        for record in self.peers.iter_mut().flatten() {
            record.topics.retain(|(topic, _)| *topic != ix);
            record.touched();
        }
    }

    pub(crate) fn connected(&mut self, peer: PeerIx, ip: Option<IpAddr>) {
        if self.config.score.is_none() {
            return;
        }
        if self.peers.len() <= peer.slot() {
            self.peers.resize_with(peer.slot() + 1, || None);
            self.known.resize(peer.slot() + 1, false);
        }
        self.known[peer.slot()] = true;
        if let Some(record) = &mut self.peers[peer.slot()] {
            record.retained_until = None;
            record.ip = ip;
            record.touched();
        }
        if let Some(ip) = ip {
            self.peers[peer.slot()].get_or_insert_default().ip = Some(ip);
            self.colocation.joined(ip.into(), peer);
        }
    }

    /// Records that the peer disconnected; it no longer counts at its address. Only its own offences are
    /// kept, for `retain_score`: invalid messages, failed mesh deliveries, misbehaviour. A peer without any
    /// is forgotten, even if its score was negative because too many peers shared its address.
    pub(crate) fn disconnected(&mut self, peer: PeerIx, now: Time) {
        let config = Arc::clone(&self.config);
        let Some(params) = &config.score else {
            return;
        };
        self.leave_address(peer);
        let slot = self.peers.get(peer.slot()).and_then(Option::as_deref);
        let is_clean = slot.is_none_or(|record| {
            record.behaviour == 0.0 && self.compute(params, peer, record) >= 0.0
        });
        if is_clean {
            return self.forget(peer);
        }
        if let Some(record) = record(&mut self.peers, peer) {
            for (topic, counters) in &mut record.topics {
                if let Some(params) = params_of(&self.topics, *topic) {
                    counters.retain_bad(params);
                }
            }
            record.retained_until = Some(now.after(params.retain_score));
        }
    }

    /// Whether there is a record of the peer.
    pub(crate) fn remembers(&self, peer: PeerIx) -> bool {
        self.known.get(peer.slot()).is_some_and(|known| *known)
    }

    pub(crate) fn forget(&mut self, peer: PeerIx) {
        self.leave_address(peer);
        if let Some(slot) = self.peers.get_mut(peer.slot()) {
            *slot = None;
            self.known[peer.slot()] = false;
        }
    }

    /// Removes the peer from its address; peers that connected after it move up by one.
    fn leave_address(&mut self, peer: PeerIx) {
        let ip = record(&mut self.peers, peer).and_then(|record| record.ip.take());
        if let Some(ip) = ip {
            for behind in self.colocation.left(ip.into(), peer) {
                if let Some(record) = record(&mut self.peers, behind) {
                    record.touched();
                }
            }
        }
    }

    fn with_topic(
        &mut self,
        peer: PeerIx,
        topic: TopicIx,
        change: impl FnOnce(&mut TopicCounters, &TopicScoreParams),
    ) {
        let params = params_of(&self.topics, topic);
        let (true, Some(params)) = (self.remembers(peer), params) else {
            return;
        };
        let record = self.peers[peer.slot()].get_or_insert_default();
        record.touched();
        let at = match record.topics.binary_search_by_key(&topic, |(t, _)| *t) {
            Ok(at) => at,
            Err(at) => {
                // Most peers share one topic with this node, and a vector starts with room for four.
                record.topics.reserve_exact(1);
                record.topics.insert(at, (topic, TopicCounters::default()));
                at
            }
        };
        change(&mut record.topics[at].1, params);
    }

    pub(crate) fn grafted(&mut self, peer: PeerIx, topic: TopicIx, now: Time) {
        self.with_topic(peer, topic, |counters, _| counters.grafted(now));
    }

    pub(crate) fn pruned(&mut self, peer: PeerIx, topic: TopicIx) {
        self.with_topic(peer, topic, TopicCounters::pruned);
    }

    pub(crate) fn first_delivery(&mut self, peer: PeerIx, topic: TopicIx) {
        self.with_topic(peer, topic, TopicCounters::first_delivery);
    }

    pub(crate) fn mesh_delivery(&mut self, peer: PeerIx, topic: TopicIx) {
        self.with_topic(peer, topic, TopicCounters::mesh_delivery);
    }

    pub(crate) fn invalid_message(&mut self, peer: PeerIx, topic: TopicIx) {
        self.with_topic(peer, topic, |counters, _| counters.invalid_message());
    }

    pub(crate) fn behaviour(&mut self, peer: PeerIx, count: u32) {
        if let Some(record) = self.known_record(peer) {
            record.behaviour += f64::from(count);
        }
    }

    pub(crate) fn slow(&mut self, peer: PeerIx) {
        if let Some(record) = self.known_record(peer) {
            record.slow += 1.0;
        }
    }

    pub(crate) fn set_application(&mut self, peer: PeerIx, value: f64) {
        if let Some(record) = self.known_record(peer) {
            record.application = value;
        }
    }

    /// Returns the record of a known peer for modification, and invalidates its cached score.
    fn known_record(&mut self, peer: PeerIx) -> Option<&mut Record> {
        if !self.remembers(peer) {
            return None;
        }
        let record = self.peers[peer.slot()].get_or_insert_default();
        record.touched();
        Some(record)
    }

    /// First deliveries of the peer in a topic, after decay.
    pub(crate) fn first_deliveries(&self, peer: PeerIx, topic: TopicIx) -> f64 {
        self.counters(peer, topic)
            .map_or(0.0, TopicCounters::first_deliveries)
    }

    /// Time since the peer entered the mesh of a topic; `None` while it is not a member.
    pub(crate) fn time_in_mesh(&self, peer: PeerIx, topic: TopicIx, now: Time) -> Option<Duration> {
        self.counters(peer, topic)?.time_in_mesh(now)
    }

    fn counters(&self, peer: PeerIx, topic: TopicIx) -> Option<&TopicCounters> {
        let topics = &self.peers.get(peer.slot())?.as_deref()?.topics;
        let at = topics.binary_search_by_key(&topic, |(t, _)| *t).ok()?;
        Some(&topics[at].1)
    }

    /// Window after validation in which a duplicate counts as near-first (P3), for a topic.
    pub(crate) fn delivery_window(&self, topic: TopicIx) -> Duration {
        params_of(&self.topics, topic)
            .map(|p| p.mesh_deliveries_window)
            .unwrap_or_default()
    }

    /// Current score of the peer, according to the evaluation mode.
    pub(crate) fn score(&self, peer: PeerIx) -> f64 {
        let record = self.peers.get(peer.slot()).and_then(Option::as_deref);
        match (&self.config.score, record) {
            (Some(params), Some(record)) => match params.evaluation {
                Evaluation::OnDemand => record.memo.get().unwrap_or_else(|| {
                    let score = self.compute(params, peer, record);
                    record.memo.set(score);
                    score
                }),
                Evaluation::AtDecay => record.cached,
            },
            _ => 0.0,
        }
    }

    fn compute(&self, params: &ScoreParams, peer: PeerIx, record: &Record) -> f64 {
        let mut score = 0.0;
        for (topic, counters) in &record.topics {
            if let Some(topic) = params_of(&self.topics, *topic) {
                score += counters.score(topic, params.whole_quanta);
            }
        }
        if params.topic_score_cap > 0.0 {
            score = score.min(params.topic_score_cap);
        }
        score += record.application * params.application_weight;
        score += self.colocation_part(params, peer, record);
        let behaviour = (record.behaviour - params.behaviour_threshold).max(0.0);
        score += behaviour * behaviour * params.behaviour_weight;
        score += (record.slow - params.slow_peer_threshold).max(0.0) * params.slow_peer_weight;
        score
    }

    /// Returns the part of a score due to peers that share the address (P6).
    fn colocation_part(&self, params: &ScoreParams, peer: PeerIx, record: &Record) -> f64 {
        let ip = record.ip;
        let Some(ip) = ip.filter(|ip| !params.ip_colocation_allowed.contains(ip)) else {
            return 0.0;
        };
        let place = self.colocation.place(ip.into(), peer);
        let surplus = f64::from(place.saturating_sub(params.ip_colocation_threshold));
        surplus * surplus * params.ip_colocation_weight
    }

    /// Returns the score of the peer without the part for a shared address (P6), from the live counters.
    pub(crate) fn score_without_address(&self, peer: PeerIx) -> f64 {
        let record = self.peers.get(peer.slot()).and_then(Option::as_deref);
        let parts = self.config.score.as_ref().zip(record);
        parts.map_or(0.0, |(params, record)| {
            self.compute(params, peer, record) - self.colocation_part(params, peer, record)
        })
    }

    /// Whether no score is negative, or can become so by the passage of time alone.
    pub(crate) fn cannot_sink(&self) -> bool {
        let wants_deliveries = |topic: &TopicScoreParams| topic.mesh_deliveries_weight != 0.0;
        if self.topics.iter().flatten().any(wants_deliveries) {
            return false;
        }
        let mut held = (0..).map(PeerIx).zip(&self.peers);
        held.all(|(peer, record)| {
            record.as_deref().is_none_or(|record| {
                record.is_spotless() && (record.ip.is_none() || self.score(peer) >= 0.0)
            })
        })
    }

    /// Runs a decay tick if one is due; returns whether it did.
    pub(crate) fn decay(&mut self, now: Time) -> bool {
        if now < self.next_decay {
            return false;
        }
        let config = Arc::clone(&self.config);
        let Some(params) = &config.score else {
            return false;
        };
        // Only one tick even after a long pause: missed ticks are not caught up, as in go and rust.
        self.next_decay = now.after(params.decay_interval);
        let held = (0..).map(PeerIx).zip(&self.peers);
        let held = held.filter_map(|(peer, record)| Some((peer, record.as_deref()?)));
        let over: Vec<_> = held
            .filter(|(_, r)| r.retained_until.is_some_and(|until| until <= now))
            .map(|(peer, _)| peer)
            .collect();
        for peer in over {
            self.forget(peer);
        }
        if params.evaluation == Evaluation::AtDecay {
            self.refresh_mesh_times(now);
            let held = (0..).map(PeerIx).zip(&self.peers);
            let held = held.filter_map(|(peer, record)| Some((peer, record.as_deref()?)));
            let scores: Vec<_> = held
                .map(|(peer, r)| self.compute(params, peer, r))
                .collect();
            for (record, score) in self.peers.iter_mut().flatten().zip(scores) {
                record.cached = score;
            }
        }
        let held = self.peers.iter_mut().flatten();
        for record in held.filter(|r| r.retained_until.is_none()) {
            for (topic, counters) in &mut record.topics {
                if let Some(topic) = params_of(&self.topics, *topic) {
                    counters.decay(topic, params.decay_to_zero);
                }
            }
            let to_zero = params.decay_to_zero;
            decay_counter(&mut record.behaviour, params.behaviour_decay, to_zero);
            decay_counter(&mut record.slow, params.slow_peer_decay, to_zero);
        }
        self.refresh_mesh_times(now);
        true
    }

    fn refresh_mesh_times(&mut self, now: Time) {
        for record in self.peers.iter_mut().flatten() {
            record.touched();
            for (topic, counters) in &mut record.topics {
                if let Some(params) = params_of(&self.topics, *topic) {
                    counters.refresh(params, now);
                }
            }
        }
    }
}

/// Returns the record of a peer for modification, if there is one, and invalidates its cached score.
fn record(peers: &mut [Option<Box<Record>>], peer: PeerIx) -> Option<&mut Record> {
    let record = peers.get_mut(peer.slot())?.as_deref_mut()?;
    record.touched();
    Some(record)
}

fn params_of(topics: &[Option<TopicScoreParams>], topic: TopicIx) -> Option<&TopicScoreParams> {
    topics.get(topic.slot())?.as_ref()
}
