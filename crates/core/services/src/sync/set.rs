//! Set of an archive's messages that take part in synchronisation.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use undertone_message::MessageHash;

use super::{Fingerprint, RangesPayload, SyncId, SyncLimits};

#[cfg(test)]
#[path = "tests/set.rs"]
mod tests;

/// Topics whose messages are synchronised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncScope {
    /// Pubsub topics; empty for all.
    pub pubsub_topics: BTreeSet<Arc<str>>,
    /// Content topics; empty for all.
    pub content_topics: BTreeSet<Arc<str>>,
}

impl SyncScope {
    /// Returns the intersection of this scope and a payload's; `None` if it is empty.
    pub fn intersection(&self, payload: &RangesPayload) -> Option<Self> {
        Some(Self {
            pubsub_topics: common(&self.pubsub_topics, &payload.pubsub_topics)?,
            content_topics: common(&self.content_topics, &payload.content_topics)?,
        })
    }

    /// Whether messages of these topics are synchronised.
    pub fn contains(&self, pubsub_topic: &str, content_topic: &str) -> bool {
        let has = |topics: &BTreeSet<Arc<str>>, topic| topics.is_empty() || topics.contains(topic);
        has(&self.pubsub_topics, pubsub_topic) && has(&self.content_topics, content_topic)
    }
}

/// Returns the intersection of two sets of topics, where an empty set means all topics; `None` if it is empty.
fn common(ours: &BTreeSet<Arc<str>>, theirs: &[Arc<str>]) -> Option<BTreeSet<Arc<str>>> {
    if ours.is_empty() {
        return Some(theirs.iter().cloned().collect());
    }
    if theirs.is_empty() {
        return Some(ours.clone());
    }
    let shared = theirs.iter().filter(|topic| ours.contains(*topic));
    let shared: BTreeSet<_> = shared.cloned().collect();
    (!shared.is_empty()).then_some(shared)
}

/// Topics of a message.
#[derive(Clone, Debug)]
struct MessageTopics {
    pubsub_topic: Arc<str>,
    content_topic: Arc<str>,
}

/// Set of an archive's messages, by timestamp and hash.
#[derive(Clone, Debug)]
pub struct SyncSet {
    messages: BTreeMap<SyncId, MessageTopics>,
    max: usize,
    /// Timestamp before which messages may have been removed to make room.
    complete_from: u64,
}

impl SyncSet {
    /// Creates an empty set.
    pub fn new(limits: &SyncLimits) -> Self {
        Self {
            messages: BTreeMap::new(),
            max: limits.max_set,
            complete_from: 0,
        }
    }

    /// Adds a message of the archive, and removes the oldest one if the set is full; returns whether the message
    /// was added. Ephemeral messages must not be added; those with a negative timestamp are refused.
    pub fn insert(
        &mut self,
        time_ns: i64,
        hash: MessageHash,
        pubsub_topic: Arc<str>,
        content_topic: Arc<str>,
    ) -> bool {
        let Ok(time_ns) = u64::try_from(time_ns) else {
            return false;
        };
        let id = SyncId { time_ns, hash };
        let topics = MessageTopics {
            pubsub_topic,
            content_topic,
        };
        if self.messages.insert(id, topics).is_some() {
            return false;
        }
        if self.messages.len() > self.max
            && let Some((first, _)) = self.messages.pop_first()
        {
            self.complete_from = self.complete_from.max(first.time_ns.saturating_add(1));
            return first != id;
        }
        true
    }

    /// Returns the timestamp, Unix nanoseconds, from which the set has every message inserted; 0 until one was
    /// removed to make room. A session about an earlier time would report messages as missing that the archive
    /// has.
    pub fn complete_from_ns(&self) -> i64 {
        i64::try_from(self.complete_from).unwrap_or(i64::MAX)
    }

    /// Removes the messages before a timestamp, Unix nanoseconds; returns their number.
    pub fn prune(&mut self, before_ns: i64) -> usize {
        let before = SyncId::at(u64::try_from(before_ns).unwrap_or(0));
        let kept = self.messages.split_off(&before);
        std::mem::replace(&mut self.messages, kept).len()
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether the set has no message.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns the messages of a scope as they are now.
    pub(super) fn view(&self, scope: &SyncScope) -> SetView {
        let in_scope = self
            .messages
            .iter()
            .filter(|(_, topics)| scope.contains(&topics.pubsub_topic, &topics.content_topic));
        SetView::new(in_scope.map(|(id, _)| *id).collect())
    }
}

/// Sorted messages with the fingerprint of each prefix, so that the fingerprint of any range takes constant time.
/// A session's view does not change with the set.
#[derive(Clone, Debug, Default)]
pub(super) struct SetView {
    ids: Vec<SyncId>,
    /// Fingerprints of the first 0, 1, 2 and so on messages.
    prefixes: Vec<Fingerprint>,
}

impl SetView {
    fn new(ids: Vec<SyncId>) -> Self {
        let mut prefixes = Vec::with_capacity(ids.len() + 1);
        let mut prefix = Fingerprint::EMPTY;
        prefixes.push(prefix);
        for id in &ids {
            prefix ^= &id.hash.0;
            prefixes.push(prefix);
        }
        Self { ids, prefixes }
    }

    /// Returns the indices of the messages from `lower` to before `upper`.
    pub(super) fn indices(&self, lower: SyncId, upper: SyncId) -> Range<usize> {
        let begin = self.ids.partition_point(|id| *id < lower);
        let end = self.ids.partition_point(|id| *id < upper);
        begin..end.max(begin)
    }

    /// Returns the messages from `lower` to before `upper`.
    pub(super) fn ids(&self, lower: SyncId, upper: SyncId) -> &[SyncId] {
        &self.ids[self.indices(lower, upper)]
    }

    /// Returns the fingerprint of the messages from `lower` to before `upper`.
    pub(super) fn fingerprint(&self, lower: SyncId, upper: SyncId) -> Fingerprint {
        let indices = self.indices(lower, upper);
        let at = |index| self.prefixes.get(index).copied().unwrap_or_default();
        let mut fingerprint = at(indices.start);
        fingerprint ^= &at(indices.end).0;
        fingerprint
    }
}
