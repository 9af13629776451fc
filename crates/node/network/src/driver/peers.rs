//! Peers as the driver knows them: identities, indices, and what identify and metadata announced.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::time::Instant;

use libp2p::core::ConnectedPoint;
use libp2p::{Multiaddr, PeerId};
use undertone_gossip::PeerIx;
use undertone_services::metadata;
use undertone_services::service_protocols;
use undertone_services::sync::RECONCILIATION_PROTOCOL_ID;

use super::addresses::{ip_of, without_peer_id};
use super::options::WAKU_RELAY;
use super::transport;
use crate::command::{Connectedness, PeerOrigin, ProtocolPeers};

/// Waku protocols by which connected peers are counted, in addition to those of the services.
const OTHER_PROTOCOLS: [&str; 3] = [
    WAKU_RELAY,
    metadata::PROTOCOL_ID,
    RECONCILIATION_PROTOCOL_ID,
];

/// Maximum number of disconnected or unreachable peers that stay listed; the oldest are removed first.
const GONE_MAX: usize = 1024;

/// Known facts about one peer.
#[derive(Clone, Debug)]
pub(crate) struct KnownPeer {
    pub(crate) address: Option<Multiaddr>,
    pub(crate) protocols: Vec<String>,
    pub(crate) agent: String,
    pub(crate) shards: Vec<u16>,
    pub(crate) origin: PeerOrigin,
    pub(crate) connected: Connectedness,
    /// Whether the peer dialled this node. The port of its address is then an ephemeral one, on which nobody listens.
    pub(crate) is_inbound: bool,
    /// Transport of the present or last connection.
    pub(crate) transport: Option<&'static str>,
    /// Whether this node is closing the peer's connections.
    is_closing: bool,
    /// Time of the last ping that the peer answered; `None` if it was never pinged, or does not support ping.
    answered: Option<Instant>,
}

impl Default for KnownPeer {
    fn default() -> Self {
        Self {
            address: None,
            protocols: Vec::new(),
            agent: String::new(),
            shards: Vec::new(),
            origin: PeerOrigin::UnknownOrigin,
            connected: Connectedness::NotConnected,
            is_inbound: false,
            transport: None,
            is_closing: false,
            answered: None,
        }
    }
}

/// Table of known peers, and of the indices by which the router knows them.
#[derive(Debug, Default)]
pub(crate) struct PeerTable {
    known: BTreeMap<PeerId, KnownPeer>,
    gone: VecDeque<PeerId>,
    indices: BTreeMap<PeerId, PeerIx>,
    identities: Vec<Option<PeerId>>,
    free: Vec<PeerIx>,
    /// Peers counted when their score fell below the graylist threshold, and not recovered since.
    graylisted: BTreeSet<PeerIx>,
}

impl PeerTable {
    /// Returns the peer's index. A peer that the router still remembers keeps its former index.
    pub(crate) fn index(&mut self, peer: PeerId) -> PeerIx {
        if let Some(ix) = self.indices.get(&peer) {
            return *ix;
        }
        let ix = self.free.pop().unwrap_or_else(|| {
            self.identities.push(None);
            PeerIx(
                u32::try_from(self.identities.len() - 1)
                    .expect("connected and remembered peers are bounded far below 2^32"),
            )
        });
        self.identities[ix.0 as usize] = Some(peer);
        self.indices.insert(peer, ix);
        ix
    }

    pub(crate) fn find(&self, peer: &PeerId) -> Option<PeerIx> {
        self.indices.get(peer).copied()
    }

    /// Returns the peers that the router knows or remembers, each with its score.
    pub(crate) fn connected_scores(
        &self,
        score: impl Fn(PeerIx) -> f64,
    ) -> impl Iterator<Item = (PeerId, f64)> {
        let indices = self.indices.iter();
        indices.map(move |(peer, ix)| (*peer, score(*ix)))
    }

    pub(crate) fn identity(&self, ix: PeerIx) -> Option<PeerId> {
        self.identities.get(ix.0 as usize).copied().flatten()
    }

    /// Records that a peer's score is below the graylist threshold; returns `false` if that was already recorded.
    pub(crate) fn begin_graylisting(&mut self, ix: PeerIx) -> bool {
        self.graylisted.insert(ix)
    }

    /// Records that a peer's score is above the graylist threshold.
    pub(crate) fn end_graylisting(&mut self, ix: PeerIx) {
        self.graylisted.remove(&ix);
    }

    /// Frees an index that the router no longer remembers.
    pub(crate) fn release(&mut self, ix: PeerIx) {
        self.graylisted.remove(&ix);
        if let Some(peer) = self
            .identities
            .get_mut(ix.0 as usize)
            .and_then(Option::take)
        {
            self.indices.remove(&peer);
            self.free.push(ix);
        }
    }

    pub(crate) fn known(&mut self, peer: PeerId) -> &mut KnownPeer {
        self.known.entry(peer).or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&PeerId, &KnownPeer)> {
        self.known.iter()
    }

    pub(crate) fn connected(&mut self, peer: PeerId, endpoint: &ConnectedPoint) {
        let known = self.known(peer);
        let address = without_peer_id(endpoint.get_remote_address());
        // An address learnt through identify on another connection stays valid.
        let is_told = known.connected == Connectedness::Connected
            && known.is_inbound
            && endpoint.is_listener()
            && known.address.as_ref().and_then(ip_of) == ip_of(&address);
        // A peer that connected through a relay has no address.
        if !is_told {
            known.address = Some(address).filter(|address| !address.is_empty());
        }
        known.connected = Connectedness::Connected;
        known.is_closing = false;
        known.answered = None;
        known.is_inbound = endpoint.is_listener();
        known.transport = Some(transport::of_connection(endpoint));
        self.gone.retain(|gone| *gone != peer);
    }

