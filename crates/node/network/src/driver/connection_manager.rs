//! Connections that the node opens by itself: passes events to the connection manager and carries out its outputs.

use std::collections::BTreeSet;

use libp2p::core::{ConnectedPoint, Endpoint};
use libp2p::{Multiaddr, PeerId};
use undertone_gossip::Direction;
use undertone_message::PubsubTopic;
use undertone_peers::{Capabilities, CloseReason, Input, Output, PeerFacts, PeerOffer, PeerSource};

use super::addresses::{ip_of, is_of_one_link};
use super::event_loop::EventLoop;
use crate::swarm::{METADATA_PROTOCOL, is_relayed};

/// Maximum number of a peer's announced listen addresses that are used.
const LISTEN_ADDRESSES_MAX: usize = 8;

/// Protocols, each with the capability that it implies.
const CAPABILITIES: [(&str, Capabilities); 4] = [
    ("/vac/waku/relay/2.0.0", Capabilities::RELAY),
    (undertone_services::store::PROTOCOL_ID, Capabilities::STORE),
    (
        undertone_services::filter::SUBSCRIBE_PROTOCOL_ID,
        Capabilities::FILTER,
    ),
    (
        undertone_services::lightpush::PROTOCOL_ID,
        Capabilities::LIGHTPUSH,
    ),
];

impl EventLoop {
    /// Passes an input to the connection manager and carries out its outputs. Does nothing in a node without discovery.
    pub(crate) fn manage(&mut self, input: Input) {
        self.protect_new_members();
        self.apply(input);
    }

    /// Tells the manager of peers that have newly joined a mesh. It must hear of them before any other input, because
    /// any input may make it prune.
    fn protect_new_members(&mut self) {
        if self.connections.is_none() {
            return;
        }
        let used = self.used_connections();
        let Some(connections) = &mut self.connections else {
            return;
        };
        for peer in connections.newly_used(&used) {
            self.apply(Input::Protected {
                peer,
                is_protected: true,
            });
        }
    }

    fn apply(&mut self, input: Input) {
        let now = self.clock.now();
        let Some(connections) = &mut self.connections else {
            return;
        };
        connections.manager.handle(now, input);
        let mut failed = Vec::new();
        while let Some(output) = connections.manager.poll() {
            match output {
                Output::Dial { peer, addresses } => {
                    tracing::debug!(%peer, ?addresses, "dialling a peer that was found");
                    let dialled = self.dialling.dial_found(peer, addresses, &mut self.swarm);
                    if let Err(error) = dialled {
                        tracing::debug!(%peer, %error, "cannot dial");
                        failed.push(peer);
                    }
                }
                Output::Close { peer, reason } => {
                    let why = match reason {
                        CloseReason::OtherCluster => "it belongs to another cluster",
                        CloseReason::TooMany => "there are more connections than this node wants",
                    };
                    if self.peers.begin_closing(peer) {
                        tracing::info!(%peer, why, "disconnecting a peer");
                        self.swarm.behaviour_mut().pubsub.disconnect(peer);
                    }
                }
                Output::Discover(wanted) => {
                    tracing::debug!(?wanted, "looking for peers");
                    // A full channel means that a search is about to start.
                    let _ = connections.ports.wishes.try_send(());
                }
                Output::Remember(peer) => {
                    if let Some(entry) = connections.manager.store().get(&peer) {
                        connections.ports.memory.remember(peer, entry);
                    }
                }
                Output::Forget(peer) => connections.ports.memory.forget(peer),
                Output::Refused { peer, reason } => {
                    tracing::debug!(%peer, ?reason, "a peer that was found is not taken in");
                }
            }
        }
        for peer in failed {
            self.apply(Input::DialFailed(peer));
        }
    }

    /// Passes a peer found by discovery to the manager.
    pub(crate) fn found(&mut self, offer: PeerOffer) {
        let is_hearsay = offer.source == PeerSource::Rendezvous;
        self.totals.found_by_rendezvous += u64::from(is_hearsay);
        let offer = match &self.connections {
            Some(connections) if is_hearsay => connections.without_hearsay(offer),
            _ => offer,
        };
        self.manage(Input::Offer(offer));
    }

    /// Tells the manager of a peer's first connection.
    pub(crate) fn managed_connected(&mut self, peer: PeerId, endpoint: &ConnectedPoint) {
        let direction = match endpoint.to_endpoint() {
            Endpoint::Dialer => Direction::Outbound,
            Endpoint::Listener => Direction::Inbound,
        };
        let address = endpoint.get_remote_address().clone();
        self.manage(Input::Connected {
            peer,
            address,
            direction,
        });
        let origin = self.connections.as_ref().and_then(|c| c.origin(&peer));
        if let Some(origin) = origin
            && direction == Direction::Outbound
        {
            self.peers.known(peer).origin = origin;
        }
    }

