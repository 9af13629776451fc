//! Table of service peers: what each one offers, and whether it is connected.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};
use rand_chacha::ChaCha8Rng;
use undertone_message::Shard;
use undertone_services::light::{ServicePeer, Services};
use undertone_services::sync::RECONCILIATION_PROTOCOL_ID;
use undertone_services::trust::{Network, Standing, Witness, choose};
use undertone_services::{PeerNo, filter, lightpush, service_protocols, store};

use super::ServicePeerEvent;
use crate::services::LightpushVersion;
use crate::services::peers::PeerNumbers;
use undertone_network::driver::PeerNews;
use undertone_network::swarm::METADATA_PROTOCOL;

mod watched;

use watched::{DialAttempt, PeerLink, WatchedPeer};

/// Maximum number of disconnected, unconfigured peers that are remembered; the oldest is forgotten first.
const GONE_MAX: usize = 64;

/// Service peers that the configuration names.
#[derive(Clone, Debug, Default)]
pub(in crate::services) struct ConfiguredPeers {
    /// Peers to ask for history.
    pub(in crate::services) store: Vec<Multiaddr>,
    /// Peers to receive messages from.
    pub(in crate::services) filter: Vec<Multiaddr>,
    /// Peers to publish through.
    pub(in crate::services) lightpush: Vec<Multiaddr>,
}

/// A peer that can be asked for a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::services) struct Candidate {
    /// Address to ask at, with `/p2p`; only `/p2p` for a connected peer.
    pub(in crate::services) address: Multiaddr,
    /// How far the peer's answers can be trusted.
    pub(in crate::services) witness: Witness,
}

/// A connection attempt to make.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DialPlan {
    /// Addresses to try in turn, with `/p2p`.
    pub(super) addresses: Vec<Multiaddr>,
}

/// Table of service peers, without I/O of its own.
///
/// Where the configuration names peers for a service, only they count as offering it. Otherwise every connected peer
/// that announces the protocol does.
#[derive(Debug)]
pub(super) struct ServicePeerTable {
    cluster: u16,
    /// Services for which peers are configured.
    configured: Services,
    numbers: PeerNumbers,
    peers: BTreeMap<PeerNo, WatchedPeer>,
    /// Disconnected, unconfigured peers, oldest first.
    gone: VecDeque<PeerNo>,
    connections: u64,
}

impl ServicePeerTable {
    /// Creates the table with the configured peers, none of them connected.
    pub(super) fn new(configured: &ConfiguredPeers, cluster: u16) -> Self {
        let mut table = Self {
            cluster,
            configured: Services {
                filter: !configured.filter.is_empty(),
                lightpush: !configured.lightpush.is_empty(),
                store: !configured.store.is_empty(),
            },
            numbers: PeerNumbers::default(),
            peers: BTreeMap::new(),
            gone: VecDeque::new(),
            connections: 0,
        };
        for address in &configured.filter {
            table.configure(address, |services| services.filter = true);
        }
        for address in &configured.lightpush {
            table.configure(address, |services| services.lightpush = true);
        }
        for address in &configured.store {
            table.configure(address, |services| services.store = true);
        }
        let peers: Vec<_> = table.peers.keys().copied().collect();
        for peer in peers {
            table.tell(peer);
        }
        table
    }

    fn configure(&mut self, address: &Multiaddr, offer: impl FnOnce(&mut Services)) {
        let Some(Protocol::P2p(identity)) = address.iter().last() else {
            return; // The configuration refuses addresses without a peer.
        };
        let number = self.numbers.number(identity);
        let new = || WatchedPeer::new(identity);
        let peer = self.peers.entry(number).or_insert_with(new);
        offer(&mut peer.configured);
        if address.iter().count() > 1 && !peer.addresses.contains(address) {
            peer.addresses.push(address.clone());
        }
    }

    /// Returns the number of a peer, if it is in the table.
    pub(super) fn number(&self, identity: PeerId) -> Option<PeerNo> {
        self.numbers.find(identity)
    }

    /// Returns the identity of a peer, if it is in the table.
    pub(super) fn identity(&self, peer: PeerNo) -> Option<PeerId> {
        self.numbers.peer(peer)
    }

    /// Whether the configuration names a peer.
    pub(super) fn is_configured(&self, peer: PeerNo) -> bool {
        self.peers
            .get(&peer)
            .is_some_and(WatchedPeer::is_configured)
    }

