//! The libp2p side: a behaviour of our own that carries pubsub frames, and libp2p's ready-made behaviours.

mod address_group;
mod address_kind;
mod admission;
mod attempts;
mod behaviour;
mod boxed_handler;
mod certificate;
mod closing;
mod connection_slots;
mod frames;
mod handler;
mod handshake_limit;
mod handshakes;
mod in_transit;
mod limits;
mod metadata;
mod named;
mod nat;
mod outbox;
#[cfg(feature = "quic")]
mod quic;
mod renewable_tls;
mod session;
mod source_address;
mod stream_handler;
mod stream_request;
mod stream_tasks;
mod streams;
mod transport;
mod upgrade;
mod yamux;

pub(crate) use address_group::AddressGroup;
pub use address_kind::is_quic;
pub(crate) use address_kind::is_relayed;
pub(crate) use behaviour::{Pubsub, PubsubConfig, PubsubEvent};
pub(crate) use boxed_handler::Boxed;
pub use certificate::{CertificateError, CertificateFiles, RENEWAL};
pub(crate) use certificate::{CertificateWatch, RenewedCertificate};
pub(crate) use connection_slots::NoSlot;
pub(crate) use frames::Incoming;
pub(crate) use in_transit::InTransit;
pub use limits::ConnectionLimits;
pub use metadata::METADATA_PROTOCOL;
pub(crate) use metadata::MetadataCodec;
pub(crate) use named::TrustedNames;
pub use nat::{CircuitLimits, NatOptions, RelayClient};
pub(crate) use nat::{HOP_PROTOCOL, NatBehaviourEvent};
pub(crate) use outbox::Gate;
pub use stream_request::{InboundStream, StreamOpenError};
pub(crate) use stream_tasks::{InboundFrames, Received};
pub use streams::{ServiceStreams, StreamChannels, StreamOpener};

use libp2p::identity::Keypair;
use libp2p::swarm::NetworkBehaviour;
use libp2p::{Swarm, identify, noise, ping, request_response};
use std::time::Duration;
use thiserror::Error;

use admission::Admission;
use nat::{NatBehaviour, ProbeOnly};

/// Interval at which identify repeats itself on a connection.
const IDENTIFY_INTERVAL: Duration = Duration::from_secs(300);

/// Time for which a connection without pubsub streams is kept open, for identify and metadata.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Interval between pings. With two timeouts of [`PING_TIMEOUT`], and the 10 s that libp2p gives the stream
/// of the second attempt, a dead connection is found within 26 s.
const PING_INTERVAL: Duration = Duration::from_secs(5);

/// Time for a peer to answer a ping; a peer that fails twice in a row is disconnected.
const PING_TIMEOUT: Duration = Duration::from_secs(6);

/// Maximum number of streams per connection on which a protocol is being negotiated; further ones wait.
const NEGOTIATING_STREAMS_MAX: usize = 8;

/// All libp2p behaviours of a node.
#[derive(NetworkBehaviour)]
pub(crate) struct Behaviour {
    /// Listed first, so that a connection over the limit is refused before other behaviours handle it.
    pub(crate) admission: Admission,
    pub(crate) pubsub: Pubsub,
    pub(crate) identify: identify::Behaviour,
    pub(crate) ping: ping::Behaviour,
    pub(crate) metadata: request_response::Behaviour<MetadataCodec>,
    pub(crate) services: ServiceStreams,
    pub(crate) nat: NatBehaviour,
}

/// Reason why the transports could not be set up.
#[derive(Debug, Error)]
pub(crate) enum SwarmError {
    /// Noise refused the key.
    #[error("noise: {0}")]
    Noise(#[from] noise::Error),
    /// The system's DNS configuration could not be read.
    #[error("DNS: {0}")]
    Dns(#[from] std::io::Error),
    /// QUIC addresses are configured, but this program was built without QUIC.
    #[error(
        "this program was built without QUIC; leave out the addresses with quic-v1, or build it with the feature `quic`"
    )]
    #[cfg_attr(
        feature = "quic",
        expect(dead_code, reason = "made where the feature is off")
    )]
    WithoutQuic,
}

/// Parts that the swarm is built from.
pub(crate) struct SwarmOptions {
    pub(crate) keypair: Keypair,
    pub(crate) agent: String,
    pub(crate) pubsub: PubsubConfig,
    pub(crate) limits: ConnectionLimits,
    pub(crate) services: ServiceStreams,
    pub(crate) nat: NatOptions,
    /// Whether the transports include QUIC.
    pub(crate) has_quic: bool,
    /// Whether peers are told only the external addresses.
    pub(crate) hides_listening: bool,
    /// Certificate of the WebSocket port, if it has one.
    pub(crate) certificate: Option<RenewedCertificate>,
    /// Host names that may resolve to private addresses.
    pub(crate) trusted_names: TrustedNames,
}

/// Swarm of a node.
pub(crate) type NodeSwarm = Swarm<Boxed<Behaviour>>;

/// Builds a swarm that does not listen or dial yet.
///
/// # Errors
/// [`SwarmError`] if Noise refuses the key, QUIC is wanted but not compiled in, or the system's DNS configuration
/// cannot be read.
pub(crate) fn build(options: SwarmOptions) -> Result<NodeSwarm, SwarmError> {
    let SwarmOptions {
        keypair,
        agent,
        pubsub,
        limits,
        services,
        nat,
        has_quic,
        hides_listening,
        certificate,
        trusted_names,
    } = options;
    let identify = identify::Config::new("ipfs/0.1.0".into(), keypair.public())
        .with_agent_version(agent)
        .with_interval(IDENTIFY_INTERVAL)
        .with_hide_listen_addrs(hides_listening)
        // A node that gets a relay or a port mapping is reachable from then on, so peers must hear of it.
        .with_push_listen_addr_updates(true);
    let own = keypair.public().to_peer_id();
    let probe_only = ProbeOnly::default();
    let (nat, circuits) = NatBehaviour::new(own, &nat, probe_only.clone());
    let behaviour = Behaviour {
        admission: Admission::new(limits.clone()),
        pubsub: Pubsub::new(pubsub, probe_only),
        identify: identify::Behaviour::new(identify),
        ping: ping::Behaviour::new(
            ping::Config::new()
                .with_interval(PING_INTERVAL)
                .with_timeout(PING_TIMEOUT),
        ),
        metadata: metadata::behaviour(),
        services,
        nat,
    };
    let transport = transport::build(
        &keypair,
        limits,
        has_quic,
        certificate.unwrap_or_default(),
        circuits,
        &trusted_names,
    )?;
    let config = libp2p::swarm::Config::with_tokio_executor()
        .with_idle_connection_timeout(IDLE_TIMEOUT)
        // Happy Eyeballs (RFC 8305): a peer's addresses are dialled shortly after one another, IPv6 and IPv4 in turn.
        .with_smart_dial()
        .with_max_negotiating_inbound_streams(NEGOTIATING_STREAMS_MAX);
    Ok(Swarm::new(transport, Boxed::new(behaviour), own, config))
}
