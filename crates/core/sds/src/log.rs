//! Local log of a channel: the delivered messages, in the order of Lamport timestamp and id.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use undertone_gossip::Time;

use super::{CausalHistoryEntry, Id, SdsLimits};

/// Number of ids at the end of the log that every message names, besides those that no message has named yet.
const LATEST_NAMED: usize = 2;

/// Delivered message, without its content.
#[derive(Debug, Clone)]
pub(super) struct LogEntry {
    pub(super) lamport: u64,
    pub(super) sender: Id,
    pub(super) hint: Option<Vec<u8>>,
    /// Message as sent, kept for repair as long as there is room.
    pub(super) frame: Option<Arc<[u8]>>,
    /// Time of the last repair response with this message.
    pub(super) answered_at: Option<Time>,
}

#[derive(Debug, Default)]
pub(super) struct Log {
    entries: BTreeMap<Id, LogEntry>,
    order: BTreeSet<(u64, Id)>,
    /// Messages that no delivered message names. Naming them lets others find everything that they miss.
    heads: BTreeSet<(u64, Id)>,
    arrival: VecDeque<Id>,
    /// Messages whose frame is kept, in the order of arrival.
    cached: VecDeque<Id>,
    cached_bytes: usize,
}

impl Log {
    pub(super) fn contains(&self, id: &str) -> bool {
        self.entries.contains_key(id)
    }

    pub(super) fn get(&self, id: &str) -> Option<&LogEntry> {
        self.entries.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut LogEntry> {
        self.entries.get_mut(id)
    }

    /// Appends a delivered message that names the messages `named`. When the log is full, the message that arrived
    /// first is dropped, not the one with the lowest timestamp: timestamps are only claims of other members.
    pub(super) fn insert<'a>(
        &mut self,
        id: &Id,
        entry: LogEntry,
        named: impl IntoIterator<Item = &'a str>,
        limits: &SdsLimits,
    ) {
        if self.contains(id) {
            return;
        }
        for name in named {
            if let Some((name, before)) = self.entries.get_key_value(name) {
                self.heads.remove(&(before.lamport, name.clone()));
            }
        }
        let key = (entry.lamport, id.clone());
        self.order.insert(key.clone());
        self.heads.insert(key);
        self.arrival.push_back(id.clone());
        if let Some(frame) = &entry.frame {
            self.cached_bytes += frame.len();
            self.cached.push_back(id.clone());
        }
        self.entries.insert(id.clone(), entry);
        while self.entries.len() > limits.max_log.max(LATEST_NAMED) {
            self.forget_first();
        }
        while self.cached_bytes > limits.max_cached_bytes {
            self.drop_first_frame();
        }
    }

    fn forget_first(&mut self) {
        let Some(id) = self.arrival.pop_front() else {
            return;
        };
        if self.cached.front() == Some(&id) {
            self.drop_first_frame();
        }
        if let Some(entry) = self.entries.remove(&id) {
            let key = (entry.lamport, id);
            self.order.remove(&key);
            self.heads.remove(&key);
        }
    }

    fn drop_first_frame(&mut self) {
        let Some(id) = self.cached.pop_front() else {
            return;
        };
        let frame = self
            .entries
            .get_mut(&id)
            .and_then(|entry| entry.frame.take());
        self.cached_bytes -= frame.map_or(0, |frame| frame.len());
    }

    /// Returns entries for the causal history of a new message, at most `max`: the latest two, then the messages
    /// that nobody has named, the oldest first, then further ones from the end of the log.
    pub(super) fn causal_history(&self, max: usize, with_senders: bool) -> Vec<CausalHistoryEntry> {
        let latest = self.order.iter().rev();
        let candidates = latest
            .clone()
            .take(LATEST_NAMED)
            .chain(self.heads.iter())
            .chain(latest.skip(LATEST_NAMED));
        let mut chosen = BTreeSet::new();
        for key in candidates {
            if chosen.len() >= max.max(LATEST_NAMED) {
                break;
            }
            chosen.insert(key);
        }
        let entries = chosen.into_iter().filter_map(|(_, id)| {
            let entry = self.entries.get(id)?;
            Some(CausalHistoryEntry {
                message_id: id.clone(),
                retrieval_hint: entry.hint.clone(),
                sender_id: with_senders.then(|| entry.sender.clone()),
            })
        });
        entries.collect()
    }

    /// Iterates over the messages in the order of arrival, with whether they are still unnamed.
    pub(super) fn by_arrival(&self) -> impl DoubleEndedIterator<Item = (&Id, &LogEntry, bool)> {
        self.arrival.iter().filter_map(|id| {
            let entry = self.entries.get(id)?;
            let is_head = self.heads.contains(&(entry.lamport, id.clone()));
            Some((id, entry, is_head))
        })
    }

    /// Removes a message from those that nobody has named.
    pub(super) fn mark_named(&mut self, id: &Id) {
        if let Some(entry) = self.entries.get(id) {
            self.heads.remove(&(entry.lamport, id.clone()));
        }
    }

    /// Iterates over the ids in the order of Lamport timestamp and id.
    pub(super) fn ordered(&self) -> impl Iterator<Item = &Id> {
        self.order.iter().map(|(_, id)| id)
    }

    #[cfg(test)]
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.entries.len(), self.cached_bytes)
    }
}
