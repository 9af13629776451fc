//! Raw peer without a router, which sends given bytes and passes on received frames.
//!
//! The peer speaks TCP, noise, yamux and one pubsub stream in each direction. It answers identify, without
//! which some libraries open no stream to a peer.

use std::net::Ipv4Addr;
use std::time::Duration;

use bytes::Bytes;
use futures::{AsyncWriteExt, StreamExt};
use libp2p::identity::Keypair;
use libp2p::multiaddr::Protocol;
use libp2p::swarm::{DialError, NetworkBehaviour, Stream, StreamProtocol, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Swarm, identify, noise, tcp, yamux};
use libp2p_stream as stream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

mod client;
mod error;
mod exchange;
mod frames;
mod hole_puncher;
mod liar;
mod listener;
mod lying_services;
#[cfg(test)]
#[path = "tests/raw.rs"]
mod tests;

pub use client::RawClient;
pub use error::RawError;
pub use exchange::RawExchange;
pub use hole_puncher::{HolePuncher, RawRelay};
pub use liar::{Lie, LyingPeer};
pub use listener::RawListener;
pub use lying_services::LyingServices;

/// Time limit that guards against a hanging peer; no test depends on its length.
const DEADLINE: Duration = Duration::from_secs(60);

/// Receiver of the frames that the other side sends, each without its length prefix. With `None`, the other
/// side's streams are accepted but never read.
pub type Inbound = Option<mpsc::UnboundedSender<Bytes>>;

/// Connected raw peer; a drop closes the connection.
pub struct RawPeer {
    id: PeerId,
    remote: PeerId,
    protocol: StreamProtocol,
    outbound: Stream,
    network: Network,
}

impl RawPeer {
    /// Dials `addr` with `key` and opens a stream of `protocol`.
    pub async fn dial(
        key: Keypair,
        addr: &Multiaddr,
        protocol: StreamProtocol,
        inbound: Inbound,
    ) -> Result<Self, RawError> {
        let id = key.public().to_peer_id();
        let mut swarm = swarm(key)?;
        let failed = |source| RawError::Dial {
            addr: addr.clone(),
            source: Box::new(source),
        };
        swarm.dial(addr.clone()).map_err(failed)?;
        let mut network = Network::start(swarm, &protocol, inbound);
        let remote = network.connected().await?.map_err(failed)?;
        Self::open(id, remote, protocol, network).await
    }

    async fn open(
        id: PeerId,
        remote: PeerId,
        protocol: StreamProtocol,
        mut network: Network,
    ) -> Result<Self, RawError> {
        let opening = network.control.open_stream(remote, protocol.clone());
        let outbound = within("stream", opening)
            .await?
            .map_err(|source| RawError::Stream {
                protocol: protocol.clone(),
                source,
            })?;
        Ok(Self {
            id,
            remote,
            protocol,
            outbound,
            network,
        })
    }

    /// Returns this peer's own id.
    #[must_use]
    pub fn id(&self) -> PeerId {
        self.id
    }

    /// Writes bytes unchanged, and waits until the transport has accepted them.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), RawError> {
        write(&mut self.outbound, bytes).await
    }

    /// Drops the outbound stream and opens another.
    pub async fn reset(&mut self) -> Result<(), RawError> {
        let control = &mut self.network.control;
        let opening = control.open_stream(self.remote, self.protocol.clone());
        self.outbound = within("stream", opening)
            .await?
            .map_err(|source| RawError::Stream {
                protocol: self.protocol.clone(),
                source,
            })?;
        Ok(())
    }

    /// Opens an additional stream and writes bytes to it.
    pub async fn send_on_new_stream(&mut self, bytes: &[u8]) -> Result<Stream, RawError> {
        let control = &mut self.network.control;
        let opening = control.open_stream(self.remote, self.protocol.clone());
        let mut stream = within("stream", opening)
            .await?
            .map_err(|source| RawError::Stream {
                protocol: self.protocol.clone(),
                source,
            })?;
        write(&mut stream, bytes).await?;
        Ok(stream)
    }

    /// Waits until the other side has closed the connection.
    pub async fn closed(&mut self) -> Result<(), RawError> {
        // The sender is dropped with the swarm and its connection.
        within("end of the connection", &mut self.network.closed)
            .await
            .map(drop)
    }
}

/// Connected peer that speaks no protocol except identify; a drop closes the connection.
pub struct RawIdle(Network);

impl RawIdle {
    /// Dials `addr` with `key`.
    pub async fn dial(key: Keypair, addr: &Multiaddr) -> Result<Self, RawError> {
        let failed = |source| RawError::Dial {
            addr: addr.clone(),
            source: Box::new(source),
        };
        let mut swarm = swarm(key)?;
        swarm.dial(addr.clone()).map_err(failed)?;
        let protocol = StreamProtocol::new("/undertone-interop/idle/1");
        let mut network = Network::start(swarm, &protocol, None);
        network.connected().await?.map_err(failed)?;
        Ok(Self(network))
    }

