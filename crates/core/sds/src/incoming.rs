//! Received messages that wait for the messages they name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use undertone_gossip::Time;

use super::{CausalHistoryEntry, Id, SdsLimits};

/// Received message with content.
#[derive(Debug, Clone)]
pub(super) struct ReceivedContent {
    pub(super) id: Id,
    pub(super) sender: Id,
    pub(super) lamport: u64,
    pub(super) history: Vec<CausalHistoryEntry>,
    pub(super) payload: Vec<u8>,
    pub(super) hint: Option<Vec<u8>>,
    pub(super) frame: Arc<[u8]>,
}

impl ReceivedContent {
    /// Returns the approximate memory of the message: its frame and the decoded parts.
    fn cost(&self) -> usize {
        2 * self.frame.len()
    }
}

#[derive(Debug)]
struct PendingContent {
    message: ReceivedContent,
    missing: BTreeSet<Id>,
    deadline: Time,
    arrival: u64,
}

/// Buffer of incoming messages with unmet dependencies.
#[derive(Debug, Default)]
pub(super) struct IncomingBuffer {
    pending: BTreeMap<Id, PendingContent>,
    by_arrival: BTreeMap<u64, Id>,
    /// Waiting messages, by the message they wait for.
    waiting: BTreeMap<Id, BTreeSet<Id>>,
    bytes: usize,
    next_arrival: u64,
}

impl IncomingBuffer {
    pub(super) fn contains(&self, id: &str) -> bool {
        self.pending.contains_key(id)
    }

    /// Adds a message that waits for `missing` until `deadline`. Deadlines must not decrease.
    pub(super) fn insert(
        &mut self,
        message: ReceivedContent,
        missing: BTreeSet<Id>,
        deadline: Time,
    ) {
        let id = message.id.clone();
        for dependency in &missing {
            let waiting = self.waiting.entry(dependency.clone()).or_default();
            waiting.insert(id.clone());
        }
        let arrival = self.next_arrival;
        self.next_arrival += 1;
        self.bytes += message.cost();
        self.by_arrival.insert(arrival, id.clone());
        let pending = PendingContent {
            message,
            missing,
            deadline,
            arrival,
        };
        self.pending.insert(id, pending);
    }

    /// Removes and returns the messages that waited only for `dependency`.
    pub(super) fn met(&mut self, dependency: &str) -> Vec<ReceivedContent> {
        let waiting = self.waiting.remove(dependency).unwrap_or_default();
        let mut ready = Vec::new();
        for id in waiting {
            let Some(pending) = self.pending.get_mut(&id) else {
                continue;
            };
            pending.missing.remove(dependency);
            if pending.missing.is_empty() {
                ready.extend(self.take(&id).map(|(message, _)| message));
            }
        }
        ready
    }

    /// Removes and returns the message that waited longest, with the messages it still waits for.
    pub(super) fn take_oldest(&mut self) -> Option<(ReceivedContent, BTreeSet<Id>)> {
        let id = self.by_arrival.first_key_value()?.1.clone();
        self.take(&id)
    }

    fn take(&mut self, id: &str) -> Option<(ReceivedContent, BTreeSet<Id>)> {
        let pending = self.pending.remove(id)?;
        self.by_arrival.remove(&pending.arrival);
        self.bytes -= pending.message.cost();
        for dependency in &pending.missing {
            if let Some(waiting) = self.waiting.get_mut(dependency) {
                waiting.remove(id);
                if waiting.is_empty() {
                    self.waiting.remove(dependency);
                }
            }
        }
        Some((pending.message, pending.missing))
    }

    pub(super) fn is_over(&self, limits: &SdsLimits) -> bool {
        self.pending.len() > limits.max_pending || self.bytes > limits.max_pending_bytes
    }

    /// Returns the deadline of the message that waited longest.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        let (_, id) = self.by_arrival.first_key_value()?;
        Some(self.pending.get(id)?.deadline)
    }

    /// Returns references to messages that others wait for.
    pub(super) fn unmet(&self) -> impl Iterator<Item = &CausalHistoryEntry> {
        self.pending.values().flat_map(|pending| {
            let history = pending.message.history.iter();
            history.filter(|entry| pending.missing.contains(&entry.message_id))
        })
    }

    /// Messages in the order of arrival.
    pub(super) fn iter(&self) -> impl Iterator<Item = &ReceivedContent> {
        let pending = self
            .by_arrival
            .values()
            .filter_map(|id| self.pending.get(id));
        pending.map(|pending| &pending.message)
    }

    #[cfg(test)]
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.pending.len(), self.bytes)
    }
}
