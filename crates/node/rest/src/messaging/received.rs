//! Messages of subscribed content topics until they are fetched, each once, whether by relay or filter.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use undertone_message::{MessageHash, PubsubTopic};

use crate::cache::MAX_CONTENT_TOPICS;
use undertone_network::handle::Delivery;

/// Number of hashes remembered, so that no message is kept twice.
const RECENT_MAX: usize = 1_024;

/// A received message.
pub(super) struct ReceivedEntry {
    pub(super) hash: MessageHash,
    pub(super) delivery: Arc<Delivery>,
}

/// Subscribed content topics and their messages.
pub(crate) struct ReceivedMessages {
    capacity: usize,
    kept: Mutex<ReceivedState>,
}

#[derive(Default)]
struct ReceivedState {
    /// Content topics, each with the pubsub topic that carries it.
    topics: BTreeMap<String, PubsubTopic>,
    messages: VecDeque<ReceivedEntry>,
    recent: VecDeque<MessageHash>,
}

impl ReceivedMessages {
    /// Creates a store that keeps the newest `capacity` messages.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            kept: Mutex::default(),
        }
    }

    /// Starts to keep a topic's messages; returns whether they were not kept before.
    ///
    /// # Errors
    /// The maximum number of topics, if it is reached.
    pub(crate) fn subscribe(&self, topic: &str, carrier: PubsubTopic) -> Result<bool, usize> {
        let mut kept = self.kept.lock();
        if kept.topics.contains_key(topic) {
            return Ok(false);
        }
        if kept.topics.len() >= MAX_CONTENT_TOPICS {
            return Err(MAX_CONTENT_TOPICS);
        }
        kept.topics.insert(topic.to_owned(), carrier);
        Ok(true)
    }

    /// Stops keeping a topic's messages; returns whether it was subscribed to. Messages already received
    /// stay.
    pub(super) fn unsubscribe(&self, topic: &str) -> bool {
        self.kept.lock().topics.remove(topic).is_some()
    }

    pub(super) fn topics(&self) -> Vec<String> {
        self.kept.lock().topics.keys().cloned().collect()
    }

    /// Whether a subscribed content topic is carried by `carrier`.
    pub(crate) fn wants(&self, carrier: &PubsubTopic) -> bool {
        self.kept.lock().topics.values().any(|one| one == carrier)
    }

    /// Removes and returns the messages, the oldest first.
    pub(super) fn take(&self) -> Vec<ReceivedEntry> {
        std::mem::take(&mut self.kept.lock().messages).into()
    }

    /// Keeps a message if it is of a subscribed topic and not kept already.
    pub(crate) fn keep(&self, delivery: &Arc<Delivery>) {
        let topic = &*delivery.message.content_topic;
        let carrier = self.kept.lock().topics.get(topic).cloned();
        if carrier.is_none_or(|carrier| carrier != delivery.pubsub_topic) {
            return;
        }
        // Outside the lock, because hashing 150 kB takes as long as relaying.
        let hash = delivery.hash();
        let mut kept = self.kept.lock();
        if kept.recent.contains(&hash) {
            return;
        }
        kept.recent.push_back(hash);
        if kept.recent.len() > RECENT_MAX {
            kept.recent.pop_front();
        }
        kept.messages.push_back(ReceivedEntry {
            hash,
            delivery: Arc::clone(delivery),
        });
        while kept.messages.len() > self.capacity {
            kept.messages.pop_front();
        }
    }
}
