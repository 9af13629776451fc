//! The waiting room for messages whose root is not known: bounded, and shared fairly between the peers
//! that they came from.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use undertone_gossip::{MessageId, PeerIx};

/// Bounds of a [`Room`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoomLimits {
    /// Most messages that wait.
    pub(crate) max: usize,
    /// Most messages that wait from one peer.
    pub(crate) max_of_peer: usize,
}

/// What the room has to know about peers.
pub(crate) trait Known {
    /// Whether a peer has delivered a valid message before.
    fn is_proven(&self, peer: PeerIx) -> bool;

    /// Who has sent a copy of a message.
    fn senders(&self, id: &MessageId) -> &[PeerIx];
}

/// A message that waits.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    pub(crate) id: MessageId,
    /// The peer in whose places it waits: one that has sent it.
    pub(crate) from: PeerIx,
    pub(crate) what: T,
}

/// Messages that wait, in the order in which they came.
#[derive(Debug)]
pub(crate) struct Room<T> {
    limits: RoomLimits,
    waiting: BTreeMap<u64, Waiting<T>>,
    next_number: u64,
}

/// What a peer has in the room.
#[derive(Clone, Copy, Debug)]
struct Holding {
    count: usize,
    oldest: u64,
}

impl<T> Room<T> {
    pub(crate) fn new(limits: RoomLimits) -> Self {
        Self {
            limits,
            waiting: BTreeMap::new(),
            next_number: 0,
        }
    }

    /// Takes a message in, and returns those that had to make room for it.
    ///
    /// The peer with the most messages loses its oldest one; among equals one that has not delivered a
    /// valid message before, and then the one whose message has waited longest. A message that another
    /// peer has sent as well waits on in that one's places instead, if it has fewer.
    pub(crate) fn put(&mut self, message: Waiting<T>, known: &impl Known) -> Vec<Waiting<T>> {
        self.waiting.insert(self.next_number, message);
        self.next_number += 1;
        let mut displaced = Vec::new();
        while let Some((peer, holding)) = self.most_over(known) {
            let heir = self.heir(peer, holding, known);
            match (heir, self.waiting.get_mut(&holding.oldest)) {
                (Some(heir), Some(message)) => message.from = heir,
                _ => displaced.extend(self.waiting.remove(&holding.oldest)),
            }
        }
        displaced
    }

    /// Puts a message back that was taken out just now, behind all others.
    pub(crate) fn put_back(&mut self, message: Waiting<T>) {
        self.waiting.insert(self.next_number, message);
        self.next_number += 1;
    }

    /// Takes out what `is_it` is true of, the oldest first.
    pub(crate) fn take(&mut self, is_it: impl Fn(&Waiting<T>) -> bool) -> Vec<Waiting<T>> {
        let found = self.waiting.iter().filter(|(_, message)| is_it(message));
        let numbers: Vec<_> = found.map(|(number, _)| *number).collect();
        let taken = numbers.iter().filter_map(|n| self.waiting.remove(n));
        taken.collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting<T>> {
        self.waiting.values()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The peer that is to make room, while there are too many messages.
    fn most_over(&self, known: &impl Known) -> Option<(PeerIx, Holding)> {
        let holdings = self.holdings();
        let max_of_peer = self.limits.max_of_peer;
        let mut each = holdings.iter().map(|(peer, holding)| (*peer, *holding));
        if let Some(over) = each.find(|(_, holding)| holding.count > max_of_peer) {
            return Some(over);
        }
        if self.waiting.len() <= self.limits.max {
            return None;
        }
        holdings.into_iter().max_by_key(|(peer, holding)| {
            let is_stranger = !known.is_proven(*peer);
            (holding.count, is_stranger, Reverse(holding.oldest))
        })
    }

    /// Another peer that has sent the oldest message of `peer`, and has a better claim to a place. Each
    /// change of this kind makes the holdings more even, or gives a message to a proven peer.
    fn heir(&self, peer: PeerIx, holding: Holding, known: &impl Known) -> Option<PeerIx> {
        let holdings = self.holdings();
        let claim = |count: usize, peer: PeerIx| (count, !known.is_proven(peer));
        let lost = claim(holding.count, peer);
        let message = self.waiting.get(&holding.oldest)?;
        let heirs = known.senders(&message.id).iter().map(|heir| {
            let count = holdings.get(heir).map_or(0, |holding| holding.count);
            (claim(count + 1, *heir), *heir)
        });
        heirs
            .filter(|(claim, heir)| *heir != peer && *claim < lost)
            .min()
            .map(|(_, heir)| heir)
    }

    fn holdings(&self) -> BTreeMap<PeerIx, Holding> {
        let mut holdings = BTreeMap::new();
        for (number, message) in &self.waiting {
            let holding = holdings.entry(message.from).or_insert(Holding {
                count: 0,
                oldest: *number,
            });
            holding.count += 1;
        }
        holdings
    }
}

#[cfg(test)]
mod tests;
