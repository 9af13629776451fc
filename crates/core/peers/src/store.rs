//! Peer store: a bounded table of known peers that strangers cannot fill with false entries.

use std::collections::BTreeMap;

use multiaddr::{Multiaddr, PeerId};
use undertone_gossip::{Direction, Time};

use crate::address::{AddressNetwork, AddressRules, host_of, without_peer};
use crate::facts::{PeerFacts, PeerOffer, PeerSource};

#[cfg(test)]
#[path = "tests/store.rs"]
mod tests;

/// Bounds of the peer store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerStoreLimits {
    /// Maximum number of peers.
    pub peers_max: usize,
    /// Maximum number of peers in one network ([`AddressNetwork`]) that were named by strangers.
    pub per_network_max: usize,
    /// Maximum number of peers at one host that were named by strangers, so that one victim cannot be named a
    /// thousand times.
    pub per_host_max: usize,
    /// Maximum number of entries named by one peer.
    pub per_teller_max: usize,
    /// Maximum number of shards kept of one peer.
    pub shards_max: usize,
    /// Failed dials after which a peer that was never reached is forgotten.
    pub failures_max: u32,
}

impl Default for PeerStoreLimits {
    fn default() -> Self {
        Self {
            peers_max: 2_048,
            per_network_max: 32,
            per_host_max: 8,
            per_teller_max: 64,
            shards_max: 1_024,
            failures_max: 5,
        }
    }
}

/// Reason why an offered peer was not taken into the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OfferRefusal {
    /// The offer names this node itself.
    Own,
    /// The peer belongs to another cluster.
    OtherCluster,
    /// None of the addresses may be dialled.
    NoAddress,
    /// Strangers have already named the maximum number of peers at this host or in this network.
    CrowdedNetwork,
    /// The peer that named it has already named the maximum number of others.
    TalkativeTeller,
    /// The store is full of peers that are better known.
    Full,
    /// The peer was dialled in vain at these addresses, and forgotten.
    GivenUp,
    /// The offer's record is older than the one already known.
    Outdated,
}

/// State of a peer's connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DialState {
    /// No connection to the peer.
    #[default]
    Down,
    /// A dial is in progress, which counts as failed at `deadline`.
    Dialling {
        /// Time at which a dial without an answer counts as failed.
        deadline: Time,
    },
    /// Connection to the peer.
    Up {
        /// Side that dialled.
        direction: Direction,
        /// Time at which the connection was made.
        since: Time,
    },
}

/// Entry of the peer store.
#[derive(Clone, Debug)]
pub struct PeerEntry {
    /// Addresses to dial, the most promising first.
    pub addresses: Vec<Multiaddr>,
    /// Facts about the peer.
    pub facts: PeerFacts,
    /// Most trusted source from which this node learned of the peer.
    pub source: PeerSource,
    /// Peer that first named it.
    pub told_by: Option<PeerId>,
    /// Sequence number of the peer's newest offered record; `None` if there was none.
    pub sequence: Option<u64>,
    /// Whether a dial to the peer has succeeded at any time.
    pub was_reached: bool,
    /// Failed dials since the last connection.
    pub failures: u32,
    /// Time before which the peer is not dialled, except as a probe.
    pub next_dial: Time,
    /// Time of the last dial or connection.
    pub last_tried: Time,
    /// State of the connection.
    pub link: DialState,
    /// Whether the connection is in use, for instance by a mesh member or service peer, and must not be pruned.
    pub is_protected: bool,
}

impl PeerEntry {
    /// Whether the peer is connected.
    pub fn is_connected(&self) -> bool {
        matches!(self.link, DialState::Up { .. })
    }

    /// Whether this node dialled the peer's connection.
    pub fn is_outbound(&self) -> bool {
        let direction = Direction::Outbound;
        matches!(self.link, DialState::Up { direction: dialled, .. } if dialled == direction)
    }

    /// Whether a dial is in progress.
    pub fn is_dialling(&self) -> bool {
        matches!(self.link, DialState::Dialling { .. })
    }

