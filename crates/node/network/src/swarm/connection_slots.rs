//! Which connections are kept: the connection limits, and which connection gives way to a new one.
//!
//! Relay peers and clients, which have no pubsub session, have separate slots, so that neither keeps the other out.
//! Every peer that dials begins as a client. A new relay peer takes the slot of one with a negative score, or of one
//! of many from the same address. A new client takes the slot of one without a subscription, or of one of many. The
//! number of slots that one address can fill is bounded. So is the number that all inbound relay peers can fill
//! together: the rest is reserved for peers that this node dials.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use libp2p::PeerId;
use libp2p::swarm::ConnectionId;
use thiserror::Error;

use super::address_group::AddressGroup;
use super::limits::ConnectionLimits;

/// Maximum number of connections to one peer. A second one may come before the death of the first is noticed. Two peers
/// that check each other's reachability by AutoNAT dial each other at the same time, in addition to their existing
/// connection.
const PER_PEER_MAX: usize = 3;

/// An address gives up a connection if it has at least this many more than the newcomer's address.
const UNFAIR_LEAD: usize = 2;

/// Reason why a connection was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(crate) enum NoSlot {
    #[error("all connections that one address may have are in use by peers of good standing")]
    Address,
    #[error("all connections that one network may have are in use by peers of good standing")]
    Network,
    #[error("all connections are in use by peers of good standing")]
    Total,
    #[error(
        "all slots that clients of one address or network may have are in use by clients with subscriptions"
    )]
    AddressClients,
    #[error("all slots for clients are in use by clients with subscriptions")]
    Clients,
}

/// A connection that requests a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newcomer {
    pub(crate) id: ConnectionId,
    pub(crate) peer: PeerId,
    pub(crate) group: AddressGroup,
    pub(crate) inbound: bool,
}

/// Status of a peer that has a slot.
#[derive(Clone, Copy, Debug, Default)]
struct PeerStanding {
    /// Whether the peer has a pubsub session.
    speaks: bool,
    /// Whether the peer is a client that has subscribed to messages.
    subscribes: bool,
    score: f64,
    /// Whether the peer is a static peer, which is never closed to make room for another.
    kept: bool,
}

/// All connections that have a slot, and their peers.
#[derive(Debug)]
pub(crate) struct ConnectionSlots {
    limits: ConnectionLimits,
    /// Connections, oldest first, because connection ids grow.
    taken: BTreeMap<ConnectionId, Newcomer>,
    peers: BTreeMap<PeerId, PeerStanding>,
}

impl ConnectionSlots {
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

    /// Ends a peer's status as a static peer; forgets it if it is not connected.
    pub(crate) fn release(&mut self, peer: PeerId) {
        if self.taken.values().all(|known| known.peer != peer) {
            self.peers.remove(&peer);
        } else if let Some(standing) = self.peers.get_mut(&peer) {
            standing.kept = false;
        }
    }

    /// Records that a peer has a pubsub session, so that its inbound connections now need relay slots. Returns the
    /// connections to close for this, with their peers.
    ///
    /// # Errors
    /// [`NoSlot`] if no connection gives way: the connections of the peer are to be closed.
    pub(crate) fn begin_session(
        &mut self,
        peer: PeerId,
    ) -> Result<Vec<(PeerId, ConnectionId)>, NoSlot> {
        let standing = self.peers.get(&peer).copied().unwrap_or_default();
        let mut losers = Vec::new();
        if !standing.speaks && !standing.kept {
            let mut own = self.taken.values().filter(|known| known.peer == peer);
            let inbound = own.rfind(|known| known.inbound).copied();
            let given = inbound.map(|new| self.relay_place(&new)).transpose()?;
            let given = given.flatten().and_then(|id| self.taken.get(&id));
            losers.extend(given.map(|known| (known.peer, known.id)));
        }
        for (_, id) in &losers {
            self.leave(*id);
        }
        if let Some(standing) = self.peers.get_mut(&peer) {
            standing.speaks = true;
        }
        Ok(losers)
    }

    /// Records that the pubsub session of a peer has ended.
    pub(crate) fn end_session(&mut self, peer: PeerId) {
        if let Some(standing) = self.peers.get_mut(&peer) {
            standing.speaks = false;
        }
    }

