//! Bounded waiting room for messages with unknown roots, shared fairly between the peers that sent them.
//! Proven peers have their own slots, which no number of strangers can fill.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bytes::Bytes;
use undertone_gossip::{MessageId, PeerIx, Time, Topic};

/// Limits on messages that wait for roots.
pub(crate) const ROOM: RoomLimits = RoomLimits {
    max_of_proven: 128,
    max_of_strangers: 128,
    max_of_stranger: 16,
};

/// Content of a message that waits for roots.
#[derive(Debug)]
pub(crate) struct AwaitingRoot {
    pub(crate) topic: Topic,
    pub(crate) data: Bytes,
    pub(crate) until: Time,
}

/// Bounds of a [`Room`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoomLimits {
    /// Maximum number of waiting messages attributed to proven peers, all together.
    pub(crate) max_of_proven: usize,
    /// Maximum number of waiting messages attributed to peers that are not proven, all together.
    pub(crate) max_of_strangers: usize,
    /// Maximum number of waiting messages attributed to one peer that is not proven.
    pub(crate) max_of_stranger: usize,
}

/// What the room needs to know about peers.
pub(crate) trait PeerKnowledge {
    /// Whether a valid proof of the peer is on record (and no invalid one since).
    fn is_proven(&self, peer: PeerIx) -> bool;

    /// Returns the peers that have sent a copy of a message.
    fn senders(&self, id: &MessageId) -> &[PeerIx];
}

/// A message waiting in the room.
#[derive(Debug)]
pub(crate) struct WaitingMessage<T> {
    pub(crate) id: MessageId,
    /// Sender to whose share of the room the message counts.
    pub(crate) from: PeerIx,
    pub(crate) what: T,
}

/// Waiting messages, in the order of their arrival.
#[derive(Debug)]
pub(crate) struct Room<T> {
    limits: RoomLimits,
    waiting: BTreeMap<u64, WaitingMessage<T>>,
    next_number: u64,
}

/// Share of the room that a peer uses.
#[derive(Clone, Copy, Debug)]
struct Holding {
    is_proven: bool,
    count: usize,
    oldest: u64,
}

/// A peer's claim to a slot; smaller is better: whether it is a stranger, and how many slots it would have.
type Claim = (bool, usize);

impl<T> Room<T> {
    pub(crate) fn new(limits: RoomLimits) -> Self {
        Self {
            limits,
            waiting: BTreeMap::new(),
            next_number: 0,
        }
    }

    /// Adds a message, and returns those that it displaces.
    ///
    /// A peer loses its oldest message if it is a stranger over its own limit, or if it has the most of all
    /// strangers or of all proven peers, and these together exceed their limit. Among equals, the one whose
    /// message has waited longest loses. If another peer has sent that message too, the message is
    /// attributed to that peer instead, provided that only that peer is proven or that it has fewer.
    pub(crate) fn put(
        &mut self,
        message: WaitingMessage<T>,
        known: &impl PeerKnowledge,
    ) -> Vec<WaitingMessage<T>> {
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

    /// Puts back a message that was just removed, after all others.
    pub(crate) fn put_back(&mut self, message: WaitingMessage<T>) {
        self.waiting.insert(self.next_number, message);
        self.next_number += 1;
    }

    /// Removes and returns the messages for which `is_it` returns true, the oldest first.
    pub(crate) fn take(
        &mut self,
        is_it: impl Fn(&WaitingMessage<T>) -> bool,
    ) -> Vec<WaitingMessage<T>> {
        let found = self.waiting.iter().filter(|(_, message)| is_it(message));
        let numbers: Vec<_> = found.map(|(number, _)| *number).collect();
        let taken = numbers.iter().filter_map(|n| self.waiting.remove(n));
        taken.collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &WaitingMessage<T>> {
        self.waiting.values()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns the peer that has to make room, if there are too many messages.
    fn most_over(&self, known: &impl PeerKnowledge) -> Option<(PeerIx, Holding)> {
        let holdings = self.holdings(known);
        let is_over =
            |holding: &Holding| !holding.is_proven && holding.count > self.limits.max_of_stranger;
        if let Some((peer, holding)) = holdings.iter().find(|(_, holding)| is_over(holding)) {
            return Some((*peer, *holding));
        }
        let most_of = |is_proven: bool, max: usize| {
            let alike = holdings.iter().filter(|(_, h)| h.is_proven == is_proven);
            let count: usize = alike.clone().map(|(_, holding)| holding.count).sum();
            let most = alike.max_by_key(|(_, holding)| (holding.count, Reverse(holding.oldest)));
            most.filter(|_| count > max).map(|(peer, h)| (*peer, *h))
        };
        most_of(false, self.limits.max_of_strangers)
            .or_else(|| most_of(true, self.limits.max_of_proven))
    }

    /// Returns another sender of `peer`'s oldest message that has a better claim to a slot. Each such move
    /// makes the shares more even, or gives a message to a proven peer.
    fn heir(&self, peer: PeerIx, holding: Holding, known: &impl PeerKnowledge) -> Option<PeerIx> {
        let holdings = self.holdings(known);
        let lost: Claim = (!holding.is_proven, holding.count);
        let message = self.waiting.get(&holding.oldest)?;
        let heirs = known.senders(&message.id).iter().map(|heir| {
            let count = holdings.get(heir).map_or(0, |holding| holding.count);
            let claim: Claim = (!known.is_proven(*heir), count + 1);
            (claim, *heir)
        });
        heirs
            .filter(|(claim, heir)| *heir != peer && *claim < lost)
            .min()
            .map(|(_, heir)| heir)
    }

    fn holdings(&self, known: &impl PeerKnowledge) -> BTreeMap<PeerIx, Holding> {
        let mut holdings = BTreeMap::new();
        for (number, message) in &self.waiting {
            let holding = holdings.entry(message.from).or_insert_with(|| Holding {
                is_proven: known.is_proven(message.from),
                count: 0,
                oldest: *number,
            });
            holding.count += 1;
        }
        holdings
    }
}

#[cfg(test)]
#[path = "tests/room.rs"]
mod tests;