    /// Returns the lightpush version to use with a peer: v3 unless it announced only v2.
    pub(super) fn lightpush_version(&self, peer: PeerNo) -> LightpushVersion {
        match self.peers.get(&peer) {
            Some(known) if known.is_legacy_pusher => LightpushVersion::V2,
            _ => LightpushVersion::V3,
        }
    }

    /// Returns the peers that offer a service, each with whether it is connected.
    pub(super) fn offers(&self) -> Vec<(ServicePeer, bool)> {
        let told = |peer: &WatchedPeer| Some((peer.told.clone()?, peer.link == PeerLink::Up));
        self.peers.values().filter_map(told).collect()
    }

    /// Returns the connected peers that announced a protocol.
    pub(super) fn witnesses(&self, protocol: &str) -> Vec<Witness> {
        let offers = self
            .peers
            .iter()
            .filter(|(_, peer)| peer.link != PeerLink::Down && peer.protocols.contains(&protocol));
        let witness = |(number, peer): (&PeerNo, &WatchedPeer)| Witness {
            peer: *number,
            standing: peer.standing(),
            network: peer.network,
        };
        offers.map(witness).collect()
    }

    /// Returns the disconnected peers that announced a protocol.
    pub(super) fn gone(&self, protocol: &str) -> Vec<PeerNo> {
        let peers = self.peers.iter();
        let gone = peers
            .filter(|(_, peer)| peer.link == PeerLink::Down && peer.protocols.contains(&protocol));
        gone.map(|(number, _)| *number).collect()
    }

    /// Returns the peers that can be asked for a service, best first: the peers named for it in their order, or if
    /// there are none, those that [`choose`] selects.
    pub(super) fn candidates(
        &mut self,
        protocol: &str,
        named: &[Multiaddr],
        rng: &mut ChaCha8Rng,
    ) -> Vec<Candidate> {
        if named.is_empty() {
            let chosen = choose(self.witnesses(protocol), rng).into_iter();
            let candidate = |witness: Witness| {
                let identity = self.numbers.peer(witness.peer)?;
                let address = Multiaddr::empty().with(Protocol::P2p(identity));
                Some(Candidate { address, witness })
            };
            return chosen.filter_map(candidate).collect();
        }
        let named = named.iter().filter_map(|address| {
            let Some(Protocol::P2p(identity)) = address.iter().last() else {
                return None; // The configuration refuses addresses without a peer.
            };
            Some(Candidate {
                address: address.clone(),
                witness: Witness {
                    peer: self.numbers.number(identity),
                    standing: Standing::Named,
                    network: None,
                },
            })
        });
        named.collect()
    }

    /// Records that answers of peers agree. If one of them is not a stranger, none of them is a stranger any more.
    /// Strangers that agree only with each other stay strangers.
    pub(super) fn agreed(&mut self, agreeing: &[PeerNo]) -> Vec<ServicePeerEvent> {
        let known = |number: &PeerNo| {
            let peer = self.peers.get(number);
            peer.is_some_and(|peer| peer.standing() > Standing::Stranger)
        };
        if !agreeing.iter().any(known) {
            return Vec::new();
        }
        let mut events = Vec::new();
        for number in agreeing {
            if let Some(peer) = self.peers.get_mut(number) {
                peer.has_agreed = true;
            }
            events.extend(self.tell(*number));
        }
        events
    }

    /// Returns the events for a new watcher.
    pub(super) fn present(&self) -> Vec<ServicePeerEvent> {
        let mut events = Vec::new();
        for (peer, is_up) in self.offers() {
            let number = peer.peer;
            events.push(ServicePeerEvent::Found(peer));
            if is_up {
                events.push(ServicePeerEvent::Connected(number));
            }
        }
        events
    }

    /// Handles news from the event loop; returns the events for the watchers.
    pub(super) fn news(&mut self, news: PeerNews) -> Vec<ServicePeerEvent> {
        match news {
            PeerNews::Connected {
                peer,
                is_chosen,
                network,
            } => {
                self.connected(peer, is_chosen, network);
                Vec::new()
            }
            PeerNews::Announced {
                peer,
                protocols,
                address,
            } => self.announced(peer, &protocols, address),
            PeerNews::Shards { peer, shards } => self.named_shards(peer, &shards),
            PeerNews::Disconnected(identity) => self.disconnected(identity),
            PeerNews::DialFailed(identity) => self.dial_failed(identity),
        }
    }