    /// Records whether a peer has subscribed to messages as a client.
    pub(crate) fn subscribes(&mut self, peer: PeerId, subscribes: bool) {
        if let Some(standing) = self.peers.get_mut(&peer) {
            standing.subscribes = subscribes;
        }
    }

    /// Records the router's score of a peer.
    pub(crate) fn set_score(&mut self, peer: PeerId, score: f64) {
        if let Some(standing) = self.peers.get_mut(&peer) {
            standing.score = score;
        }
    }

    /// Gives a connection a slot. Returns the connections to close for this, with their peers.
    ///
    /// # Errors
    /// [`NoSlot`] if no connection gives way.
    pub(crate) fn admit(&mut self, new: Newcomer) -> Result<Vec<(PeerId, ConnectionId)>, NoSlot> {
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

    /// Frees the slot of a connection that has ended or was never established.
    pub(crate) fn leave(&mut self, id: ConnectionId) {
        let Some(gone) = self.taken.remove(&id) else {
            return;
        };
        let others = self.taken.values().any(|known| known.peer == gone.peer);
        if !others && self.peers.get(&gone.peer).is_some_and(|known| !known.kept) {
            self.peers.remove(&gone.peer);
        }
    }

    /// Returns the oldest connections of the same peer, if it would have too many.
    fn same_peer(&self, new: &Newcomer) -> Vec<ConnectionId> {
        let same = self.taken.values().filter(|known| known.peer == new.peer);
        let ids: Vec<_> = same.map(|known| known.id).collect();
        let over = (ids.len() + 1).saturating_sub(PER_PEER_MAX);
        ids.into_iter().take(over).collect()
    }

    fn make_room(&self, new: &Newcomer) -> Result<Option<ConnectionId>, NoSlot> {
        if new.inbound && !self.standing(new).speaks {
            self.client_place(new)
        } else {
            self.relay_place(new)
        }
    }

    /// Finds a relay slot; returns the connection that gives way, if one has to.
    fn relay_place(&self, new: &Newcomer) -> Result<Option<ConnectionId>, NoSlot> {
        let relays = || self.taken.values().filter(|known| self.is_relay(known));
        let inbound = relays().filter(|known| known.inbound).count();
        let outbound = relays().count() - inbound;
        let total_max = self.limits.total_max as usize;
        if !new.inbound {
            let full = inbound + outbound >= total_max;
            return match full.then(|| self.worst(|_| true)) {
                Some(None) => Err(NoSlot::Total),
                room => Ok(room.flatten()),
            };
        }
        let of_group = |known: &Newcomer| known.group == new.group;
        let group_max = if new.group.is_loopback() {
            self.limits.per_loopback_address_max
        } else {
            self.limits.per_address_max
        };
        let taken = relays().filter(|known| known.inbound && of_group(known));
        if taken.count() >= group_max as usize {
            return self.worst(of_group).map(Some).ok_or(NoSlot::Address);
        }
        if let Some(network) = new.group.network() {
            let of_network = |known: &Newcomer| known.group.network() == Some(network);
            let taken = relays().filter(|known| known.inbound && of_network(known));
            if taken.count() >= self.limits.per_network_max as usize {
                return self.worst(of_network).map(Some).ok_or(NoSlot::Network);
            }
        }
        let for_outbound = outbound.max(self.limits.outbound_reserved as usize);
        if inbound < total_max.saturating_sub(for_outbound) {
            return Ok(None);
        }
        self.worst(|_| true)
            .or_else(|| self.of_crowd(new.group, false))
            .map(Some)
            .ok_or(NoSlot::Total)
    }

    /// Finds a client slot; returns the connection that gives way, if one has to.
    fn client_place(&self, new: &Newcomer) -> Result<Option<ConnectionId>, NoSlot> {
        let clients_max = self.limits.clients_max as usize;
        let share = match new.group.is_loopback() {
            true => clients_max,
            false => clients_max.div_ceil(2),
        };
        let of_group = |known: &Newcomer| known.group == new.group;
        let network = new.group.network();
        let of_network = |known: &Newcomer| network.is_some() && known.group.network() == network;
        let clients = || self.taken.values().filter(|known| self.is_client(known));
        if clients().filter(|known| of_group(known)).count() >= share {
            return self.idle(of_group).map(Some).ok_or(NoSlot::AddressClients);
        }
        if clients().filter(|known| of_network(known)).count() >= share {
            return self
                .idle(of_network)
                .map(Some)
                .ok_or(NoSlot::AddressClients);
        }
        if clients().count() < clients_max {
            return Ok(None);
        }
        let crowds = self.crowds(true);
        let of_newcomer = crowds.get(&new.group);
        let is_as_many = |known: &Newcomer| crowds.get(&known.group) >= of_newcomer;
        let idle = || self.idle(is_as_many);
        let crowd = || self.of_crowd(new.group, true);
        // A loopback address may have more than half only while no other address needs the slots.
        let has_too_many = crowds
            .values()
            .any(|count| *count > clients_max.div_ceil(2));
        match has_too_many {
            true => crowd().or_else(idle),
            false => idle().or_else(crowd),
        }
        .map(Some)
        .ok_or(NoSlot::Clients)
    }

    fn is_client(&self, known: &Newcomer) -> bool {
        let standing = self.standing(known);
        known.inbound && !standing.speaks && !standing.kept
    }

    fn is_relay(&self, known: &Newcomer) -> bool {
        !self.is_client(known)
    }

    /// Returns the number of inbound connections per address, counting either clients or relay peers.
    fn crowds(&self, clients: bool) -> BTreeMap<AddressGroup, usize> {
        let mut crowds = BTreeMap::new();
        let inbound = self.taken.values().filter(|known| known.inbound);
        for known in inbound.filter(|known| self.is_client(known) == clients) {
            *crowds.entry(known.group).or_default() += 1;
        }
        crowds
    }

    fn standing(&self, known: &Newcomer) -> PeerStanding {
        self.peers.get(&known.peer).copied().unwrap_or_default()
    }

    /// Selects the client that gives way: the oldest one without a subscription, from the address with the most
    /// clients.
    fn idle(&self, of: impl Fn(&Newcomer) -> bool) -> Option<ConnectionId> {
        let crowds = self.crowds(true);
        let clients = self.taken.values().filter(|known| self.is_client(known));
        clients
            .filter(|known| of(known) && !self.standing(known).subscribes)
            .max_by_key(|known| (crowds.get(&known.group), Reverse(known.id)))
            .map(|known| known.id)
    }

    /// Selects the relay peer that gives way: the one with the lowest score, if that is negative.
    fn worst(&self, of: impl Fn(&Newcomer) -> bool) -> Option<ConnectionId> {
        let inbound = self.taken.values().filter(|known| known.inbound);
        inbound
            .filter(|known| of(known) && self.is_relay(known))
            .map(|known| (known, self.standing(known)))
            .filter(|(_, standing)| !standing.kept && standing.score < 0.0)
            .min_by(|(_, a), (_, b)| a.score.total_cmp(&b.score))
            .map(|(known, _)| known.id)
    }

    /// Selects a connection from the address with the most clients or relay peers, if it has far more than the
    /// newcomer's address: the connection with the lowest score, the newest of several.
    fn of_crowd(&self, newcomer: AddressGroup, clients: bool) -> Option<ConnectionId> {
        let crowds = self.crowds(clients);
        let of_newcomer = crowds.get(&newcomer).copied().unwrap_or(0);
        let crowd = crowds.iter().map(|(group, count)| (*count, *group));
        let (count, group) = crowd.max()?;
        if count < of_newcomer + UNFAIR_LEAD {
            return None;
        }
        let members = self.taken.values().rev();
        members
            .filter(|known| known.inbound && known.group == group)
            .filter(|known| self.is_client(known) == clients)
            .map(|known| (known, self.standing(known)))
            .filter(|(_, standing)| !standing.kept)
            .min_by(|(_, a), (_, b)| a.score.total_cmp(&b.score))
            .map(|(known, _)| known.id)
    }
}

#[cfg(test)]
#[path = "tests/connection_slots.rs"]
mod tests;
