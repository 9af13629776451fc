//! The libp2p side: one behaviour that carries pubsub frames, and those that come ready made.

mod address_group;
mod admission;
mod arrivals;
mod attempts;
mod behaviour;
mod closing;
mod doorway;
mod frames;
mod handler;
mod handshakes;
mod limits;
mod metadata;
mod outbox;
mod places;
mod pump;
mod session;
mod transport;
mod upgrade;
mod yamux;

pub(crate) use arrivals::Arrivals;
pub(crate) use behaviour::{Pubsub, PubsubConfig, PubsubEvent};
pub(crate) use frames::Incoming;
pub use limits::ConnectionLimits;
pub(crate) use metadata::{METADATA_PROTOCOL, MetadataCodec};
pub(crate) use outbox::Gate;
pub(crate) use pump::{Inbound, Received};

use libp2p::identity::Keypair;
use libp2p::swarm::NetworkBehaviour;
use libp2p::{Swarm, identify, noise, ping, request_response};
use std::time::Duration;
use thiserror::Error;

use admission::Admission;

/// How often identify repeats itself on a connection.
const IDENTIFY_INTERVAL: Duration = Duration::from_secs(300);

/// How long a connection without pubsub streams is kept: time for identify and metadata.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// How often a peer is asked for a sign of life. With [`PING_TIMEOUT`] twice, and the 10 s that libp2p gives
/// the stream of the second attempt, a connection that has died is found within 26 s.
const PING_INTERVAL: Duration = Duration::from_secs(5);

/// How long a peer may take to answer; who fails to twice in a row is gone.
const PING_TIMEOUT: Duration = Duration::from_secs(6);

/// Streams of a peer on which no protocol is agreed yet; more wait.
const NEGOTIATING_STREAMS_MAX: usize = 8;

/// Everything a node does on its connections.
#[derive(NetworkBehaviour)]
pub(crate) struct Behaviour {
    /// First, so that a connection over the limit costs nothing more.
    pub(crate) admission: Admission,
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
}

/// What the swarm is built from.
pub(crate) struct SwarmOptions {
    pub(crate) keypair: Keypair,
    pub(crate) agent: String,
    pub(crate) pubsub: PubsubConfig,
    pub(crate) limits: ConnectionLimits,
}

/// A swarm that listens and dials nowhere yet.
///
/// # Errors
/// [`SwarmError`] if the key or the system's DNS configuration is of no use.
pub(crate) fn build(options: SwarmOptions) -> Result<Swarm<Behaviour>, SwarmError> {
    let SwarmOptions {
        keypair,
        agent,
        pubsub,
        limits,
    } = options;
    let identify = identify::Config::new("ipfs/0.1.0".into(), keypair.public())
        .with_agent_version(agent)
        .with_interval(IDENTIFY_INTERVAL)
        .with_push_listen_addr_updates(false);
    let behaviour = Behaviour {
        admission: Admission::new(limits.clone()),
        pubsub: Pubsub::new(pubsub),
        identify: identify::Behaviour::new(identify),
        ping: ping::Behaviour::new(
            ping::Config::new()
                .with_interval(PING_INTERVAL)
                .with_timeout(PING_TIMEOUT),
        ),
        metadata: metadata::behaviour(),
    };
    let transport = transport::build(&keypair, limits)?;
    let config = libp2p::swarm::Config::with_tokio_executor()
        .with_idle_connection_timeout(IDLE_TIMEOUT)
        .with_max_negotiating_inbound_streams(NEGOTIATING_STREAMS_MAX);
    let peer_id = keypair.public().to_peer_id();
    Ok(Swarm::new(transport, behaviour, peer_id, config))
}
