//! Limit on inbound handshakes in progress.
//!
//! Peers that open sockets and stay silent must not keep others out. So no newcomer is refused; an older handshake is
//! aborted instead. If the newcomer's address has too many handshakes, its oldest one is aborted. Otherwise the oldest
//! one of the network with the most is aborted. Recently aborted handshakes count too: an attacker with many addresses
//! that redials at once loses its own handshakes, not those of a peer that comes for the first time.

use std::collections::{BTreeMap, VecDeque};

use undertone_services::trust::Network;

use super::address_group::AddressGroup;
use super::limits::ConnectionLimits;

/// Number of aborted handshakes that are remembered, as a multiple of the limit on pending ones.
const ABORTED_PER_PENDING: usize = 4;

/// Identifier of a handshake. Later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HandshakeId(u64);

/// Competitor for handshakes: a network of the Internet, or a single address elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rival {
    Network(Network),
    Address(AddressGroup),
}

impl Rival {
    fn of(group: AddressGroup) -> Self {
        group.network().map_or(Self::Address(group), Self::Network)
    }
}

/// All handshakes in progress.
#[derive(Debug)]
pub(crate) struct Handshakes {
    limits: ConnectionLimits,
    next: u64,
    /// Handshakes, oldest first.
    pending: BTreeMap<HandshakeId, AddressGroup>,
    /// Handshakes recently aborted for lack of room.
    aborted: VecDeque<Rival>,
}

impl Handshakes {
    pub(crate) fn new(limits: ConnectionLimits) -> Self {
        Self {
            limits,
            next: 0,
            pending: BTreeMap::new(),
            aborted: VecDeque::new(),
        }
    }

    /// Records a new inbound handshake. Returns its id, and the handshake to abort for it, if any.
    pub(crate) fn begin(&mut self, group: AddressGroup) -> (HandshakeId, Option<HandshakeId>) {
        let group_max = if group.is_loopback() {
            self.limits.per_loopback_address_max
        } else {
            self.limits.per_address_max
        };
        let of_group = self.pending.iter().filter(|(_, known)| **known == group);
        let evicted = if of_group.clone().count() >= group_max.max(1) as usize {
            of_group.map(|(id, _)| *id).next()
        } else if self.pending.len() >= self.limits.pending_max.max(1) as usize {
            self.least_deserving()
        } else {
            None
        };
        if let Some(evicted) = evicted {
            self.abort(evicted);
        }
        let id = HandshakeId(self.next);
        self.next += 1;
        self.pending.insert(id, group);
        (id, evicted)
    }

    /// Returns the oldest handshake of the networks with the most, in progress and recently aborted.
    fn least_deserving(&self) -> Option<HandshakeId> {
        let mut counts: BTreeMap<Rival, usize> = BTreeMap::new();
        let pending = self.pending.values().map(|group| Rival::of(*group));
        for rival in pending.chain(self.aborted.iter().copied()) {
            *counts.entry(rival).or_default() += 1;
        }
        let count = |group: &AddressGroup| counts.get(&Rival::of(*group));
        let oldest_last = self.pending.iter().rev();
        oldest_last
            .max_by_key(|(_, group)| count(group))
            .map(|(id, _)| *id)
    }

    fn abort(&mut self, id: HandshakeId) {
        let Some(group) = self.pending.remove(&id) else {
            return;
        };
        let remembered_max = self.limits.pending_max as usize * ABORTED_PER_PENDING;
        self.aborted.push_back(Rival::of(group));
        if self.aborted.len() > remembered_max {
            self.aborted.pop_front();
        }
    }

    /// Removes a handshake that has ended, whatever its outcome.
    pub(crate) fn end(&mut self, id: HandshakeId) {
        self.pending.remove(&id);
    }
}

#[cfg(test)]
#[path = "tests/handshakes.rs"]
mod tests;