    /// Returns the connection on which a peer is still to announce its services, for [`Self::greeted_enough`].
    pub(super) fn greeting(&self, identity: PeerId) -> Option<u64> {
        let number = self.numbers.find(identity)?;
        match self.peers.get(&number)?.link {
            PeerLink::Greeting { connection } => Some(connection),
            PeerLink::Down | PeerLink::Up => None,
        }
    }

    /// Ends the wait for a peer that has not announced its services on a connection in time; the peer is used as it is
    /// known.
    pub(super) fn greeted_enough(
        &mut self,
        identity: PeerId,
        connection: u64,
    ) -> Vec<ServicePeerEvent> {
        match self.greeting(identity) {
            Some(present) if present == connection => self.up(identity),
            _ => Vec::new(),
        }
    }

    fn connected(&mut self, identity: PeerId, is_chosen: bool, network: Option<Network>) {
        let number = self.numbers.number(identity);
        self.connections += 1;
        let new = || WatchedPeer::new(identity);
        let peer = self.peers.entry(number).or_insert_with(new);
        peer.link = PeerLink::Greeting {
            connection: self.connections,
        };
        // A stranger that is dialled because it offered a service remains one.
        peer.is_chosen |= is_chosen && peer.dial == DialAttempt::None;
        peer.network = network;
        peer.dial = DialAttempt::None;
        // Announcements from an earlier connection may be outdated.
        (peer.has_announced, peer.has_named_shards) = (false, false);
        self.gone.retain(|gone| *gone != number);
    }

    fn announced(
        &mut self,
        identity: PeerId,
        protocols: &[String],
        address: Option<Multiaddr>,
    ) -> Vec<ServicePeerEvent> {
        let Some(peer) = self.known(identity) else {
            return Vec::new();
        };
        let has = |id: &str| protocols.iter().any(|protocol| protocol == id);
        let (v2, v3) = (
            has(lightpush::legacy::PROTOCOL_ID),
            has(lightpush::PROTOCOL_ID),
        );
        peer.announced = Services {
            filter: has(filter::SUBSCRIBE_PROTOCOL_ID),
            lightpush: v2 || v3,
            store: has(store::PROTOCOL_ID),
        };
        peer.is_legacy_pusher = v2 && !v3;
        let ids = service_protocols().chain([RECONCILIATION_PROTOCOL_ID]);
        peer.protocols = ids.filter(|id| has(id)).collect();
        peer.has_metadata = has(METADATA_PROTOCOL.as_ref());
        peer.has_announced = true;
        peer.met_at = address;
        self.learned(identity)
    }

    fn named_shards(&mut self, identity: PeerId, shards: &[u16]) -> Vec<ServicePeerEvent> {
        let cluster = self.cluster;
        let Some(peer) = self.known(identity) else {
            return Vec::new();
        };
        let topic = |index: &u16| {
            let shard = Shard {
                cluster,
                index: *index,
            };
            Arc::from(shard.to_string())
        };
        // A peer that names no shards does not say which it serves.
        peer.topics = (!shards.is_empty()).then(|| shards.iter().map(topic).collect());
        peer.has_named_shards = true;
        self.learned(identity)
    }

    fn known(&mut self, identity: PeerId) -> Option<&mut WatchedPeer> {
        let number = self.numbers.find(identity)?;
        self.peers.get_mut(&number)
    }

    /// Reports a peer's announcements once they are complete.
    fn learned(&mut self, identity: PeerId) -> Vec<ServicePeerEvent> {
        let Some(number) = self.numbers.find(identity) else {
            return Vec::new();
        };
        match self.peers.get(&number) {
            Some(peer) if peer.link == PeerLink::Up => Vec::from_iter(self.tell(number)),
            Some(peer) if peer.link != PeerLink::Down && peer.is_greeted() => self.up(identity),
            Some(_) | None => Vec::new(),
        }
    }

    /// Reports that a peer is connected and can be used.
    fn up(&mut self, identity: PeerId) -> Vec<ServicePeerEvent> {
        let Some(number) = self.numbers.find(identity) else {
            return Vec::new();
        };
        if let Some(peer) = self.peers.get_mut(&number) {
            peer.link = PeerLink::Up;
        }
        let mut events = Vec::from_iter(self.tell(number));
        if self.peers.get(&number).is_some_and(|p| p.told.is_some()) {
            events.push(ServicePeerEvent::Connected(number));
        }
        events
    }

