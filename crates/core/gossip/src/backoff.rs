//! Backoffs: peers that must not be grafted, and until when.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::time::Time;
use crate::topics::TopicIx;
use crate::types::PeerIx;

/// Backoff of one PRUNE, sent or received.
#[derive(Clone, Copy, Debug)]
struct Entry {
    pruned_at: Time,
    until: Time,
}

/// Backoffs by topic and peer. They outlive the connection; otherwise reconnecting would undo a PRUNE.
/// Entries exist only for joined topics, so remote peers cannot create any others (GHSA-vrx6-jcp8-vm7m).
#[derive(Debug)]
pub(crate) struct Backoffs {
    entries: BTreeMap<(TopicIx, PeerIx), Entry>,
    /// Time for which an entry is kept after its end, because the slack is added to it.
    slack: Duration,
    max: usize,
}

impl Backoffs {
    pub(crate) fn new(slack: Duration, max: usize) -> Self {
        Self {
            entries: BTreeMap::new(),
            slack,
            max,
        }
    }

    /// Sets a backoff from `now`; the later of the old and the new end applies.
    pub(crate) fn set(&mut self, topic: TopicIx, peer: PeerIx, now: Time, backoff: Duration) {
        let until = now.after(backoff);
        if let Some(entry) = self.entries.get_mut(&(topic, peer)) {
            entry.pruned_at = now;
            entry.until = entry.until.max(until);
        } else if self.entries.len() < self.max {
            self.entries.insert(
                (topic, peer),
                Entry {
                    pruned_at: now,
                    until,
                },
            );
        }
    }

    /// Returns the time of the PRUNE if the backoff is still running; a GRAFT from the peer is judged by
    /// it.
    pub(crate) fn active(&self, topic: TopicIx, peer: PeerIx, now: Time) -> Option<Time> {
        let entry = self.entries.get(&(topic, peer))?;
        (now < entry.until).then_some(entry.pruned_at)
    }

    /// Whether this node must not graft the peer yet; this lasts until the end of the backoff plus the
    /// slack.
    pub(crate) fn blocks_graft(&self, topic: TopicIx, peer: PeerIx, now: Time) -> bool {
        let entry = self.entries.get(&(topic, peer));
        entry.is_some_and(|entry| now < entry.until.after(self.slack))
    }

    pub(crate) fn clear_expired(&mut self, now: Time) {
        let slack = self.slack;
        self.entries
            .retain(|_, entry| now < entry.until.after(slack));
    }

    /// Peers with at least one entry.
    pub(crate) fn peers(&self) -> BTreeSet<PeerIx> {
        self.entries.keys().map(|(_, peer)| *peer).collect()
    }

    pub(crate) fn forget(&mut self, peer: PeerIx) {
        self.entries.retain(|(_, p), _| *p != peer);
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}