    /// Tells the manager what a peer announced through identify.
    pub(crate) fn managed_identified(&mut self, peer: PeerId, listens_at: &[Multiaddr]) {
        if self.connections.is_none() {
            return;
        }
        let protocols = &self.peers.known(peer).protocols;
        let offers = |id: &str| protocols.iter().any(|protocol| protocol == id);
        let capabilities = CAPABILITIES.into_iter().filter(|(id, _)| offers(id));
        let capabilities = capabilities.fold(Capabilities::NONE, |all, (_, one)| all.union(one));
        let speaks_waku = offers(METADATA_PROTOCOL.as_ref());
        let facts = PeerFacts {
            capabilities: speaks_waku.then_some(capabilities),
            ..PeerFacts::default()
        };
        let listens_at = listens_at.iter().take(LISTEN_ADDRESSES_MAX).cloned();
        self.manage(Input::Learned {
            peer,
            facts,
            listens_at: listens_at.collect(),
        });
    }

    /// Tells the manager what a peer announced through metadata.
    pub(crate) fn managed_metadata(&mut self, peer: PeerId, cluster: Option<u32>, shards: &[u16]) {
        let facts = PeerFacts {
            cluster: cluster.and_then(|cluster| u16::try_from(cluster).ok()),
            shards: Some(shards.to_vec()),
            capabilities: None,
        };
        self.manage(Input::Learned {
            peer,
            facts,
            listens_at: Vec::new(),
        });
    }

    /// Tells the manager and discovery what has changed on this node: its shards, its addresses, and the connections in
    /// use.
    pub(crate) fn publish_connections(&mut self) {
        if self.connections.is_none() {
            return;
        }
        let shards: Vec<u16> = self.shards.indices().collect();
        let told = self.reach.announced_addresses(&self.swarm);
        let (record, own) = (self.reach.record(), &self.shards);
        let content = record.values(&told, own.cluster_id(), own.joined());
        let listening = self.swarm.listeners().filter(|own| !is_relayed(own));
        let listening = listening.filter(|own| !is_of_one_link(own));
        let listening: BTreeSet<_> = listening.filter_map(ip_of).collect();
        let external = self.swarm.external_addresses();
        let addresses: Vec<_> = self.swarm.listeners().chain(external).cloned().collect();
        let used = self.used_connections();
        let thin = self.thin_meshes();
        let now = self.clock.now();
        let Some(connections) = &mut self.connections else {
            return;
        };
        connections
            .ports
            .tell(content, &shards, listening.into_iter().collect());
        // Protected connections come first: any input may make the manager prune.
        let before = std::mem::replace(&mut connections.protected, used.clone());
        let left = before.difference(&used).map(|peer| Input::Protected {
            peer: *peer,
            is_protected: false,
        });
        let left: Vec<_> = left.collect();
        let mut inputs: Vec<_> = used
            .into_iter()
            .map(|peer| Input::Protected {
                peer,
                is_protected: true,
            })
            .collect();
        inputs.extend(left);
        if connections.shards != shards {
            connections.shards.clone_from(&shards);
            inputs.push(Input::Shards(shards));
        }
        inputs.push(Input::ThinMeshes(connections.long_thin(now, &thin)));
        if connections.own_addresses != addresses {
            connections.own_addresses.clone_from(&addresses);
            inputs.push(Input::OwnAddresses(addresses));
        }
        for input in inputs {
            self.apply(input);
        }
    }

    /// Returns the shards whose mesh has fewer members than its lower bound.
    fn thin_meshes(&self) -> BTreeSet<u16> {
        let router = self.relay.router();
        let least = router.config().degrees.d_low;
        let is_thin = |topic: &&PubsubTopic| {
            let topic = undertone_gossip::Topic::new(&topic.to_string());
            router.mesh(&topic).len() < least
        };
        let thin = self.shards.joined().iter().filter(is_thin);
        thin.filter_map(PubsubTopic::shard)
            .map(|shard| shard.index)
            .collect()
    }

    /// Returns the peers whose connections must not be pruned: mesh members and peers named by the operator.
    fn used_connections(&self) -> BTreeSet<PeerId> {
        let router = self.relay.router();
        let meshes = router.joined();
        let members = meshes.iter().flat_map(|topic| router.mesh(topic));
        let members = members.filter_map(|ix| self.peers.identity(*ix));
        members.chain(self.dialling.kept_peers()).collect()
    }
}
