//! Plan of what a node requests from stores after downtime.
//!
//! A node that comes back requests the time from shortly before its last message until now, the oldest message first,
//! on each of its topics. [`ResumePlan`] has the queries. [`Deduplicator`] separates new messages from those that the
//! node has or that another server has already returned.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use undertone_message::MessageHash;

use crate::history::{ContentCriteria, HistoryCriteria, HistoryQuery, PAGE_MAX, PageDirection};

#[cfg(test)]
#[path = "tests/resume.rs"]
mod tests;

/// Limits on what a node requests after downtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResumeLimits {
    /// Overlap before the last known message, because messages with close timestamps arrive in any order. Stores accept
    /// timestamps up to 20 s off (RFC 13), so 20 s is the smallest value that misses nothing.
    pub overlap: Duration,
    /// Maximum time back from now; nwaku uses 6 hours.
    pub max_back: Duration,
}

impl Default for ResumeLimits {
    fn default() -> Self {
        Self {
            overlap: Duration::from_secs(20),
            max_back: Duration::from_secs(6 * 3600),
        }
    }
}

/// Queries with which a node catches up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumePlan {
    /// Earliest timestamp asked for, Unix nanoseconds.
    pub start_ns: i64,
    /// Latest timestamp asked for, Unix nanoseconds.
    pub end_ns: i64,
    /// Whether the node was away for longer than [`ResumeLimits::max_back`], so that messages before
    /// [`start_ns`](Self::start_ns) stay missing.
    pub is_incomplete: bool,
    /// First page of each topic, forward.
    pub queries: Vec<HistoryQuery>,
}

impl ResumePlan {
    /// Creates the plan of a node whose newest message has the timestamp `last_known_ns`, `None` if it has no message,
    /// at the time `now_ns`; both are Unix nanoseconds. A timestamp in the future, from a clock that was ahead, is
    /// ignored.
    pub fn new(
        last_known_ns: Option<i64>,
        now_ns: i64,
        topics: impl IntoIterator<Item = Arc<str>>,
        limits: &ResumeLimits,
    ) -> Self {
        let earliest_ns = now_ns.saturating_sub(nanos(limits.max_back));
        let overlap_ns = nanos(limits.overlap);
        let wanted_ns = last_known_ns
            .filter(|last_ns| *last_ns <= now_ns.saturating_add(overlap_ns))
            .map(|last_ns| last_ns.min(now_ns).saturating_sub(overlap_ns));
        let start_ns = wanted_ns.unwrap_or(earliest_ns).max(earliest_ns);
        let query = |topic| HistoryQuery {
            include_data: true,
            criteria: HistoryCriteria::Content(ContentCriteria {
                pubsub_topic: Some(topic),
                content_topics: Vec::new(),
                start_ns: Some(start_ns),
                end_ns: Some(now_ns),
            }),
            cursor: None,
            direction: PageDirection::Forward,
            limit: PAGE_MAX,
        };
        Self {
            start_ns,
            end_ns: now_ns,
            is_incomplete: wanted_ns.is_none_or(|wanted_ns| wanted_ns < earliest_ns),
            queries: topics.into_iter().map(query).collect(),
        }
    }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// Bounded memory of message hashes; the oldest hash is forgotten first.
#[derive(Clone, Debug)]
pub struct Deduplicator {
    known: BTreeSet<MessageHash>,
    /// The known hashes, the oldest at the front.
    order: VecDeque<MessageHash>,
    capacity: usize,
}

impl Deduplicator {
    /// Creates a memory of `capacity` hashes.
    pub fn new(capacity: usize) -> Self {
        Self {
            known: BTreeSet::new(),
            order: VecDeque::new(),
            capacity,
        }
    }

    /// Remembers a message; returns whether it is new.
    pub fn insert(&mut self, hash: MessageHash) -> bool {
        if !self.known.insert(hash) {
            return false;
        }
        self.order.push_back(hash);
        if self.order.len() > self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}