    /// Network of the first address.
    pub fn network(&self) -> Option<AddressNetwork> {
        self.addresses.first().and_then(AddressNetwork::of)
    }

    /// Whether the peer is known only from strangers.
    fn is_hearsay(&self) -> bool {
        !self.was_reached && !self.is_connected() && self.source > PeerSource::Dns
    }

    /// Rank of the entry for eviction: the lowest is removed first.
    fn worth(&self) -> (bool, bool, u32, Time) {
        let is_named = self.source == PeerSource::Static;
        let failures = u32::MAX - self.failures;
        (is_named, self.was_reached, failures, self.last_tried)
    }
}

/// Bounded table of known peers.
#[derive(Debug)]
pub struct PeerStore {
    own: PeerId,
    cluster: u16,
    limits: PeerStoreLimits,
    entries: BTreeMap<PeerId, PeerEntry>,
}

impl PeerStore {
    /// Creates an empty store for the node `own` in `cluster`.
    pub fn new(own: PeerId, cluster: u16, limits: PeerStoreLimits) -> Self {
        Self {
            own,
            cluster,
            limits,
            entries: BTreeMap::new(),
        }
    }

    /// Identity of this node.
    pub(crate) fn own(&self) -> PeerId {
        self.own
    }

    /// Number of peers in the store.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entry of a peer.
    pub fn get(&self, peer: &PeerId) -> Option<&PeerEntry> {
        self.entries.get(peer)
    }

    /// Iterates over all peers in the order of their identities.
    pub fn iter(&self) -> impl Iterator<Item = (&PeerId, &PeerEntry)> {
        self.entries.iter()
    }

    pub(crate) fn get_mut(&mut self, peer: &PeerId) -> Option<&mut PeerEntry> {
        self.entries.get_mut(peer)
    }

