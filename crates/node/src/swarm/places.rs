//! Who may stay connected: the bound on connections, and whose place a newcomer takes.
//!
//! A newcomer is let in before one is kept that does not speak pubsub, that has earned a bad score, or that
//! is one of many of its address. What an address can fill by itself is bounded, and so is what all that
//! dial this node can fill together: the rest is for peers that it dials.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use libp2p::PeerId;
use libp2p::swarm::ConnectionId;
use thiserror::Error;

use super::address_group::AddressGroup;
use super::limits::ConnectionLimits;

/// Connections to one peer: a second may come before the death of the first is noticed.
const PER_PEER_MAX: usize = 2;

/// How many connections more an address must have than the newcomer's, so that it has to give one up.
const UNFAIR_LEAD: usize = 2;

/// Why there is no place.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(crate) enum NoPlace {
    #[error("all connections that one address may have are in use by peers of good standing")]
    Address,
    #[error("all connections are in use by peers of good standing")]
    Total,
}

/// A connection that wants a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newcomer {
    pub(crate) id: ConnectionId,
    pub(crate) peer: PeerId,
    pub(crate) group: AddressGroup,
    pub(crate) inbound: bool,
}

/// What is known of a peer that has a place.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    /// Whether it has a pubsub session.
    speaks: bool,
    score: f64,
    /// Whether it is a static peer.
    kept: bool,
}

/// All places.
#[derive(Debug)]
pub(crate) struct Places {
    limits: ConnectionLimits,
    /// Connections, oldest first: their ids grow.
    taken: BTreeMap<ConnectionId, Newcomer>,
    peers: BTreeMap<PeerId, Standing>,
}

impl Places {
    pub(crate) fn new(limits: ConnectionLimits) -> Self {
        Self {
            limits,
            taken: BTreeMap::new(),
            peers: BTreeMap::new(),
        }
    }

    /// A static peer: it comes in whatever the bounds, and stays.
    pub(crate) fn keep(&mut self, peer: PeerId) {
        self.peers.entry(peer).or_default().kept = true;
    }

    /// A peer has a pubsub session now, or has none any more.
    pub(crate) fn speaks(&mut self, peer: PeerId, speaks: bool) {
        if let Some(standing) = self.peers.get_mut(&peer) {
            standing.speaks = speaks;
        }
    }

    /// What the router thinks of a peer.
    pub(crate) fn set_score(&mut self, peer: PeerId, score: f64) {
        if let Some(standing) = self.peers.get_mut(&peer) {
            standing.score = score;
        }
    }

    /// Gives a connection a place; returns those that have to be closed for it, with their peers.
    ///
    /// # Errors
    /// [`NoPlace`] if nobody is to go for it.
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

    /// A connection has ended, or has never come about.
    pub(crate) fn leave(&mut self, id: ConnectionId) {
        let Some(gone) = self.taken.remove(&id) else {
            return;
        };
        let others = self.taken.values().any(|known| known.peer == gone.peer);
        if !others && self.peers.get(&gone.peer).is_some_and(|known| !known.kept) {
            self.peers.remove(&gone.peer);
        }
    }

    /// The oldest connections of the same peer, if it has too many.
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

    fn standing(&self, known: &Newcomer) -> Standing {
        self.peers.get(&known.peer).copied().unwrap_or_default()
    }

    /// A connection that does not deserve its place: without pubsub, of the address with the most, the
    /// oldest; or else the one with the worst score, if that is bad.
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

    /// A connection of the address with the most, if the newcomer's has far fewer: the one with the lowest
    /// score, the newest of them.
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
