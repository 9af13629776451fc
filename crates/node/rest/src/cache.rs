//! Cache of messages to be fetched by pubsub topic or by content topic, bounded for each topic.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use undertone_message::PubsubTopic;

use undertone_network::handle::Delivery;

#[cfg(test)]
#[path = "tests/cache.rs"]
mod tests;

/// Most content topics subscribed to at a time; pubsub topics are bounded by the node.
pub(super) const MAX_CONTENT_TOPICS: usize = 4096;

/// Most unsubscribed content topics that are remembered as seen.
const SEEN_TOPICS_MAX: usize = 4096;

/// Most content topics that are remembered as unsubscribed from.
const DROPPED_TOPICS_MAX: usize = 4096;

/// Longest seen content topic that is remembered, bytes, because peers choose it.
const SEEN_TOPIC_BYTES_MAX: usize = 256;

/// Messages indexed by pubsub topic and by content topic. Each topic keeps at most `capacity` messages and
/// drops the oldest first. A message fetched through one index is gone from the other.
pub(super) struct MessageCache {
    capacity: usize,
    kept: Mutex<Kept>,
}

/// Messages in the order of their arrival, each with its number.
type Queue = VecDeque<(u64, Arc<Delivery>)>;

/// Contents of the cache.
#[derive(Default)]
struct Kept {
    /// Number of the next message; identifies the same message in several queues.
    next: u64,
    pubsub: BTreeMap<PubsubTopic, Queue>,
    content: BTreeMap<String, ContentQueue>,
    /// Content topics that came on subscribed pubsub topics, each with the number of its last message.
    seen: BTreeMap<String, u64>,
    /// Content topics that were unsubscribed from. Their messages are not remembered as seen; they stay in the
    /// queues of pubsub topics.
    dropped: BTreeSet<String>,
}

/// A subscribed content topic: the pubsub topic that carries it, `None` for any, and its messages.
struct ContentQueue {
    carrier: Option<PubsubTopic>,
    queue: Queue,
}

/// Error: the cache holds as many content topics as it may.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooManyTopics;

impl MessageCache {
    /// Creates a cache that keeps at most `capacity` messages for each topic.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            kept: Mutex::default(),
        }
    }

    /// Starts to keep a topic's messages; returns `false` if they are kept already.
    pub(super) fn subscribe_pubsub(&self, topic: PubsubTopic) -> bool {
        let mut kept = self.kept.lock();
        let is_new = !kept.pubsub.contains_key(&topic);
        kept.pubsub.entry(topic).or_default();
        is_new
    }

    /// Forgets a topic, and its messages unless a content topic keeps them.
    pub(super) fn unsubscribe_pubsub(&self, topic: &PubsubTopic) {
        self.kept.lock().pubsub.remove(topic);
    }

    /// Starts to keep a content topic's messages: those on `carrier`, or on any pubsub topic if it is `None`.
    /// Returns `false` if they are kept already.
    pub(super) fn subscribe_content(
        &self,
        topic: &str,
        carrier: Option<PubsubTopic>,
    ) -> Result<bool, TooManyTopics> {
        let mut kept = self.kept.lock();
        if kept.content.contains_key(topic) {
            return Ok(false);
        }
        if kept.content.len() >= MAX_CONTENT_TOPICS {
            return Err(TooManyTopics);
        }
        let content = ContentQueue {
            carrier,
            queue: Queue::new(),
        };
        kept.content.insert(topic.to_owned(), content);
        kept.dropped.remove(topic);
        Ok(true)
    }

    /// Forgets a content topic, and its messages unless a pubsub topic keeps them. Later messages are not kept
    /// for it either until it is subscribed to again.
    pub(super) fn unsubscribe_content(&self, topic: &str) {
        let mut kept = self.kept.lock();
        kept.seen.remove(topic);
        if kept.dropped.len() >= DROPPED_TOPICS_MAX {
            kept.dropped.pop_first();
        }
        kept.dropped.insert(topic.to_owned());
        kept.content.remove(topic);
    }

    /// Forgets all topics and messages.
    pub(super) fn clear(&self) {
        *self.kept.lock() = Kept::default();
    }

    /// Whether some subscription still needs messages that `topic` carries.
    pub(super) fn wants(&self, topic: &PubsubTopic) -> bool {
        let kept = self.kept.lock();
        kept.pubsub.contains_key(topic)
            || kept
                .content
                .values()
                .any(|content| content.carrier.as_ref() == Some(topic))
    }

    /// Keeps a message for the topics that are subscribed to.
    pub(super) fn keep(&self, delivery: &Arc<Delivery>) {
        let mut guard = self.kept.lock();
        let kept = &mut *guard;
        let (carrier, topic) = (&delivery.pubsub_topic, &*delivery.message.content_topic);
        let by_pubsub = kept.pubsub.get_mut(carrier);
        let by_content = kept.content.get_mut(topic);
        let by_content = by_content.filter(|content| {
            let own = content.carrier.as_ref();
            own.is_none_or(|own| own == carrier)
        });
        let number = kept.next;
        kept.next += 1;
        let is_seen = by_pubsub.is_some();
        let content_queue = by_content.map(|content| &mut content.queue);
        for queue in by_pubsub.into_iter().chain(content_queue) {
            while queue.len() >= self.capacity && queue.pop_front().is_some() {}
            queue.push_back((number, Arc::clone(delivery)));
        }
        if is_seen {
            kept.remember(topic, number);
        }
    }

    /// Removes and returns the messages of a pubsub topic; `None` if it is not subscribed to.
    pub(super) fn take_pubsub(&self, topic: &PubsubTopic) -> Option<Vec<Arc<Delivery>>> {
        let mut kept = self.kept.lock();
        let queue = std::mem::take(kept.pubsub.get_mut(topic)?);
        Some(kept.take(queue))
    }

    /// Removes and returns the messages of a content topic. Returns `None` if it is not subscribed to and none of
    /// its messages arrived on a subscribed pubsub topic.
    pub(super) fn take_content(&self, topic: &str) -> Option<Vec<Arc<Delivery>>> {
        let mut kept = self.kept.lock();
        if let Some(content) = kept.content.get_mut(topic) {
            let queue = std::mem::take(&mut content.queue);
            return Some(kept.take(queue));
        }
        if !kept.seen.contains_key(topic) {
            return None;
        }
        let all = kept.pubsub.values().flatten();
        let of_topic = all.filter(|(_, one)| *one.message.content_topic == *topic);
        let queue = of_topic.cloned().collect();
        Some(kept.take(queue))
    }
}

impl Kept {
    /// Removes messages from all queues and returns them in the order of their arrival.
    fn take(&mut self, messages: Queue) -> Vec<Arc<Delivery>> {
        let taken: BTreeMap<_, _> = messages.into_iter().collect();
        let contents = self.content.values_mut().map(|content| &mut content.queue);
        for queue in self.pubsub.values_mut().chain(contents) {
            queue.retain(|(number, _)| !taken.contains_key(number));
        }
        taken.into_values().collect()
    }

    fn remember(&mut self, topic: &str, number: u64) {
        if topic.len() > SEEN_TOPIC_BYTES_MAX || self.dropped.contains(topic) {
            return;
        }
        if let Some(last) = self.seen.get_mut(topic) {
            *last = number;
            return;
        }
        if self.seen.len() >= SEEN_TOPICS_MAX
            && let Some(oldest) = self.seen.iter().min_by_key(|(_, last)| **last)
        {
            let oldest = oldest.0.clone();
            self.seen.remove(&oldest);
        }
        self.seen.insert(topic.to_owned(), number);
    }
}
