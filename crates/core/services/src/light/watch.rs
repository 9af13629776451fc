//! Recent messages, tracked to see which filter peers push them and which should have.

use std::collections::VecDeque;
use std::time::Duration;

use undertone_gossip::Time;
use undertone_message::MessageHash;

use crate::PeerNo;

/// Message seen recently.
#[derive(Debug)]
struct Sighting {
    hash: MessageHash,
    due: Time,
    pushed_by: Vec<PeerNo>,
    expected: Vec<PeerNo>,
}

/// Result of tracking one message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PushVerdict {
    /// Peers that should have pushed the message, and whether they did.
    pub(crate) peers: Vec<(PeerNo, bool)>,
}

impl PushVerdict {
    /// Whether any of the peers missed the message. Other messages may then have been missed by all.
    pub(crate) fn is_one_sided(&self) -> bool {
        self.peers.iter().any(|(_, has_pushed)| !has_pushed)
    }
}

/// Recent messages in the order in which they were first seen, bounded.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    sightings: VecDeque<Sighting>,
}

impl Watch {
    /// Adds a message that was first seen now, pushed by a peer or found in a store.
    pub(crate) fn first_seen(
        &mut self,
        now: Time,
        grace: Duration,
        hash: MessageHash,
        pushed_by: Option<PeerNo>,
        expected: Vec<PeerNo>,
    ) {
        self.sightings.push_back(Sighting {
            hash,
            due: now.after(grace),
            pushed_by: pushed_by.into_iter().collect(),
            expected,
        });
    }

    /// Records that another peer pushed a message seen before.
    pub(crate) fn seen_again(&mut self, hash: &MessageHash, peer: PeerNo) {
        let watched = self.sightings.iter_mut().rev().find(|s| s.hash == *hash);
        if let Some(watched) = watched
            && watched.expected.contains(&peer)
            && !watched.pushed_by.contains(&peer)
        {
            watched.pushed_by.push(peer);
        }
    }

    /// Returns the verdict on the oldest message, if it is due or more than `max` are tracked.
    pub(crate) fn verdict(&mut self, now: Time, max: usize) -> Option<PushVerdict> {
        let is_over_full = self.sightings.len() > max;
        let is_due = self.sightings.front().is_some_and(|s| s.due <= now);
        if !is_over_full && !is_due {
            return None;
        }
        let oldest = self.sightings.pop_front()?;
        let peers = oldest.expected.into_iter();
        let peers = peers.map(|peer| (peer, oldest.pushed_by.contains(&peer)));
        Some(PushVerdict {
            peers: peers.collect(),
        })
    }

    /// Forgets all messages, since nobody knows what peers should have pushed while this machine
    /// slept.
    pub(crate) fn clear(&mut self) {
        self.sightings.clear();
    }

    pub(crate) fn next_timeout(&self) -> Time {
        self.sightings.front().map_or(Time::MAX, |s| s.due)
    }
}
