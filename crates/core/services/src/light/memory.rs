//! Bounded memory of hashes of delivered messages, so that none is delivered twice.

use std::collections::{BTreeMap, BTreeSet};

use undertone_message::MessageHash;

#[cfg(test)]
#[path = "tests/memory.rs"]
mod tests;

/// Result of remembering a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remembered {
    /// The message is new.
    New,
    /// The application has the message.
    Known,
    /// The message is no newer than a forgotten one, so it may already have been delivered.
    TooOld,
    /// The memory is full of recent messages; the message is left for a comparison with history.
    Full,
}

/// Hashes of delivered messages. The oldest by timestamp are forgotten first.
///
/// A pushed message that is no newer than a forgotten one counts as delivered: a replay cannot be told
/// from a straggler. Recent messages are never forgotten. Otherwise a peer could flood the memory to make
/// the client treat new messages as old.
#[derive(Debug)]
pub(crate) struct DeliveryMemory {
    capacity: usize,
    timestamps: BTreeMap<MessageHash, i64>,
    oldest_first: BTreeSet<(i64, MessageHash)>,
    forgotten_until: Option<i64>,
}

impl DeliveryMemory {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            timestamps: BTreeMap::new(),
            oldest_first: BTreeSet::new(),
            forgotten_until: None,
        }
    }

    /// Returns the timestamp of a remembered message.
    pub(crate) fn timestamp(&self, hash: &MessageHash) -> Option<i64> {
        self.timestamps.get(hash).copied()
    }

    /// Returns the latest timestamp among forgotten messages.
    pub(crate) fn forgotten_until(&self) -> Option<i64> {
        self.forgotten_until
    }

    /// Remembers a pushed message.
    ///
    /// Only messages with timestamps before `keep_from_ns` may be forgotten to make room.
    pub(crate) fn pushed(
        &mut self,
        hash: MessageHash,
        timestamp: i64,
        keep_from_ns: i64,
    ) -> Remembered {
        if !self.timestamps.contains_key(&hash)
            && self.forgotten_until.is_some_and(|until| timestamp <= until)
        {
            return Remembered::TooOld;
        }
        self.insert(hash, timestamp, keep_from_ns)
    }

    /// Remembers a message that a listing showed to be missing. The listing has already checked its age.
    pub(crate) fn recovered(
        &mut self,
        hash: MessageHash,
        timestamp: i64,
        keep_from_ns: i64,
    ) -> Remembered {
        self.insert(hash, timestamp, keep_from_ns)
    }

    fn insert(&mut self, hash: MessageHash, timestamp: i64, keep_from_ns: i64) -> Remembered {
        if self.timestamps.contains_key(&hash) {
            return Remembered::Known;
        }
        if self.timestamps.len() >= self.capacity {
            // The oldest message is forgotten, which may be the new one.
            let stored = self.oldest_first.first().copied();
            let oldest = stored.map_or((timestamp, hash), |stored| stored.min((timestamp, hash)));
            if oldest.0 >= keep_from_ns {
                return Remembered::Full;
            }
            self.forgotten_until = self.forgotten_until.max(Some(oldest.0));
            if oldest.1 == hash {
                return Remembered::New;
            }
            self.oldest_first.remove(&oldest);
            self.timestamps.remove(&oldest.1);
        }
        self.timestamps.insert(hash, timestamp);
        self.oldest_first.insert((timestamp, hash));
        Remembered::New
    }
}
