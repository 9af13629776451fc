//! Messages that wait to be fetched, bounded for each topic.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use undertone_message::{PubsubTopic, WakuMessage};

use crate::handle::{Delivery, MessageSink};

#[cfg(test)]
mod tests;

/// Content topics that may be subscribed to at a time; pubsub topics are bounded by the node.
pub(super) const MAX_CONTENT_TOPICS: usize = 4096;

/// One queue for each topic that was subscribed to through the API; the oldest message goes first.
pub(super) struct MessageCache {
    capacity: usize,
    queues: Mutex<Queues>,
}

#[derive(Default)]
struct Queues {
    pubsub: BTreeMap<PubsubTopic, VecDeque<WakuMessage>>,
    content: BTreeMap<String, Content>,
}

/// A content topic and the pubsub topic it is carried by.
struct Content {
    carrier: PubsubTopic,
    messages: VecDeque<WakuMessage>,
}

/// The cache holds as many content topics as it may.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooManyTopics;

impl MessageCache {
    /// Keeps at most `capacity` messages for each topic.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            queues: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        // Every change below leaves the queues whole, even if a thread panics after it.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts keeping a topic's messages; `false` when it does already.
    pub(super) fn subscribe_pubsub(&self, topic: PubsubTopic) -> bool {
        let mut queues = self.lock();
        let is_new = !queues.pubsub.contains_key(&topic);
        queues.pubsub.entry(topic).or_default();
        is_new
    }

    /// Forgets a topic and its messages.
    pub(super) fn unsubscribe_pubsub(&self, topic: &PubsubTopic) {
        self.lock().pubsub.remove(topic);
    }

    /// Starts keeping a content topic's messages; `false` when it does already.
    pub(super) fn subscribe_content(
        &self,
        topic: &str,
        carrier: PubsubTopic,
    ) -> Result<bool, TooManyTopics> {
        let mut queues = self.lock();
        if queues.content.contains_key(topic) {
            return Ok(false);
        }
        if queues.content.len() >= MAX_CONTENT_TOPICS {
            return Err(TooManyTopics);
        }
        let content = Content {
            carrier,
            messages: VecDeque::new(),
        };
        queues.content.insert(topic.to_owned(), content);
        Ok(true)
    }

    /// Forgets a content topic and its messages.
    pub(super) fn unsubscribe_content(&self, topic: &str) {
        self.lock().content.remove(topic);
    }

    /// Whether anybody still wants messages that `topic` carries.
    pub(super) fn wants(&self, topic: &PubsubTopic) -> bool {
        let queues = self.lock();
        queues.pubsub.contains_key(topic)
            || queues
                .content
                .values()
                .any(|content| content.carrier == *topic)
    }

    /// Hands out and forgets what waits on a pubsub topic; `None` when not subscribed.
    pub(super) fn take_pubsub(&self, topic: &PubsubTopic) -> Option<Vec<WakuMessage>> {
        self.lock()
            .pubsub
            .get_mut(topic)
            .map(|queue| queue.drain(..).collect())
    }

    /// Hands out and forgets what waits on a content topic; `None` when not subscribed.
    pub(super) fn take_content(&self, topic: &str) -> Option<Vec<WakuMessage>> {
        self.lock()
            .content
            .get_mut(topic)
            .map(|content| content.messages.drain(..).collect())
    }
}

impl MessageSink for MessageCache {
    fn deliver(&self, delivery: &Delivery) -> bool {
        let mut queues = self.lock();
        if let Some(queue) = queues.pubsub.get_mut(&delivery.pubsub_topic) {
            push(queue, self.capacity, &delivery.message);
        }
        if let Some(content) = queues.content.get_mut(&*delivery.message.content_topic)
            && content.carrier == delivery.pubsub_topic
        {
            push(&mut content.messages, self.capacity, &delivery.message);
        }
        true
    }
}

fn push(queue: &mut VecDeque<WakuMessage>, capacity: usize, message: &WakuMessage) {
    while queue.len() >= capacity && queue.pop_front().is_some() {}
    queue.push_back(message.clone());
}
