use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::time::Duration;

use bytes::Bytes;
use libp2p::Multiaddr;
use libp2p::identity::Keypair;
use libp2p::multiaddr::Protocol;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use undertone_attacks::raw::{RawListener, RawPeer};
use undertone_conformance::{PeerCommand, PeerError, PeerProcess};
use undertone_gossip::wire::{Encoder, decode};
use undertone_gossip::{Limits, Topic};

use crate::feed::Failure;
use crate::feed::load::{Frame, Load};
use crate::feed::options::FeedOptions;

/// Time limit that guards against a peer that does not forward; no figure depends on its length.
const DEADLINE: Duration = Duration::from_secs(60);
/// Maximum bytes in flight, so that no queue of a peer overflows.
const BATCH_BYTES: usize = 1 << 20;
/// Maximum number of messages in flight.
const BATCH_MESSAGES: usize = 32;
/// Index of the connection that sends the messages first.
const FIRST: usize = 0;
/// Index of the connection that sends the messages again.
const SECOND: usize = 1;

/// Peer under test and the connections to it.
pub(crate) struct Subject {
    label: String,
    peer: PeerProcess,
    connections: Vec<Connection>,
}

/// Processor time of the peer over the two halves of a load, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    /// Processor time for the messages when they were new.
    pub(crate) new_us: u64,
    /// Processor time for the same messages as duplicates, and for one new message.
    pub(crate) again_us: u64,
}

/// Raw peer in the mesh of the peer under test.
struct Connection {
    number: u8,
    raw: RawPeer,
    /// Number of messages that the peer has sent here.
    received: watch::Receiver<u64>,
    /// Number of messages that the peer should have sent here.
    expected: u64,
}

impl Subject {
    /// Starts the peer and puts all connections into its mesh.
    pub(crate) async fn start(
        command: &PeerCommand,
        options: &FeedOptions,
    ) -> Result<Self, Failure> {
        let mut peer = PeerProcess::spawn(command).await?;
        peer.subscribe(&options.topic).await?;
        let mut connections = Vec::new();
        for number in 1..=options.connections {
            connections.push(Connection::join(number, &mut peer, options).await?);
        }
        peer.wait_mesh(&options.topic, connections.len()).await?;
        Ok(Self {
            label: command.label().to_owned(),
            peer,
            connections,
        })
    }

    /// Sends a load as new messages and then as duplicates; returns the peer's processor time for both.
    pub(crate) async fn take(&mut self, load: &Load) -> Result<Cost, Failure> {
        let start_us = self.cpu_us().await?;
        for batch in batches(&load.frames) {
            self.send(FIRST, batch).await?;
            self.arrived(FIRST, batch).await?;
        }
        let new_us = self.cpu_us().await?;
        self.send(SECOND, &load.frames).await?;
        let marker = std::slice::from_ref(&load.marker);
        self.send(SECOND, marker).await?;
        // The marker followed the duplicates on the same stream, so they have been processed.
        self.arrived(SECOND, marker).await?;
        let end_us = self.cpu_us().await?;
        Ok(Cost {
            new_us: new_us.saturating_sub(start_us),
            again_us: end_us.saturating_sub(new_us),
        })
    }

    pub(crate) async fn quit(self) -> Result<(), PeerError> {
        self.peer.quit().await
    }

    async fn cpu_us(&mut self) -> Result<u64, PeerError> {
        Ok(self.peer.stat().await?.cpu_us)
    }

    async fn send(&mut self, from: usize, frames: &[Frame]) -> Result<(), Failure> {
        let connection = &mut self.connections[from];
        for frame in frames {
            let sent = connection.raw.send(&frame.bytes).await;
            sent.map_err(|source| Failure::Raw {
                label: self.label.clone(),
                connection: connection.number,
                source,
            })?;
        }
        Ok(())
    }

    /// Waits until the peer has reported these new messages and forwarded them to all but their sender.
    async fn arrived(&mut self, from: usize, frames: &[Frame]) -> Result<(), Failure> {
        let mut missing: BTreeSet<&str> = frames.iter().map(|frame| frame.id.as_str()).collect();
        while !missing.is_empty() {
            let message = self.peer.next_message().await?;
            missing.remove(message.id.as_str());
        }
        for (index, connection) in self.connections.iter_mut().enumerate() {
            if index != from {
                connection.expected += frames.len() as u64;
                connection.forwarded(&self.label).await?;
            }
        }
        Ok(())
    }
}

impl Connection {
    /// Listens, has the peer dial, and joins its mesh. Each connection has another address of this machine,
    /// and the peer dials, because some libraries accept few connections per second and penalise peers that
    /// share an address.
    async fn join(
        number: u8,
        peer: &mut PeerProcess,
        options: &FeedOptions,
    ) -> Result<Self, Failure> {
        let label = peer.label().to_owned();
        let failed = |source| Failure::Raw {
            label: label.clone(),
            connection: number,
            source,
        };
        let (frames, inbound) = mpsc::unbounded_channel();
        let (count, received) = watch::channel(0);
        tokio::spawn(count_messages(inbound, count));
        let own = address(number);
        let listener = RawListener::listen(
            Keypair::generate_ed25519(),
            &own,
            options.protocol.clone(),
            Some(frames),
        );
        let listener = listener.await.map_err(failed)?;
        peer.connect(&listener.addr().to_string()).await?;
        let mut raw = listener.accept().await.map_err(failed)?;
        raw.send(&greeting(&options.topic)).await.map_err(failed)?;
        Ok(Self {
            number,
            raw,
            received,
            expected: 0,
        })
    }

    async fn forwarded(&mut self, label: &str) -> Result<(), Failure> {
        let expected = self.expected;
        let enough = self.received.wait_for(|&received| received >= expected);
        match timeout(DEADLINE, enough).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(_)) => {
                return Err(Failure::Stream {
                    label: label.to_owned(),
                    connection: self.number,
                });
            }
            Err(_) => {}
        }
        Err(Failure::Forwarded {
            label: label.to_owned(),
            connection: self.number,
            forwarded: *self.received.borrow(),
            expected,
            deadline_s: DEADLINE.as_secs(),
        })
    }
}

fn batches(frames: &[Frame]) -> impl Iterator<Item = &[Frame]> {
    let longest = frames.iter().map(|frame| frame.bytes.len()).max();
    let fitting = BATCH_BYTES / longest.unwrap_or(1).max(1);
    frames.chunks(fitting.clamp(1, BATCH_MESSAGES))
}

/// Returns the loopback address 127.0.0.`number` with any free port.
fn address(number: u8) -> Multiaddr {
    Multiaddr::empty()
        .with(Protocol::Ip4(Ipv4Addr::new(127, 0, 0, number)))
        .with(Protocol::Tcp(0))
}

/// Returns one RPC with SUBSCRIBE and GRAFT.
fn greeting(topic: &str) -> Bytes {
    let topic = Topic::new(topic);
    let mut rpc = Encoder::default();
    rpc.subscription(true, &topic);
    rpc.graft(&topic);
    rpc.finish().expect("two entries are an RPC with content")
}

/// Counts the messages that the peer forwards, and drops them; ends at the first invalid frame.
async fn count_messages(mut frames: mpsc::UnboundedReceiver<Bytes>, count: watch::Sender<u64>) {
    let limits = Limits::default();
    while let Some(frame) = frames.recv().await {
        let Ok(rpc) = decode(&frame, &limits) else {
            return;
        };
        if !rpc.messages.is_empty() {
            count.send_modify(|count| *count += rpc.messages.len() as u64);
        }
    }
}
