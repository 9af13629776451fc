//! Who must not be grafted, and until when.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::time::Time;
use crate::topics::TopicIx;
use crate::types::PeerIx;

/// One PRUNE, ours or theirs.
#[derive(Clone, Copy, Debug)]
struct Entry {
    pruned_at: Time,
    until: Time,
}

/// Backoffs by topic and peer. They outlive the connection, or reconnecting would undo a PRUNE.
/// Entries exist only for topics we joined, so remotes cannot invent any (GHSA-vrx6-jcp8-vm7m).
#[derive(Debug)]
pub(crate) struct Backoffs {
    entries: BTreeMap<(TopicIx, PeerIx), Entry>,
    /// Time to keep an entry after it ended, so that the slack still finds it.
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

    /// Keeps the later of the old and the new end.
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

    /// When the peer was pruned, if it must still stay away: what its GRAFT is judged by.
    pub(crate) fn active(&self, topic: TopicIx, peer: PeerIx, now: Time) -> Option<Time> {
        let entry = self.entries.get(&(topic, peer))?;
        (now < entry.until).then_some(entry.pruned_at)
    }

    /// Whether we must not graft the peer yet: until the end, plus the slack.
    pub(crate) fn blocks_graft(&self, topic: TopicIx, peer: PeerIx, now: Time) -> bool {
        let entry = self.entries.get(&(topic, peer));
        entry.is_some_and(|entry| now < entry.until.after(self.slack))
    }

    pub(crate) fn clear_expired(&mut self, now: Time) {
        let slack = self.slack;
        self.entries
            .retain(|_, entry| now < entry.until.after(slack));
    }

    /// Peers that have an entry.
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
