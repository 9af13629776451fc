//! A peer without a router: it sends the bytes it is told to and shows the RPCs it gets.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use futures::{AsyncReadExt, AsyncWriteExt, StreamExt};
use libp2p::identity::Keypair;
use libp2p::swarm::{Stream, StreamProtocol, SwarmEvent};
use libp2p::{Multiaddr, PeerId, Swarm, noise, tcp, yamux};
use libp2p_stream as stream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use undertone_gossip::wire::{Rpc, decode, read_varint};
use undertone_gossip::{Limits, MessageId};

const PROTOCOL: StreamProtocol = StreamProtocol::new("/meshsub/1.2.0");
/// Guards against a node that hangs; no test depends on its length.
const DEADLINE: Duration = Duration::from_secs(60);

/// A connected peer. Dropping it closes the connection.
pub(crate) struct RawPeer {
    pub(crate) id: PeerId,
    node: PeerId,
    control: stream::Control,
    outbound: Stream,
    inbound: mpsc::UnboundedReceiver<Rpc>,
    closed: oneshot::Receiver<()>,
    swarm: tokio::task::JoinHandle<()>,
}

impl Drop for RawPeer {
    fn drop(&mut self) {
        self.swarm.abort();
    }
}

impl RawPeer {
    /// Connects with a new identity and reads what the node sends.
    pub(crate) async fn connect(node: &Multiaddr) -> Self {
        Self::connect_as(Keypair::generate_ed25519(), node)
            .await
            .expect("the node takes the connection")
    }

    /// Connects, accepts the node's stream and never reads from it.
    pub(crate) async fn connect_deaf(node: &Multiaddr) -> Self {
        let connecting = Self::establish(Keypair::generate_ed25519(), node, false);
        connecting.await.expect("the node takes the connection")
    }

    /// Connects with an identity; `None` if the node closes the connection before there is a stream.
    pub(crate) async fn connect_as(key: Keypair, node: &Multiaddr) -> Option<Self> {
        Self::establish(key, node, true).await
    }

    async fn establish(key: Keypair, node: &Multiaddr, reads: bool) -> Option<Self> {
        let id = key.public().to_peer_id();
        let mut swarm = libp2p::SwarmBuilder::with_existing_identity(key)
            .with_tokio()
            .with_tcp(
                tcp::Config::default().nodelay(true),
                noise::Config::new,
                yamux::Config::default,
            )
            .unwrap()
            .with_behaviour(|_| stream::Behaviour::new())
            .unwrap()
            .with_swarm_config(|config| config.with_idle_connection_timeout(DEADLINE * 10))
            .build();
        let mut control = swarm.behaviour().new_control();
        let streams = control.accept(PROTOCOL).unwrap();
        let (rpcs, inbound) = mpsc::unbounded_channel();
        tokio::spawn(read_streams(streams, rpcs, reads));

        swarm.dial(node.clone()).unwrap();
        let node = timeout(DEADLINE, established(&mut swarm)).await.unwrap();
        let (closing, closed) = oneshot::channel();
        let swarm = tokio::spawn(async move {
            until_closed(&mut swarm).await;
            // Nobody may be waiting for it.
            let _ = closing.send(());
        });
        let opening = timeout(DEADLINE, control.open_stream(node, PROTOCOL));
        let Ok(outbound) = opening.await.unwrap() else {
            swarm.abort();
            return None;
        };
        Some(Self {
            id,
            node,
            control,
            outbound,
            inbound,
            closed,
            swarm,
        })
    }

    /// Writes bytes as they are. The node may have hung up by now: that is what some tests are about.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        let writing = async {
            self.outbound.write_all(bytes).await?;
            self.outbound.flush().await
        };
        let _ = timeout(DEADLINE, writing).await.expect("the node reads");
    }

    /// Opens one more stream and writes bytes to it; `None` if the node does not let it.
    pub(crate) async fn send_on_new_stream(&mut self, bytes: &[u8]) -> Option<Stream> {
        let mut stream = self.control.open_stream(self.node, PROTOCOL).await.ok()?;
        stream.write_all(bytes).await.ok()?;
        stream.flush().await.ok()?;
        Some(stream)
    }

    /// The next RPC.
    pub(crate) async fn rpc(&mut self) -> Rpc {
        let rpc = timeout(DEADLINE, self.inbound.recv()).await;
        rpc.expect("the node sends something")
            .expect("the connection lasts")
    }

    /// Reads until the message comes; returns the ids of all messages up to and with it.
    pub(crate) async fn messages_until(&mut self, last: MessageId) -> Vec<MessageId> {
        let mut ids = Vec::new();
        while ids.last() != Some(&last) {
            let messages = self.rpc().await.messages;
            ids.extend(messages.iter().map(|message| MessageId::of(&message.data)));
        }
        ids
    }

    /// Waits until the node advertises the message.
    pub(crate) async fn told_of(&mut self, id: MessageId) {
        let mut told = false;
        while !told {
            let ihave = self.rpc().await.ihave;
            told = ihave.iter().any(|ihave| ihave.ids.contains(&id));
        }
    }

    /// Waits until the node has closed the connection.
    pub(crate) async fn closed(&mut self) {
        let closed = timeout(DEADLINE, &mut self.closed).await;
        closed.expect("the node hangs up").unwrap();
    }
}

async fn established(swarm: &mut Swarm<stream::Behaviour>) -> PeerId {
    loop {
        match swarm.select_next_some().await {
            SwarmEvent::ConnectionEstablished { peer_id, .. } => return peer_id,
            SwarmEvent::OutgoingConnectionError { error, .. } => panic!("cannot connect: {error}"),
            _ => {}
        }
    }
}

async fn until_closed(swarm: &mut Swarm<stream::Behaviour>) {
    while !matches!(
        swarm.select_next_some().await,
        SwarmEvent::ConnectionClosed { .. }
    ) {}
}

async fn read_streams(
    mut streams: stream::IncomingStreams,
    rpcs: mpsc::UnboundedSender<Rpc>,
    reads: bool,
) {
    let mut unread = Vec::new();
    while let Some((_, stream)) = streams.next().await {
        if reads {
            tokio::spawn(read_frames(stream, rpcs.clone()));
        } else {
            unread.push(stream);
        }
    }
}

async fn read_frames(mut stream: Stream, rpcs: mpsc::UnboundedSender<Rpc>) {
    let mut buffer = BytesMut::new();
    let mut chunk = vec![0; 64 << 10];
    loop {
        while let Some(frame) = take_frame(&mut buffer) {
            let rpc = decode(&frame, &Limits::default()).expect("the node sends valid RPCs");
            if rpcs.send(rpc).is_err() {
                return;
            }
        }
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(read) => buffer.extend_from_slice(&chunk[..read]),
        }
    }
}

fn take_frame(buffer: &mut BytesMut) -> Option<Bytes> {
    let (len, prefix) = read_varint(buffer).ok()?;
    let len = usize::try_from(len).ok()?;
    if buffer.len() < prefix + len {
        return None;
    }
    buffer.advance(prefix);
    Some(buffer.split_to(len).freeze())
}