    /// Adds an offered peer, or merges the offer into the existing entry. Returns whether anything is new.
    ///
    /// # Errors
    /// [`OfferRefusal`] if the peer is not worth keeping, or there is no room for it.
    pub fn offer(&mut self, offer: PeerOffer, rules: &AddressRules) -> Result<bool, OfferRefusal> {
        let PeerOffer {
            peer,
            addresses,
            mut facts,
            source,
            told_by,
            sequence,
            was_reached,
        } = offer;
        if peer == self.own {
            return Err(OfferRefusal::Own);
        }
        if facts.cluster.is_some_and(|cluster| cluster != self.cluster) {
            return Err(OfferRefusal::OtherCluster);
        }
        let known = self.entries.get(&peer).and_then(|entry| entry.sequence);
        if sequence.is_some() && sequence < known {
            // Replaying an old genuine record must not lead this node to where the peer no longer is.
            return Err(OfferRefusal::Outdated);
        }
        if let Some(shards) = &mut facts.shards {
            shards.truncate(self.limits.shards_max);
        }
        let accepted = addresses
            .iter()
            .filter(|address| source == PeerSource::Static || rules.accepts(address));
        let mut addresses: Vec<Multiaddr> = Vec::new();
        for address in accepted.map(without_peer) {
            if addresses.len() < rules.per_peer_max && !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if let Some(entry) = self.entries.get_mut(&peer) {
            let before = (entry.addresses.clone(), entry.facts.clone(), entry.source);
            entry.facts.update(facts);
            entry.source = entry.source.min(source);
            entry.sequence = entry.sequence.max(sequence);
            add_addresses(entry, addresses, rules.per_peer_max);
            let after = (&entry.addresses, &entry.facts, entry.source);
            return Ok((&before.0, &before.1, before.2) != after);
        }
        if addresses.is_empty() {
            return Err(OfferRefusal::NoAddress);
        }
        let entry = PeerEntry {
            addresses,
            facts,
            source,
            told_by,
            sequence,
            was_reached: was_reached && source == PeerSource::Remembered,
            failures: 0,
            next_dial: Time::ZERO,
            last_tried: Time::ZERO,
            link: DialState::Down,
            is_protected: false,
        };
        if entry.is_hearsay() {
            self.check_hearsay(peer, &entry)?;
        }
        self.make_room(&entry)?;
        self.entries.insert(peer, entry);
        Ok(true)
    }

    /// Returns the entry of a connected peer, and creates it if the peer was unknown.
    pub(crate) fn connected(&mut self, peer: PeerId, source: PeerSource) -> &mut PeerEntry {
        self.entries.entry(peer).or_insert_with(|| PeerEntry {
            addresses: Vec::new(),
            facts: PeerFacts::default(),
            source,
            told_by: None,
            sequence: None,
            was_reached: false,
            failures: 0,
            next_dial: Time::ZERO,
            last_tried: Time::ZERO,
            link: DialState::Down,
            is_protected: false,
        })
    }

    /// Forgets a peer; returns whether it was known.
    pub(crate) fn remove(&mut self, peer: &PeerId) -> bool {
        self.entries.remove(peer).is_some()
    }

    /// Bounds of the store.
    pub(crate) fn limits(&self) -> &PeerStoreLimits {
        &self.limits
    }

    /// Whether there is room for what a stranger claimed about itself while it was connected.
    pub(crate) fn has_room_for(&self, peer: &PeerId) -> bool {
        let entry = self.entries.get(peer);
        entry.is_none_or(|entry| !entry.is_hearsay() || self.check_hearsay(*peer, entry).is_ok())
    }

    fn check_hearsay(&self, peer: PeerId, entry: &PeerEntry) -> Result<(), OfferRefusal> {
        let others = || {
            self.entries
                .iter()
                .filter(move |(known, _)| **known != peer)
        };
        let hearsay = || {
            others()
                .map(|(_, known)| known)
                .filter(|known| known.is_hearsay())
        };
        if let Some(teller) = entry.told_by {
            let told = hearsay().filter(|known| known.told_by == Some(teller));
            if told.count() >= self.limits.per_teller_max {
                return Err(OfferRefusal::TalkativeTeller);
            }
        }
        for address in &entry.addresses {
            let (host, network) = (host_of(address), AddressNetwork::of(address));
            if network == Some(AddressNetwork::Loopback) {
                continue;
            }
            let at = |is_same: &dyn Fn(&Multiaddr) -> bool| {
                let named = hearsay().filter(|known| known.addresses.iter().any(is_same));
                named.count()
            };
            if at(&|known| host_of(known) == host) >= self.limits.per_host_max {
                return Err(OfferRefusal::CrowdedNetwork);
            }
            if at(&|known| AddressNetwork::of(known) == network) >= self.limits.per_network_max {
                return Err(OfferRefusal::CrowdedNetwork);
            }
        }
        Ok(())
    }

    /// Removes the least valuable entry if the store is full, unless it is worth more than the new one.
    fn make_room(&mut self, new: &PeerEntry) -> Result<(), OfferRefusal> {
        if self.entries.len() < self.limits.peers_max {
            return Ok(());
        }
        let idle = self.entries.iter().filter(|(_, entry)| {
            entry.link == DialState::Down && entry.source != PeerSource::Static
        });
        let worst = idle.min_by_key(|(_, entry)| entry.worth());
        match worst.map(|(peer, entry)| (*peer, entry.worth())) {
            Some((peer, worth)) if worth <= new.worth() => {
                self.entries.remove(&peer);
                Ok(())
            }
            _ => Err(OfferRefusal::Full),
        }
    }
}

/// Adds addresses ahead of those that never led to the peer.
fn add_addresses(entry: &mut PeerEntry, new: Vec<Multiaddr>, max: usize) {
    // If the peer was reached, its first address is the one that worked.
    let at = usize::from(entry.was_reached && !entry.addresses.is_empty());
    for address in new.into_iter().rev() {
        if !entry.addresses.contains(&address) {
            entry.addresses.insert(at, address);
        }
    }
    entry.addresses.truncate(max);
}
