//! Messages that wait for the program, bounded by number and bytes.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use undertone_message::PubsubTopic;
use undertone_node::handle::{Delivery, MessageSink};

use crate::error::NodeError;

/// Messages that wait at most; further ones are dropped and counted.
pub(crate) const MESSAGES_MAX: usize = 4_096;

/// Bytes of payload that wait at most.
pub(crate) const BYTES_MAX: usize = 64 << 20;

/// Messages that the program wants: those of a pubsub topic, all of them or those with one content topic.
pub(crate) type WantedTopic = (PubsubTopic, Option<Arc<str>>);

/// Queue between the node's thread, which must not block, and the threads of the program.
#[derive(Default)]
pub(crate) struct MessageInbox {
    state: Mutex<InboxState>,
    changed: Condvar,
}

#[derive(Default)]
struct InboxState {
    wanted: BTreeSet<WantedTopic>,
    waiting: VecDeque<Delivery>,
    /// Bytes of the payloads of `waiting`.
    bytes: usize,
    dropped: u64,
    closed: bool,
}

impl MessageInbox {
    /// Takes messages of these topics from now on. Returns those that were not wanted before.
    pub(crate) fn want(&self, topics: &[WantedTopic]) -> Vec<WantedTopic> {
        let mut state = self.state.lock();
        let added = topics.iter().cloned();
        added
            .filter(|one| state.wanted.insert(one.clone()))
            .collect()
    }

    /// Takes no more messages of these topics, and returns those that were wanted. Messages that wait already stay.
    pub(crate) fn unwant(&self, topics: &[WantedTopic]) -> Vec<WantedTopic> {
        let mut state = self.state.lock();
        let removed = topics.iter().cloned();
        removed.filter(|one| state.wanted.remove(one)).collect()
    }

    /// Whether any message of a pubsub topic is wanted.
    pub(crate) fn wants_some(&self, topic: &PubsubTopic) -> bool {
        self.state.lock().wanted.iter().any(|(one, _)| one == topic)
    }

    /// Returns the number of messages that found no place.
    pub(crate) fn dropped(&self) -> u64 {
        self.state.lock().dropped
    }

    /// Ends the queue: what waits can still be taken, and nothing is added.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    /// Waits for a message; `None` if none came in time.
    ///
    /// # Errors
    /// [`NodeError::Stopped`] if the queue is closed and empty.
    pub(crate) fn take(&self, timeout: Duration) -> Result<Option<Delivery>, NodeError> {
        let deadline = Instant::now().checked_add(timeout);
        let mut state = self.state.lock();
        loop {
            if let Some(delivery) = state.waiting.pop_front() {
                state.bytes = state.bytes.saturating_sub(delivery.message.payload.len());
                return Ok(Some(delivery));
            }
            if state.closed {
                return Err(NodeError::Stopped);
            }
            let timed_out = match deadline {
                Some(deadline) => self.changed.wait_until(&mut state, deadline).timed_out(),
                None => {
                    self.changed.wait(&mut state);
                    false
                }
            };
            if timed_out && state.waiting.is_empty() && !state.closed {
                return Ok(None);
            }
        }
    }
}

impl InboxState {
    fn is_wanted(&self, delivery: &Delivery) -> bool {
        let topic = &delivery.pubsub_topic;
        let content_topic = &delivery.message.content_topic;
        let is_wanted = |content| self.wanted.contains(&(topic.clone(), content));
        is_wanted(None) || is_wanted(Some(content_topic.clone()))
    }
}

impl MessageSink for MessageInbox {
    fn deliver(&self, delivery: &Delivery) -> bool {
        let mut state = self.state.lock();
        if state.closed {
            return false;
        }
        if !state.is_wanted(delivery) {
            return true;
        }
        let bytes = state.bytes.saturating_add(delivery.message.payload.len());
        if state.waiting.len() >= MESSAGES_MAX || bytes > BYTES_MAX {
            state.dropped += 1;
            return true;
        }
        state.bytes = bytes;
        state.waiting.push_back(delivery.clone());
        drop(state);
        self.changed.notify_one();
        true
    }
}
