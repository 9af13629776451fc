//! Which connections are kept: the bound on connections, and which one gives way to a newcomer.
//!
//! A newcomer takes the place of a peer that does not speak pubsub, that has a negative score, or that is one
//! of many from its address. The number of places that one address can fill is bounded, and so is the number
//! that all inbound connections can fill together: the rest is reserved for peers that this node dials.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use libp2p::PeerId;
use libp2p::swarm::ConnectionId;
use thiserror::Error;

use super::address_group::AddressGroup;
use super::limits::ConnectionLimits;

/// Most connections to one peer: a second one may come before the death of the first is noticed, and two peers that
/// tell each other by AutoNAT whether they can be reached dial each other at the same time beside the one that they have.
const PER_PEER_MAX: usize = 3;

/// Lead in connections over the newcomer's address from which on an address gives one up.
const UNFAIR_LEAD: usize = 2;

/// Reason why a connection was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(crate) enum NoPlace {
    #[error("all connections that one address may have are in use by peers of good standing")]
    Address,
    #[error("all connections that one network may have are in use by peers of good standing")]
    Network,
    #[error("all connections are in use by peers of good standing")]
    Total,
}

/// A connection that asks for a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newcomer {
    pub(crate) id: ConnectionId,
    pub(crate) peer: PeerId,
    pub(crate) group: AddressGroup,
    pub(crate) inbound: bool,
}

/// Standing of a peer that has a place.
#[derive(Clone, Copy, Debug, Default)]
struct PeerStanding {
    /// Whether the peer has a pubsub session.
    speaks: bool,
    score: f64,
    /// Whether the peer is a static peer, which is never closed for another.
    kept: bool,
}

/// All connections that have a place, and their peers.
#[derive(Debug)]
pub(crate) struct Places {
    limits: ConnectionLimits,
    /// Connections, oldest first, because connection ids grow.
    taken: BTreeMap<ConnectionId, Newcomer>,
    peers: BTreeMap<PeerId, PeerStanding>,
}

impl Places {
    pub(crate) fn new(limits: ConnectionLimits) -> Self {
        Self {
            limits,
            taken: BTreeMap::new(),
            peers: BTreeMap::new(),
        }
    }

    /// Marks a static peer: it is admitted regardless of the bounds, and never gives way to another peer.
    pub(crate) fn keep(&mut self, peer: PeerId) {
        self.peers.entry(peer).or_default().kept = true;
    }

    /// Makes a static peer one like all others; one that is not connected is forgotten.
    pub(crate) fn release(&mut self, peer: PeerId) {
        if self.taken.values().all(|known| known.peer != peer) {
            self.peers.remove(&peer);
        } else if let Some(standing) = self.peers.get_mut(&peer) {
            standing.kept = false;
        }
    }

    /// Records whether a peer has a pubsub session.
    pub(crate) fn speaks(&mut self, peer: PeerId, speaks: bool) {
        if let Some(standing) = self.peers.get_mut(&peer) {
            standing.speaks = speaks;
        }
    }

    /// Records the router's score of a peer.
    pub(crate) fn set_score(&mut self, peer: PeerId, score: f64) {
        if let Some(standing) = self.peers.get_mut(&peer) {
            standing.score = score;
        }
    }

    /// Gives a connection a place; returns the connections to be closed for it, with their peers.
    ///
    /// # Errors
    /// [`NoPlace`] if no connection gives way.
    pub(crate) fn admit(&mut self, new: Newcomer) -> Result<Vec<(PeerId, ConnectionId)>, NoPlace> {
        let mut closed = self.same_peer(&new);
        let is_kept = self.peers.get(&new.peer).is_some_and(|known| known.kept);
        if !is_kept && closed.is_empty() {
            closed.extend(self.make_room(&new)?);
        }
        let peers = closed.iter().filter_map(|id| self.taken.get(id));
        let losers = peers.map(|known| (known.peer, known.id)).collect();
        for id in closed {
            self.leave(id);
        }
        self.peers.entry(new.peer).or_default();
        self.taken.insert(new.id, new);
        Ok(losers)
    }

    /// Frees the place of a connection that has ended or was never established.
    pub(crate) fn leave(&mut self, id: ConnectionId) {
        let Some(gone) = self.taken.remove(&id) else {
            return;
        };
        let others = self.taken.values().any(|known| known.peer == gone.peer);
        if !others && self.peers.get(&gone.peer).is_some_and(|known| !known.kept) {
            self.peers.remove(&gone.peer);
        }
    }

