//! Connection manager of a node that discovers peers, and its channels to discovery.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use libp2p::{Multiaddr, PeerId};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};
use undertone_gossip::Time;
use undertone_peers::{
    AddressRules, ConnectionManager, Input, ManagerConfig, PeerFacts, PeerOffer, PeerSource,
};

use super::discovery_ports::DiscoveryPorts;
use crate::command::PeerOrigin;

/// Time for which a mesh must be too thin before more peers are sought; a few heartbeats of the router.
const THIN_MESH_AFTER: Duration = Duration::from_secs(3);

/// Connection manager of a node that discovers peers, and the channels to discovery.
pub(crate) struct PeerConnections {
    pub(super) manager: ConnectionManager,
    pub(crate) ports: DiscoveryPorts,
    /// Peers whose connections the manager last heard to be in use.
    pub(super) protected: BTreeSet<PeerId>,
    pub(super) shards: Vec<u16>,
    /// Shards whose mesh is too thin, each with the time since which it has been so.
    thin_since: BTreeMap<u16, Time>,
    pub(super) own_addresses: Vec<Multiaddr>,
}

impl PeerConnections {
    pub(crate) fn new(own: PeerId, cluster: u16, seed: [u8; 32], ports: DiscoveryPorts) -> Self {
        let mut config = ManagerConfig::new(own, cluster);
        config.addresses = AddressRules {
            allows_private: ports.allows_private,
            ..AddressRules::default()
        };
        config.targets.connections_max = ports.connections_max;
        let mut manager = ConnectionManager::new(config, ChaCha8Rng::from_seed(seed));
        manager.handle(Time::ZERO, Input::Services(ports.services.clone()));
        Self {
            manager,
            ports,
            protected: BTreeSet::new(),
            shards: Vec::new(),
            thin_since: BTreeMap::new(),
            own_addresses: Vec::new(),
        }
    }

    /// Returns the time at which the manager next has to be called.
    pub(crate) fn next_timeout(connections: Option<&Self>) -> Time {
        connections.map_or(Time::MAX, |connections| connections.manager.next_timeout())
    }

    /// Waits for the next offered peer; forever without discovery.
    pub(crate) async fn next_offer(connections: Option<&mut Self>) -> PeerOffer {
        if let Some(connections) = connections
            && let Some(offer) = connections.ports.offers.recv().await
        {
            return offer;
        }
        std::future::pending().await
    }

    /// Records the connections in use now; returns those that the manager has not been told of.
    pub(super) fn newly_used(&mut self, used: &BTreeSet<PeerId>) -> Vec<PeerId> {
        let new: Vec<_> = used.difference(&self.protected).copied().collect();
        self.protected.extend(&new);
        new
    }

    /// Records the shards whose mesh is now below its lower bound. Returns those that have been so for a while; by then
    /// the router has asked every peer it could.
    pub(super) fn long_thin(&mut self, now: Time, thin: &BTreeSet<u16>) -> Vec<u16> {
        self.thin_since.retain(|shard, _| thin.contains(shard));
        for shard in thin {
            self.thin_since.entry(*shard).or_insert(now);
        }
        let lasting = self.thin_since.iter();
        let lasting = lasting.filter(|(_, since)| now.since(**since) >= THIN_MESH_AFTER);
        lasting.map(|(shard, _)| *shard).collect()
    }

    /// Returns an offer without its facts if the peer is already known. The offer's facts are the word of another peer,
    /// and must not replace what this node knows.
    pub(super) fn without_hearsay(&self, mut offer: PeerOffer) -> PeerOffer {
        if self.manager.store().get(&offer.peer).is_some() {
            offer.facts = PeerFacts::default();
        }
        offer
    }

    /// Returns the number of nodes found by discv5 on each shard.
    pub(super) fn discovered(&self) -> BTreeMap<u16, usize> {
        let mut discovered = BTreeMap::new();
        for (_, entry) in self.manager.store().iter() {
            if entry.source == PeerSource::Discv5 {
                for shard in entry.facts.shards.iter().flatten() {
                    *discovered.entry(*shard).or_default() += 1;
                }
            }
        }
        discovered
    }

    /// Returns the source from which a peer was learnt, in REST's terms.
    pub(crate) fn origin(&self, peer: &PeerId) -> Option<PeerOrigin> {
        let entry = self.manager.store().get(peer)?;
        Some(match entry.source {
            PeerSource::Static => PeerOrigin::Static,
            PeerSource::Dns => PeerOrigin::Dns,
            PeerSource::Discv5 | PeerSource::Remembered => PeerOrigin::Discv5,
            PeerSource::PeerExchange | PeerSource::Prune => PeerOrigin::PeerExchange,
            PeerSource::Rendezvous | PeerSource::Inbound => PeerOrigin::UnknownOrigin,
        })
    }
}
