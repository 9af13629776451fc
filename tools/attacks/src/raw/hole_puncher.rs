//! Stranger that makes a node punch holes (DCUtR) at addresses of the stranger's choice, through its own relay.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::{AsyncReadExt, AsyncWriteExt, StreamExt};
use libp2p::identity::Keypair;
use libp2p::multiaddr::Protocol;
use libp2p::swarm::{NetworkBehaviour, Stream, StreamProtocol, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Swarm, SwarmBuilder, identify, noise, relay, tcp, yamux};
use libp2p_stream::IncomingStreams;
use tokio::sync::watch;
use tokio::task::JoinSet;
use undertone_wire::put_varint;

use super::frames::read_one;
use super::{DEADLINE, RawError, within, write};

/// Protocol of hole punching.
const DCUTR: StreamProtocol = StreamProtocol::new("/libp2p/dcutr");
/// Start of a message with addresses: field 1 with the value 100.
const CONNECT: [u8; 2] = [0x08, 100];
/// Tag of an address in that message: field 2.
const ADDRESS: u8 = 0x12;
/// Time between two attempts to reach a node through the relay.
const AGAIN: Duration = Duration::from_millis(500);

#[derive(NetworkBehaviour)]
struct RelayBehaviour {
    relay: relay::Behaviour,
    identify: identify::Behaviour,
}

#[derive(NetworkBehaviour)]
struct StrangerBehaviour {
    relay: relay::client::Behaviour,
    streams: libp2p_stream::Behaviour,
    identify: identify::Behaviour,
}

/// Relay at which a node gets a reservation; a drop ends it.
pub struct RawRelay {
    addr: Multiaddr,
    _tasks: JoinSet<()>,
}

impl RawRelay {
    /// Listens on a port of `ip`.
    pub async fn listen(ip: Ipv4Addr) -> Result<Self, RawError> {
        let key = Keypair::generate_ed25519();
        let id = key.public().to_peer_id();
        let builder = SwarmBuilder::with_existing_identity(key).with_tokio();
        let builder = builder.with_tcp(
            tcp::Config::default().nodelay(true),
            noise::Config::new,
            yamux::Config::default,
        )?;
        let Ok(builder) = builder.with_behaviour(|key| RelayBehaviour {
            relay: relay::Behaviour::new(key.public().to_peer_id(), relay::Config::default()),
            identify: identified(key),
        });
        let mut swarm = builder
            .with_swarm_config(|config| config.with_idle_connection_timeout(DEADLINE * 10))
            .build();
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
        // A relay grants no reservation unless it has an external address.
        swarm.add_external_address(addr.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            loop {
                swarm.select_next_some().await;
            }
        });
        Ok(Self {
            addr: addr.with(Protocol::P2p(id)),
            _tasks: tasks,
        })
    }

    /// Returns the relay's address with `/p2p`.
    #[must_use]
    pub fn addr(&self) -> &Multiaddr {
        &self.addr
    }
}

/// Stranger behind a relay that sends addresses to a node; a drop closes the connection.
pub struct HolePuncher {
    punches: watch::Receiver<usize>,
    _tasks: JoinSet<()>,
}

impl HolePuncher {
    /// Reaches the node `remote` through a relay, and names `addresses` when the node asks where to punch holes.
    /// Identify reports them as well.
    pub fn start(
        relay: &Multiaddr,
        remote: PeerId,
        addresses: Vec<Multiaddr>,
    ) -> Result<Self, RawError> {
        let builder = SwarmBuilder::with_new_identity().with_tokio();
        let builder = builder
            .with_tcp(
                tcp::Config::default().nodelay(true),
                noise::Config::new,
                yamux::Config::default,
            )?
            .with_relay_client(noise::Config::new, yamux::Config::default)?;
        let Ok(builder) = builder.with_behaviour(|key, relay| StrangerBehaviour {
            relay,
            streams: libp2p_stream::Behaviour::new(),
            identify: identified(key),
        });
        let mut swarm = builder
            .with_swarm_config(|config| config.with_idle_connection_timeout(DEADLINE * 10))
            .build();
        for address in &addresses {
            swarm.add_external_address(address.clone());
        }
        let mut control = swarm.behaviour().streams.new_control();
        let asked = control.accept(DCUTR);
        let asked = asked.expect("a new swarm accepts no protocol yet");
        let circuit = relay.clone().with(Protocol::P2pCircuit);
        let circuit = circuit.with(Protocol::P2p(remote));
        let (punched, punches) = watch::channel(0);
        let mut tasks = JoinSet::new();
        tasks.spawn(answer_all(asked, named(&addresses), punched));
        tasks.spawn(stay(swarm, circuit, remote));
        Ok(Self {
            punches,
            _tasks: tasks,
        })
    }

    /// Waits until the node has started to punch a hole.
    pub async fn punched(&mut self) -> Result<(), RawError> {
        let begun = self.punches.wait_for(|punches| *punches > 0);
        let begun = within("hole that the node punches", begun).await?;
        begun.map(drop).map_err(|_| RawError::Closed)
    }
}

/// Dials a circuit until it is open, and again when it is gone: the node may not have its reservation yet.
async fn stay(mut swarm: Swarm<StrangerBehaviour>, circuit: Multiaddr, remote: PeerId) {
    let mut ticks = tokio::time::interval(AGAIN);
    loop {
        tokio::select! {
            _ = swarm.select_next_some() => {}
            _ = ticks.tick() => {
                if !swarm.is_connected(&remote) {
                    // The next tick tries again.
                    let _ = swarm.dial(circuit.clone());
                }
            }
        }
    }
}

/// Answers each request for addresses, and counts those after which the node dials.
async fn answer_all(mut asked: IncomingStreams, named: Vec<u8>, punched: watch::Sender<usize>) {
    while let Some((_, mut stream)) = asked.next().await {
        if answer(&mut stream, &named).await.is_some() {
            punched.send_modify(|punches| *punches += 1);
        }
    }
}

/// Answers one request; returns `None` unless the node announces that it dials now.
async fn answer(stream: &mut Stream, named: &[u8]) -> Option<()> {
    read_one(stream).await?;
    write(stream, named).await.ok()?;
    stream.flush().await.ok()?;
    let mut sync = [0; 1];
    stream.read_exact(&mut sync).await.ok()
}

/// Returns the message with these addresses, length-prefixed.
fn named(addresses: &[Multiaddr]) -> Vec<u8> {
    let mut body = CONNECT.to_vec();
    for address in addresses {
        let bytes = address.to_vec();
        body.push(ADDRESS);
        put_varint(&mut body, bytes.len() as u64);
        body.extend(bytes);
    }
    let mut message = Vec::with_capacity(body.len() + 2);
    put_varint(&mut message, body.len() as u64);
    message.extend(body);
    message
}

fn identified(key: &Keypair) -> identify::Behaviour {
    let config = identify::Config::new("undertone-interop/1".to_owned(), key.public());
    identify::Behaviour::new(config)
}
