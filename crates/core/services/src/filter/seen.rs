//! Hashes of recently pushed messages, so that none is pushed twice.

use std::{collections::BTreeMap, time::Duration};

use undertone_gossip::Time;
use undertone_message::MessageHash;

#[cfg(test)]
#[path = "tests/seen.rs"]
mod tests;

/// Hashes of messages with the time of the last arrival of each, the oldest first.
#[derive(Debug)]
pub(super) struct SeenMessages {
    ttl: Duration,
    max_messages: usize,
    places: BTreeMap<MessageHash, u64>,
    by_place: BTreeMap<u64, (Time, MessageHash)>,
    next_place: u64,
}

impl SeenMessages {
    pub(super) fn new(ttl: Duration, max_messages: usize) -> Self {
        Self {
            ttl,
            max_messages,
            places: BTreeMap::new(),
            by_place: BTreeMap::new(),
            next_place: 0,
        }
    }

    /// Records the arrival of a message; returns whether it is new. An arrival renews the entry, as in
    /// nwaku.
    pub(super) fn insert(&mut self, now: Time, hash: MessageHash) -> bool {
        self.expire(now);
        let place = self.next_place;
        self.next_place += 1;
        let old = self.places.insert(hash, place);
        if let Some(old) = old {
            self.by_place.remove(&old);
        } else if self.places.len() > self.max_messages
            && let Some((_, (_, oldest))) = self.by_place.pop_first()
        {
            self.places.remove(&oldest);
        }
        self.by_place.insert(place, (now, hash));
        old.is_none()
    }

    /// Forgets messages older than the time to live.
    pub(super) fn expire(&mut self, now: Time) {
        while let Some(entry) = self.by_place.first_entry() {
            let (at, hash) = *entry.get();
            if now.since(at) < self.ttl {
                break;
            }
            entry.remove();
            self.places.remove(&hash);
        }
    }

    pub(super) fn len(&self) -> usize {
        debug_assert_eq!(self.places.len(), self.by_place.len());
        self.places.len()
    }
}
