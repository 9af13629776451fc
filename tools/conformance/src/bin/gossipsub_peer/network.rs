use std::time::Duration;

use futures::StreamExt;
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::{Boxed, Transport as _};
use libp2p::core::upgrade::Version;
use libp2p::swarm::{NetworkBehaviour, SwarmEvent};
use libp2p::{
    Multiaddr, PeerId, Swarm, TransportError, identify, identity, noise, ping, tcp, yamux,
};
use libp2p_gossipsub as gossipsub;
use sha2::{Digest, Sha256};
use undertone_conformance::frame_counter::{FrameCounter, TrafficCounter};

use crate::options::GossipsubPeerOptions;

/// Bytes that an RPC may have beyond the message: topic, ids, field headers.
const RPC_OVERHEAD_BYTES: usize = 4 << 10;

/// Protocols of the peer.
#[derive(NetworkBehaviour)]
pub(crate) struct Behaviour {
    pub(crate) gossip: gossipsub::Behaviour,
    identify: identify::Behaviour,
    ping: ping::Behaviour,
}

/// Errors in starting the peer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    #[error("the GossipSub options contradict one another: {0}")]
    Config(#[from] gossipsub::ConfigBuilderError),
    #[error("GossipSub: {0}")]
    Gossip(&'static str),
    #[error("noise: {0}")]
    Noise(#[from] noise::Error),
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        addr: Multiaddr,
        source: TransportError<std::io::Error>,
    },
    #[error("the listener on {addr} closed at once")]
    Closed { addr: Multiaddr },
}

/// Makes a swarm with a new key.
pub(crate) fn swarm(
    options: &GossipsubPeerOptions,
    counter: TrafficCounter,
) -> Result<Swarm<Behaviour>, SetupError> {
    let key = identity::Keypair::generate_ed25519();
    let own_id = key.public().to_peer_id();
    let authenticity = gossipsub::MessageAuthenticity::Anonymous;
    let behaviour = Behaviour {
        gossip: gossipsub::Behaviour::new(authenticity, gossip_config(options)?)
            .map_err(SetupError::Gossip)?,
        identify: identify::Behaviour::new(identify::Config::new(
            "undertone-interop/1".to_owned(),
            key.public(),
        )),
        ping: ping::Behaviour::default(),
    };
    let config = libp2p::swarm::Config::with_tokio_executor()
        .with_idle_connection_timeout(Duration::from_secs(600));
    Ok(Swarm::new(
        transport(&key, counter)?,
        behaviour,
        own_id,
        config,
    ))
}

/// Starts to listen and waits until the address is known.
pub(crate) async fn listen(
    swarm: &mut Swarm<Behaviour>,
    options: &GossipsubPeerOptions,
) -> Result<Vec<Multiaddr>, SetupError> {
    let addr = || options.listen.clone();
    swarm
        .listen_on(addr())
        .map_err(|source| SetupError::Listen {
            addr: addr(),
            source,
        })?;
    loop {
        match swarm.select_next_some().await {
            SwarmEvent::NewListenAddr { .. } => return Ok(swarm.listeners().cloned().collect()),
            SwarmEvent::ListenerClosed { .. } => return Err(SetupError::Closed { addr: addr() }),
            _ => {}
        }
    }
}

fn gossip_config(
    options: &GossipsubPeerOptions,
) -> Result<gossipsub::Config, gossipsub::ConfigBuilderError> {
    let heartbeat = Duration::from_millis(options.heartbeat_ms);
    let outbound_min = 2.min(options.d_low.saturating_sub(1)).min(options.d / 2);
    let mut config = gossipsub::ConfigBuilder::default();
    config
        .mesh_n(options.d)
        .mesh_n_low(options.d_low)
        .mesh_n_high(options.d_high)
        .mesh_outbound_min(outbound_min)
        .gossip_lazy(options.d_lazy)
        .heartbeat_interval(heartbeat)
        // The default is five seconds, during which no mesh forms.
        .heartbeat_initial_delay(heartbeat)
        .flood_publish(options.flood_publish)
        .max_transmit_size(options.max_message_bytes.saturating_add(RPC_OVERHEAD_BYTES))
        // Anonymous messages: no author, sequence number or signature may be present.
        .validation_mode(gossipsub::ValidationMode::Anonymous)
        .message_id_fn(|message| {
            gossipsub::MessageId::new(Sha256::digest(&message.data).as_slice())
        });
    if let Some(min_bytes) = options.idontwant_min_bytes {
        config.idontwant_message_size_threshold(min_bytes);
    }
    if let Some(protocol) = &options.protocol {
        // The builder supports no later version for a custom id.
        config.protocol_id(protocol.clone(), gossipsub::Version::V1_1);
    }
    config.build()
}

fn transport(
    key: &identity::Keypair,
    counter: TrafficCounter,
) -> Result<Boxed<(PeerId, StreamMuxerBox)>, SetupError> {
    Ok(
        tcp::tokio::Transport::new(tcp::Config::default().nodelay(true))
            .upgrade(Version::V1Lazy)
            .authenticate(noise::Config::new(key)?)
            .multiplex(yamux::Config::default())
            .map(move |(peer, muxer), _| {
                (
                    peer,
                    StreamMuxerBox::new(FrameCounter::new(muxer, counter.clone())),
                )
            })
            .boxed(),
    )
}