    /// Oldest connections of the same peer, if it would have too many.
    fn same_peer(&self, new: &Newcomer) -> Vec<ConnectionId> {
        let same = self.taken.values().filter(|known| known.peer == new.peer);
        let ids: Vec<_> = same.map(|known| known.id).collect();
        let over = (ids.len() + 1).saturating_sub(PER_PEER_MAX);
        ids.into_iter().take(over).collect()
    }

    fn make_room(&self, new: &Newcomer) -> Result<Option<ConnectionId>, NoPlace> {
        let inbound = self.taken.values().filter(|known| known.inbound).count();
        let outbound = self.taken.len() - inbound;
        let total_max = self.limits.total_max as usize;
        if !new.inbound {
            let full = self.taken.len() >= total_max;
            return match full.then(|| self.expendable(|_| true)) {
                Some(None) => Err(NoPlace::Total),
                room => Ok(room.flatten()),
            };
        }
        let group_max = if new.group.is_loopback() {
            self.limits.per_loopback_address_max
        } else {
            self.limits.per_address_max
        };
        if self.count(new.group) >= group_max as usize {
            let of_group = self.expendable(|known| known.group == new.group);
            return of_group.map(Some).ok_or(NoPlace::Address);
        }
        if let Some(network) = new.group.network() {
            let of_network = |known: &Newcomer| known.group.network() == Some(network);
            let taken = self.taken.values();
            let taken = taken.filter(|known| known.inbound && of_network(known));
            if taken.count() >= self.limits.per_network_max as usize {
                return self
                    .expendable(of_network)
                    .map(Some)
                    .ok_or(NoPlace::Network);
            }
        }
        let for_outbound = outbound.max(self.limits.outbound_reserved as usize);
        if inbound < total_max.saturating_sub(for_outbound) {
            return Ok(None);
        }
        self.expendable(|_| true)
            .or_else(|| self.of_crowd(new.group))
            .map(Some)
            .ok_or(NoPlace::Total)
    }

    fn count(&self, group: AddressGroup) -> usize {
        let of_group = |known: &&Newcomer| known.inbound && known.group == group;
        self.taken.values().filter(of_group).count()
    }

    fn standing(&self, known: &Newcomer) -> PeerStanding {
        self.peers.get(&known.peer).copied().unwrap_or_default()
    }

    /// Selects a connection that may give way: the oldest one without pubsub, from the address with the most
    /// connections; otherwise the one with the lowest score, if that is negative.
    fn expendable(&self, of: impl Fn(&Newcomer) -> bool) -> Option<ConnectionId> {
        let inbound = self.taken.values().filter(|known| known.inbound);
        let candidates: Vec<_> = inbound
            .filter(|known| of(known))
            .map(|known| (known, self.standing(known)))
            .filter(|(_, standing)| !standing.kept)
            .collect();
        let mute = candidates.iter().filter(|(_, standing)| !standing.speaks);
        let mute = mute.max_by_key(|(known, _)| (self.count(known.group), Reverse(known.id)));
        let worst = || {
            let bad = candidates
                .iter()
                .filter(|(_, standing)| standing.score < 0.0);
            bad.min_by(|(_, a), (_, b)| a.score.total_cmp(&b.score))
        };
        mute.or_else(worst).map(|(known, _)| known.id)
    }

    /// Selects a connection of the address with the most, if the newcomer's address has far fewer: the one
    /// with the lowest score, and of those the newest.
    fn of_crowd(&self, newcomer: AddressGroup) -> Option<ConnectionId> {
        let inbound = self.taken.values().filter(|known| known.inbound);
        let crowd = inbound.map(|known| (self.count(known.group), known.group));
        let (count, group) = crowd.max()?;
        if count < self.count(newcomer) + UNFAIR_LEAD {
            return None;
        }
        let members = self.taken.values().rev();
        members
            .filter(|known| known.inbound && known.group == group)
            .map(|known| (known, self.standing(known)))
            .filter(|(_, standing)| !standing.kept)
            .min_by(|(_, a), (_, b)| a.score.total_cmp(&b.score))
            .map(|(known, _)| known.id)
    }
}

#[cfg(test)]
mod tests;
