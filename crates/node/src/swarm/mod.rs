//! The libp2p side: one behaviour that carries pubsub frames, and those that come ready made.

mod arrivals;
mod behaviour;
mod frames;
mod handler;
mod metadata;
mod outbox;
mod pump;
mod upgrade;

pub(crate) use arrivals::Arrivals;
pub(crate) use behaviour::{Pubsub, PubsubConfig, PubsubEvent};
pub(crate) use frames::Incoming;
pub(crate) use metadata::{METADATA_PROTOCOL, MetadataCodec};
pub(crate) use outbox::Gate;
pub(crate) use pump::{Inbound, Received};

use libp2p::identity::Keypair;
use libp2p::swarm::NetworkBehaviour;
use libp2p::{Swarm, connection_limits, identify, noise, ping, request_response, tcp, yamux};
use std::time::Duration;
use thiserror::Error;

/// How often identify repeats itself on a connection.
const IDENTIFY_INTERVAL: Duration = Duration::from_secs(300);

/// How long a connection without pubsub streams is kept: time for identify and metadata.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Everything a node does on its connections.
#[derive(NetworkBehaviour)]
pub(crate) struct Behaviour {
    /// First, so that a connection over the limit costs nothing more.
    pub(crate) limits: connection_limits::Behaviour,
    pub(crate) pubsub: Pubsub,
    pub(crate) identify: identify::Behaviour,
    pub(crate) ping: ping::Behaviour,
    pub(crate) metadata: request_response::Behaviour<MetadataCodec>,
}

/// The transports could not be set up.
#[derive(Debug, Error)]
pub(crate) enum SwarmError {
    /// Noise refused the key.
    #[error("noise: {0}")]
    Noise(#[from] noise::Error),
    /// The system's DNS configuration could not be read.
    #[error("DNS: {0}")]
    Dns(#[from] std::io::Error),
    /// WebSocket could not be set up.
    #[error("WebSocket: {0}")]
    WebSocket(String),
}

/// What the swarm is built from.
pub(crate) struct SwarmOptions {
    pub(crate) keypair: Keypair,
    pub(crate) agent: String,
    pub(crate) pubsub: PubsubConfig,
    pub(crate) max_connections: u32,
}

/// TCP and WebSocket, noise, yamux and mplex.
pub(crate) async fn build(options: SwarmOptions) -> Result<Swarm<Behaviour>, SwarmError> {
    let SwarmOptions {
        keypair,
        agent,
        pubsub,
        max_connections,
    } = options;
    let limits = connection_limits::ConnectionLimits::default()
        .with_max_established(Some(max_connections))
        .with_max_pending_incoming(Some(max_connections))
        .with_max_established_per_peer(Some(2));
    let identify = identify::Config::new("ipfs/0.1.0".into(), keypair.public())
        .with_agent_version(agent)
        .with_interval(IDENTIFY_INTERVAL)
        .with_push_listen_addr_updates(false);
    let behaviour = Behaviour {
        limits: connection_limits::Behaviour::new(limits),
        pubsub: Pubsub::new(pubsub),
        identify: identify::Behaviour::new(identify),
        ping: ping::Behaviour::default(),
        metadata: metadata::behaviour(),
    };
    let swarm = libp2p::SwarmBuilder::with_existing_identity(keypair)
        .with_tokio()
        .with_tcp(
            tcp::Config::default().nodelay(true),
            noise::Config::new,
            (yamux::Config::default, libp2p_mplex::Config::default),
        )?
        .with_dns()?
        .with_websocket(
            noise::Config::new,
            (yamux::Config::default, libp2p_mplex::Config::default),
        )
        .await
        .map_err(|error| SwarmError::WebSocket(error.to_string()))?
        .with_behaviour(|_| behaviour)
        .unwrap_or_else(|never| match never {})
        .with_swarm_config(|config| config.with_idle_connection_timeout(IDLE_TIMEOUT))
        .build();
    Ok(swarm)
}
