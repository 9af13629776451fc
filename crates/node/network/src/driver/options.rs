//! Options that a node is started with.

use libp2p::Multiaddr;
use libp2p::identity::Keypair;
use tokio::sync::mpsc;
use undertone_membership::evm::ChainHandle;
use undertone_message::{NetworkPreset, PubsubTopic};
use undertone_peers::Capabilities;
use undertone_relay::RelayConfig;
use undertone_rln::{BatchPolicy, Verifier};

use super::announced::AnnouncedAddresses;
use super::discovery_ports::DiscoveryPorts;
use super::events::TimedEvent;
use super::membership_source::{MembershipSource, SharedView};
use super::peer_news::PeerNews;
use super::rln::{MembershipProbe, ProofSource};
use crate::portmap::MappingMethod;
use crate::swarm::{CertificateFiles, ConnectionLimits, NatOptions, ServiceStreams};
use crate::traces::Tracer;

/// Pubsub protocol id that every Waku relay knows.
pub(super) const WAKU_RELAY: &str = "/vac/waku/relay/2.0.0";

/// Default maximum number of connections.
const CONNECTIONS_MAX: u32 = 150;

/// Identity, parameters and services of a node.
///
/// [`Self::for_network`] fills in a new identity and defaults; the other methods replace one option each.
#[must_use]
pub struct NodeOptions {
    pub(super) keypair: Keypair,
    pub(super) listen: Vec<Multiaddr>,
    pub(super) announced: AnnouncedAddresses,
    pub(super) port_mapping: Option<MappingMethod>,
    pub(super) nat: NatOptions,
    pub(super) certificate: Option<CertificateFiles>,
    pub(super) relay: RelayConfig,
    pub(super) network: &'static str,
    pub(super) protocols: Vec<String>,
    pub(super) topics: Vec<PubsubTopic>,
    pub(super) static_peers: Vec<Multiaddr>,
    pub(super) service_peers: Vec<Multiaddr>,
    pub(super) connections: ConnectionLimits,
    pub(super) rln: Option<RlnOptions>,
    pub(super) clock_ahead_ns: i64,
    pub(super) events: Option<mpsc::UnboundedSender<TimedEvent>>,
    pub(super) services: Option<ServiceStreams>,
    pub(super) discovery: Option<DiscoveryPorts>,
    pub(super) capabilities: Capabilities,
    pub(super) peer_news: Option<mpsc::UnboundedSender<PeerNews>>,
    pub(super) tracer: Option<Tracer>,
}

impl NodeOptions {
    /// Returns the options of a node in a network, with a newly generated secp256k1 identity.
    ///
    /// It listens nowhere, subscribes to nothing, knows no peers, offers `/vac/waku/relay/2.0.0` only and has
    /// at most 150 connections. If the network has rate limiting, [`Self::rln`] is required, or a relay
    /// configuration without it.
    pub fn for_network(network: &NetworkPreset) -> Self {
        Self {
            keypair: Keypair::generate_secp256k1(),
            listen: Vec::new(),
            announced: AnnouncedAddresses::default(),
            port_mapping: None,
            nat: NatOptions::none(),
            certificate: None,
            relay: RelayConfig::for_network(network),
            network: network.name,
            protocols: vec![WAKU_RELAY.to_owned()],
            topics: Vec::new(),
            static_peers: Vec::new(),
            service_peers: Vec::new(),
            connections: ConnectionLimits::with_total(CONNECTIONS_MAX),
            rln: None,
            clock_ahead_ns: 0,
            events: None,
            services: None,
            discovery: None,
            capabilities: Capabilities::RELAY,
            peer_news: None,
            tracer: None,
        }
    }

    /// Sets the key pair of the node's identity.
    pub fn keypair(self, keypair: Keypair) -> Self {
        Self { keypair, ..self }
    }

    /// Sets the addresses to listen on; port 0 lets the system choose. A node that listens on a QUIC address
    /// (`…/udp/PORT/quic-v1`) also dials QUIC addresses, before the other addresses of a peer.
    pub fn listen(self, addresses: impl IntoIterator<Item = Multiaddr>) -> Self {
        let listen = addresses.into_iter().collect();
        Self { listen, ..self }
    }

    /// Sets the addresses at which others reach the node; without them, it announces those that it listens on.
    pub fn announced(self, announced: AnnouncedAddresses) -> Self {
        Self { announced, ..self }
    }

    /// Sets the protocol by which the router is asked to open the node's ports; without it, the router is not asked.
    pub fn port_mapping(self, port_mapping: impl Into<Option<MappingMethod>>) -> Self {
        let port_mapping = port_mapping.into();
        Self {
            port_mapping,
            ..self
        }
    }

    /// Sets the NAT traversal that the node uses and offers: AutoNAT, circuits through relays, hole punching. The
    /// default is none.
    pub fn nat(self, nat: NatOptions) -> Self {
        Self { nat, ..self }
    }

    /// Sets the certificate for secure WebSocket addresses (`…/wss`). A running node reloads it when the files change.
    pub fn certificate(self, certificate: impl Into<Option<CertificateFiles>>) -> Self {
        let certificate = certificate.into();
        Self {
            certificate,
            ..self
        }
    }

    /// Sets the parameters of the relay in place of the network's.
    pub fn relay(self, relay: RelayConfig) -> Self {
        Self { relay, ..self }
    }