    /// Returns an event with a peer's services, if they are news to the watchers.
    fn tell(&mut self, number: PeerNo) -> Option<ServicePeerEvent> {
        let by_configuration = self.configured;
        let peer = self.peers.get_mut(&number)?;
        let (named, said) = (peer.configured, peer.announced);
        let services = Services {
            filter: named.filter || (said.filter && !by_configuration.filter),
            lightpush: named.lightpush || (said.lightpush && !by_configuration.lightpush),
            store: named.store || (said.store && !by_configuration.store),
        };
        let found = ServicePeer {
            peer: number,
            services,
            pubsub_topics: peer.topics.clone(),
            filters_all: named.filter,
            standing: peer.standing(),
            network: peer.network,
        };
        let is_known = match &peer.told {
            Some(told) => *told == found,
            None => services == Services::default(),
        };
        if is_known {
            return None;
        }
        peer.told = Some(found.clone());
        Some(ServicePeerEvent::Found(found))
    }

    fn disconnected(&mut self, identity: PeerId) -> Vec<ServicePeerEvent> {
        let Some(number) = self.numbers.find(identity) else {
            return Vec::new();
        };
        let Some(peer) = self.peers.get_mut(&number) else {
            return Vec::new();
        };
        let was_up = std::mem::take(&mut peer.link) == PeerLink::Up;
        let Some(_) = &peer.told else {
            // A disconnected peer without services is of no interest.
            self.remove(number);
            return Vec::new();
        };
        let mut events = Vec::new();
        if was_up {
            events.push(ServicePeerEvent::Disconnected(number));
        }
        if !peer.is_configured() {
            self.gone.push_back(number);
        }
        if self.gone.len() > GONE_MAX
            && let Some(oldest) = self.gone.pop_front()
        {
            self.remove(oldest);
            events.push(ServicePeerEvent::Lost(oldest));
        }
        events
    }

    fn remove(&mut self, number: PeerNo) {
        self.peers.remove(&number);
        let peers = &self.peers;
        self.numbers.retain(|known| peers.contains_key(&known));
    }

    /// Begins to connect to a peer. Returns the attempt to make, or the events for the watchers if there is none.
    pub(super) fn dial(&mut self, number: PeerNo) -> Result<DialPlan, Vec<ServicePeerEvent>> {
        let failed = || vec![ServicePeerEvent::ConnectFailed(number)];
        let peer = self.peers.get_mut(&number).ok_or_else(failed)?;
        match (peer.link, peer.dial) {
            (PeerLink::Up, _) => return Err(vec![ServicePeerEvent::Connected(number)]),
            // The watchers will hear the outcome of the attempt in progress.
            (PeerLink::Greeting { .. }, _) | (PeerLink::Down, DialAttempt::Asked) => {
                return Err(Vec::new());
            }
            (PeerLink::Down, DialAttempt::None | DialAttempt::Elsewhere) => {}
        }
        let met_at = peer.met_at.clone();
        let met_at = met_at.map(|address| address.with(Protocol::P2p(peer.identity)));
        let mut addresses = peer.addresses.clone();
        addresses.extend(met_at.filter(|address| !peer.addresses.contains(address)));
        if addresses.is_empty() {
            return Err(failed());
        }
        peer.dial = DialAttempt::Asked;
        Ok(DialPlan { addresses })
    }

    /// Ends the attempt of [`Self::dial`]. If it succeeded before the connection was reported, it may have joined
    /// another attempt, whose outcome is still to come.
    pub(super) fn dialled(&mut self, number: PeerNo, succeeded: bool) -> Vec<ServicePeerEvent> {
        let Some(peer) = self.peers.get_mut(&number) else {
            return Vec::new();
        };
        if peer.dial != DialAttempt::Asked || peer.link != PeerLink::Down {
            return Vec::new();
        }
        if succeeded {
            peer.dial = DialAttempt::Elsewhere;
            return Vec::new();
        }
        peer.dial = DialAttempt::None;
        vec![ServicePeerEvent::ConnectFailed(number)]
    }

    fn dial_failed(&mut self, identity: PeerId) -> Vec<ServicePeerEvent> {
        let Some(number) = self.numbers.find(identity) else {
            return Vec::new();
        };
        match self.peers.get_mut(&number) {
            Some(peer) if peer.dial == DialAttempt::Elsewhere => {
                peer.dial = DialAttempt::None;
                vec![ServicePeerEvent::ConnectFailed(number)]
            }
            Some(_) | None => Vec::new(),
        }
    }
}