    /// Waits without a time limit until the other side has closed the connection.
    pub async fn closed(mut self) {
        // The sender is dropped with the swarm and its connection.
        let _ = (&mut self.0.closed).await;
    }
}

/// Swarm with one connection, and the task that drives it.
struct Network {
    control: stream::Control,
    connected: oneshot::Receiver<Result<PeerId, DialError>>,
    closed: oneshot::Receiver<()>,
    driver: JoinHandle<()>,
}

impl Drop for Network {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Network {
    fn start(swarm: Swarm<Behaviour>, protocol: &StreamProtocol, inbound: Inbound) -> Self {
        let mut control = swarm.behaviour().streams.new_control();
        let streams = control
            .accept(protocol.clone())
            .expect("a new swarm accepts no protocol yet");
        tokio::spawn(frames::read_streams(streams, inbound));
        let (connecting, connected) = oneshot::channel();
        let (closing, closed) = oneshot::channel();
        let driver = tokio::spawn(drive(swarm, connecting, closing));
        Self {
            control,
            connected,
            closed,
            driver,
        }
    }

    /// Waits for the first connection and returns the remote peer's id. May be called once.
    async fn connected(&mut self) -> Result<Result<PeerId, DialError>, RawError> {
        within("connection", &mut self.connected)
            .await?
            .map_err(|_| RawError::Closed)
    }
}

#[derive(NetworkBehaviour)]
struct Behaviour {
    streams: stream::Behaviour,
    identify: identify::Behaviour,
}

fn swarm(key: Keypair) -> Result<Swarm<Behaviour>, noise::Error> {
    let builder = libp2p::SwarmBuilder::with_existing_identity(key)
        .with_tokio()
        .with_tcp(
            tcp::Config::default().nodelay(true),
            noise::Config::new,
            yamux::Config::default,
        )?;
    let behaviour = |key: &Keypair| Behaviour {
        streams: stream::Behaviour::new(),
        identify: identify::Behaviour::new(identify::Config::new(
            "undertone-interop/1".to_owned(),
            key.public(),
        )),
    };
    let Ok(builder) = builder.with_behaviour(behaviour);
    Ok(builder
        .with_swarm_config(|config| config.with_idle_connection_timeout(DEADLINE * 10))
        .build())
}

/// Returns a swarm that listens on a port of loopback, and its address with `/p2p`.
async fn listening(key: Keypair, ip: Ipv4Addr) -> Result<(Swarm<Behaviour>, Multiaddr), RawError> {
    let id = key.public().to_peer_id();
    let mut swarm = swarm(key)?;
    let addr = Multiaddr::from(ip).with(Protocol::Tcp(0));
    let refused = |source| RawError::Listen {
        addr: addr.clone(),
        source,
    };
    swarm.listen_on(addr.clone()).map_err(refused)?;
    let listens = async {
        loop {
            if let SwarmEvent::NewListenAddr { address, .. } = swarm.select_next_some().await {
                return address;
            }
        }
    };
    let addr = within("address to listen on", listens).await?;
    Ok((swarm, addr.with_p2p(id).unwrap_or_else(|addr| addr)))
}

/// Drives the swarm until the connection closes. Its reports may have no receiver.
async fn drive(
    mut swarm: Swarm<Behaviour>,
    connecting: oneshot::Sender<Result<PeerId, DialError>>,
    closing: oneshot::Sender<()>,
) {
    let mut connecting = Some(connecting);
    loop {
        let outcome = match swarm.select_next_some().await {
            SwarmEvent::ConnectionEstablished { peer_id, .. } => Ok(peer_id),
            SwarmEvent::OutgoingConnectionError { error, .. } => Err(error),
            SwarmEvent::ConnectionClosed { .. } => break,
            _ => continue,
        };
        if let Some(connecting) = connecting.take() {
            let _ = connecting.send(outcome);
        }
    }
    let _ = closing.send(());
}

async fn write(stream: &mut Stream, bytes: &[u8]) -> Result<(), RawError> {
    let writing = async {
        stream.write_all(bytes).await?;
        stream.flush().await
    };
    within("reader", writing).await?.map_err(RawError::Send)
}

async fn within<T>(
    waiting_for: &'static str,
    future: impl Future<Output = T>,
) -> Result<T, RawError> {
    timeout(DEADLINE, future).await.map_err(|_| RawError::Late {
        waiting_for,
        deadline_s: DEADLINE.as_secs(),
    })
}