    /// Sets the pubsub protocol ids to offer, most preferred first. Each must be one of
    /// [`undertone_gossip::PROTOCOLS`]. A node without any does not relay.
    pub fn protocols(self, ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let protocols = ids.into_iter().map(Into::into).collect();
        Self { protocols, ..self }
    }

    /// Sets the topics to subscribe to from the start.
    pub fn topics(self, topics: impl IntoIterator<Item = PubsubTopic>) -> Self {
        let topics = topics.into_iter().collect();
        Self { topics, ..self }
    }

    /// Sets the peers to stay connected to.
    pub fn static_peers(self, peers: impl IntoIterator<Item = Multiaddr>) -> Self {
        let static_peers = peers.into_iter().collect();
        Self {
            static_peers,
            ..self
        }
    }

    /// Sets the service peers to stay connected to; unlike static peers they cannot be replaced.
    pub fn service_peers(self, peers: impl IntoIterator<Item = Multiaddr>) -> Self {
        let service_peers = peers.into_iter().collect();
        Self {
            service_peers,
            ..self
        }
    }

    /// Sets the connection limits. At its start, a node lowers them if it may not open enough files.
    pub fn connections(self, connections: ConnectionLimits) -> Self {
        Self {
            connections,
            ..self
        }
    }

    /// Sets the services for rate limiting; required if the relay's configuration enables it.
    pub fn rln(self, rln: impl Into<Option<RlnOptions>>) -> Self {
        let rln = rln.into();
        Self { rln, ..self }
    }

    /// Sets the offset of the node's wall clock from the system's, nanoseconds; positive when it is ahead.
    pub fn clock_ahead_ns(self, clock_ahead_ns: i64) -> Self {
        Self {
            clock_ahead_ns,
            ..self
        }
    }

    /// Sets the behaviour that carries the services' streams; without it, the node has no services.
    pub fn services(self, services: ServiceStreams) -> Self {
        let services = Some(services);
        Self { services, ..self }
    }

    /// Sets the channels to discovery; without them, the node knows only the peers that it is given.
    pub fn discovery(self, discovery: Option<DiscoveryPorts>) -> Self {
        Self { discovery, ..self }
    }

    /// Sets the services that the node's record announces.
    pub fn capabilities(self, capabilities: Capabilities) -> Self {
        Self {
            capabilities,
            ..self
        }
    }

    /// Sets the channel for news about peers that the services need.
    pub fn peer_news(self, news: mpsc::UnboundedSender<PeerNews>) -> Self {
        let peer_news = Some(news);
        Self { peer_news, ..self }
    }

    /// Sets the tracer; without it, there are no traces.
    pub fn tracer(self, tracer: Option<Tracer>) -> Self {
        Self { tracer, ..self }
    }

    /// Sets the channel for events, for observers within the process.
    pub fn events(self, events: impl Into<Option<mpsc::UnboundedSender<TimedEvent>>>) -> Self {
        let events = events.into();
        Self { events, ..self }
    }
}

/// Services and settings that a node needs for rate limiting.
///
/// [`Self::new`] fills in defaults; the other methods replace one option each.
#[must_use]
pub struct RlnOptions {
    pub(super) membership: MembershipSource,
    pub(super) chain: Option<ChainHandle>,
    pub(super) verifier: Verifier,
    pub(super) verifier_threads: usize,
    pub(super) batches: BatchPolicy,
    pub(super) proofs: Option<Box<dyn ProofSource>>,
    pub(super) membership_probe: Option<MembershipProbe>,
}

impl RlnOptions {
    /// Returns the options of a node that is not a member: it verifies proofs with one thread and generates none.
    ///
    /// The view of `membership` is shared with the source of the node's own proofs.
    pub fn new(membership: MembershipSource, verifier: Verifier) -> Self {
        Self {
            membership,
            chain: None,
            verifier,
            verifier_threads: 1,
            batches: BatchPolicy::default(),
            proofs: None,
            membership_probe: None,
        }
    }

    /// Sets the handle of the thread that follows the registry's chain; `None` if the registry is not on a chain.
    pub fn chain(self, chain: impl Into<Option<ChainHandle>>) -> Self {
        let chain = chain.into();
        Self { chain, ..self }
    }

    /// Sets the number of verifier threads; there is always at least one.
    pub fn verifier_threads(self, verifier_threads: usize) -> Self {
        Self {
            verifier_threads,
            ..self
        }
    }

    /// Sets the rule for verifying proofs in batches.
    pub fn batches(self, batches: BatchPolicy) -> Self {
        Self { batches, ..self }
    }

    /// Sets the generator of the node's own proofs; `None` for a node that is not a member.
    pub fn proofs(self, proofs: impl Into<Option<Box<dyn ProofSource>>>) -> Self {
        let proofs = proofs.into();
        Self { proofs, ..self }
    }

    /// Sets the check for changes of the node's own membership; without it, the membership never changes.
    pub fn membership_probe(self, probe: MembershipProbe) -> Self {
        let membership_probe = Some(probe);
        Self {
            membership_probe,
            ..self
        }
    }

    /// Returns the verifier of proofs.
    pub fn verifier(&self) -> &Verifier {
        &self.verifier
    }

    /// Returns the node's view of the membership set.
    pub fn membership_view(&self) -> SharedView {
        self.membership.shared_view()
    }

    /// Whether the node has a source of proofs from the start.
    pub fn has_proofs(&self) -> bool {
        self.proofs.is_some()
    }
}
