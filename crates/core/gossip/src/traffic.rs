//! Bytes of each topic, and the bandwidth that a topic may use.
//!
//! All messages of a topic are charged to its budget, in both directions: received copies, including duplicates, and
//! copies queued for peers. When the budget is used up, messages of others are dropped before validation, and none is
//! requested; no peer is blamed for that. An admitted message may overdraw the budget, so that long messages pass too;
//! the overdraft never exceeds the burst. Own messages are charged but never dropped. The publisher asks
//! [`Router::bandwidth_wait`] first, since preparing the message may be costly.

use std::time::Duration;

use crate::router::Router;
use crate::time::Time;
use crate::topics::TopicIx;
use crate::types::Topic;

const NS_PER_S: i128 = 1_000_000_000;

/// Bandwidth that one topic may use, both directions together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicBudget {
    /// Bytes per second in the long run, at least 1.
    pub bytes_per_s: u64,
    /// Bytes that may pass at once after a period of silence; also the maximum overdraft.
    pub burst_bytes: u64,
}

impl TopicBudget {
    /// Returns a budget with a burst of ten seconds.
    pub const fn per_second(bytes_per_s: u64) -> Self {
        Self {
            bytes_per_s,
            burst_bytes: bytes_per_s.saturating_mul(10),
        }
    }
}

/// Totals of one topic since this node first used it; lengths cover the message and the topic name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicTraffic {
    /// Bytes of all received copies, valid or not.
    pub received_bytes: u64,
    /// Bytes of valid messages from peers, each counted once.
    pub accepted_bytes: u64,
    /// Bytes of the copies queued for peers; some are cancelled before they are written.
    pub sent_bytes: u64,
    /// Copies of unknown messages that were dropped because the budget was used up.
    pub dropped: u64,
    /// Announced ids that were not requested because the budget was used up.
    pub not_requested: u64,
}

/// Byte account of one topic.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    pub(crate) totals: TopicTraffic,
    /// Used bytes times nanoseconds per second; at the burst the budget is used up.
    used: i128,
    settled: Time,
}

impl Meter {
    /// Whether the topic may use more bandwidth.
    pub(crate) fn has_room(&mut self, now: Time, budget: &TopicBudget) -> bool {
        let elapsed = i128::from(now.as_nanos().saturating_sub(self.settled.as_nanos()));
        self.settled = self.settled.max(now);
        self.used = (self.used - elapsed * i128::from(budget.bytes_per_s)).max(0);
        self.used < burst(budget)
    }

    /// Charges bytes after [`Self::has_room`].
    fn charge(&mut self, bytes: u64, budget: &TopicBudget) {
        let most = burst(budget) * 2;
        self.used = (self.used + i128::from(bytes) * NS_PER_S).min(most);
    }
}

fn burst(budget: &TopicBudget) -> i128 {
    i128::from(budget.burst_bytes) * NS_PER_S
}

impl Router {
    /// Whether the budget of a topic has room, if it has one.
    pub(crate) fn has_bandwidth(&mut self, ix: TopicIx) -> bool {
        let topic = self.topics.get_mut(ix);
        match self.config.budget_of(&topic.name) {
            Some(budget) => topic.meter.has_room(self.now, &budget),
            None => true,
        }
    }

    /// Counts and charges a received copy.
    pub(crate) fn count_received(&mut self, ix: TopicIx, len: usize) {
        let bytes = self.charge(ix, len, 1);
        self.topics.get_mut(ix).meter.totals.received_bytes += bytes;
    }

    /// Counts and charges copies for peers.
    pub(crate) fn count_sent(&mut self, ix: TopicIx, len: usize, copies: usize) {
        let bytes = self.charge(ix, len, copies);
        self.topics.get_mut(ix).meter.totals.sent_bytes += bytes;
    }

    /// Counts a valid message of a peer.
    pub(crate) fn count_accepted(&mut self, ix: TopicIx, len: usize) {
        let topic = self.topics.get_mut(ix);
        topic.meter.totals.accepted_bytes += bytes_of(&topic.name, len);
    }

    fn charge(&mut self, ix: TopicIx, len: usize, copies: usize) -> u64 {
        let topic = self.topics.get_mut(ix);
        let bytes = bytes_of(&topic.name, len).saturating_mul(copies as u64);
        if let Some(budget) = self.config.budget_of(&topic.name) {
            topic.meter.has_room(self.now, &budget);
            topic.meter.charge(bytes, &budget);
        }
        bytes
    }

    /// Returns the totals of a topic; zero for an unknown one.
    pub fn traffic(&self, topic: &Topic) -> TopicTraffic {
        let ix = self.topics.find(topic);
        ix.map_or_else(TopicTraffic::default, |ix| self.topics.get(ix).meter.totals)
    }

    /// Returns the time until a topic may use bandwidth again; zero if it may at `now`.
    pub fn bandwidth_wait(&self, now: Time, topic: &Topic) -> Duration {
        let (Some(ix), Some(budget)) = (self.topics.find(topic), self.config.budget_of(topic))
        else {
            return Duration::ZERO;
        };
        let mut meter = self.topics.get(ix).meter;
        if meter.has_room(now, &budget) {
            return Duration::ZERO;
        }
        let over = meter.used - burst(&budget) + 1;
        let wait_ns = over / i128::from(budget.bytes_per_s.max(1)) + 1;
        Duration::from_nanos(u64::try_from(wait_ns).unwrap_or(u64::MAX))
    }
}

/// Bytes of a message as the network counts them: its data and the name of its topic.
fn bytes_of(topic: &Topic, len: usize) -> u64 {
    (len + topic.as_bytes().len()) as u64
}