    /// Records that a peer's connections are being closed; returns `false` if they already are, so that this is done
    /// and logged once. A later connection of the peer must be closed again.
    pub(crate) fn begin_closing(&mut self, peer: PeerId) -> bool {
        !std::mem::replace(&mut self.known(peer).is_closing, true)
    }

    /// Records when a known peer answered a ping; `None` if it does not support ping.
    pub(crate) fn note_answer(&mut self, peer: PeerId, at: Option<Instant>) {
        if let Some(known) = self.known.get_mut(&peer) {
            known.answered = at;
        }
    }

    /// Returns when a peer last answered a ping; `None` if pings do not show whether it is alive.
    pub(crate) fn answered(&self, peer: &PeerId) -> Option<Instant> {
        self.known.get(peer)?.answered
    }

    pub(crate) fn disconnected(&mut self, peer: PeerId) {
        self.set_gone(peer, Connectedness::CanConnect);
    }

    /// Records the listen address of a peer that dialled this node: the one most likely to be reachable.
    pub(crate) fn listens_at(&mut self, peer: PeerId, addresses: &[Multiaddr]) {
        let known = self.known(peer);
        if !known.is_inbound {
            return;
        }
        let from = known.address.as_ref().and_then(ip_of);
        let addresses: Vec<_> = addresses.iter().map(without_peer_id).collect();
        let at = |wanted: &dyn Fn(IpAddr) -> bool| {
            let fits = |address: &&Multiaddr| ip_of(address).is_some_and(wanted);
            addresses.iter().find(fits).cloned()
        };
        // An address with the IP that the peer connects from is most likely true. Behind NAT only the peer
        // knows its own.
        let is_reachable = |ip: IpAddr| !ip.is_loopback() && !ip.is_unspecified();
        let told = at(&|ip| Some(ip) == from).or_else(|| at(&is_reachable));
        if told.is_some() {
            known.address = told;
        }
    }

    /// Records a failed dial to a peer. The peer is listed if it was already known, or if `wished` is its address.
    pub(crate) fn unreachable(&mut self, peer: PeerId, wished: Option<&Multiaddr>) {
        let connected = |known: &KnownPeer| known.connected == Connectedness::Connected;
        let is_connected = self.known.get(&peer).is_some_and(connected);
        if is_connected || (wished.is_none() && !self.known.contains_key(&peer)) {
            return;
        }
        if let Some(address) = wished {
            let known = self.known(peer);
            known.address = Some(without_peer_id(address));
            known.origin = PeerOrigin::Static;
        }
        self.set_gone(peer, Connectedness::CannotConnect);
    }

    fn set_gone(&mut self, peer: PeerId, how: Connectedness) {
        self.known(peer).connected = how;
        self.gone.retain(|gone| *gone != peer);
        self.gone.push_back(peer);
        if self.gone.len() > GONE_MAX
            && let Some(oldest) = self.gone.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// Whether a connected peer has this address, which contains no peer id.
    pub(crate) fn is_connected_at(&self, address: &Multiaddr) -> bool {
        self.known.values().any(|known| {
            known.connected == Connectedness::Connected && known.address.as_ref() == Some(address)
        })
    }

    /// Returns the number of peers whose index satisfies a condition.
    pub(crate) fn count(&self, is_counted: impl Fn(PeerIx) -> bool) -> usize {
        self.indices.values().filter(|ix| is_counted(**ix)).count()
    }

    /// Returns the connected peers by the Waku protocols that they speak.
    pub(crate) fn by_protocol(&self) -> BTreeMap<&'static str, ProtocolPeers> {
        let mut peers: BTreeMap<_, ProtocolPeers> = BTreeMap::new();
        let known = self.known.values();
        for known in known.filter(|known| known.connected == Connectedness::Connected) {
            let speaks = |id: &&str| known.protocols.iter().any(|spoken| spoken == id);
            let protocols = OTHER_PROTOCOLS.into_iter().chain(service_protocols());
            for protocol in protocols.filter(speaks) {
                let peers = peers.entry(protocol).or_default();
                match known.is_inbound {
                    true => peers.inbound += 1,
                    false => peers.outbound += 1,
                }
            }
        }
        peers
    }

    pub(crate) fn connected_count(&self) -> usize {
        self.known
            .values()
            .filter(|known| known.connected == Connectedness::Connected)
            .count()
    }
}

#[cfg(test)]
mod tests {
    use libp2p::core::Endpoint;
    use libp2p::core::transport::PortUse;

    use super::*;

    #[test]
    fn a_peer_is_closed_once_for_each_time_it_connects() {
        let (mut peers, peer) = (PeerTable::default(), PeerId::random());
        let endpoint = ConnectedPoint::Dialer {
            address: "/ip4/127.0.0.1/tcp/1".parse().unwrap(),
            role_override: Endpoint::Dialer,
            port_use: PortUse::New,
        };
        for _ in 0..2 {
            peers.connected(peer, &endpoint);
            // Both sides ask for metadata, and the connection manager is told of it, too.
            let closed: Vec<_> = (0..3).map(|_| peers.begin_closing(peer)).collect();
            assert_eq!(closed, [true, false, false]);
            peers.disconnected(peer);
        }
    }
}
