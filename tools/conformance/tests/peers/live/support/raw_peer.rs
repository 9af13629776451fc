//! What the tests ask of a raw peer: RPCs instead of frames, and panics where a node must not fail.

use std::time::Duration;

use bytes::Bytes;
use libp2p::identity::Keypair;
use libp2p::swarm::{Stream, StreamProtocol};
use libp2p::{Multiaddr, PeerId};
use tokio::sync::mpsc;
use tokio::time::timeout;
use undertone_attacks::raw::{self, RawError};
use undertone_gossip::wire::{Rpc, decode};
use undertone_gossip::{Limits, MessageId};

const PROTOCOL: StreamProtocol = StreamProtocol::new("/meshsub/1.2.0");
/// Guards against a node that hangs; no test depends on its length.
const DEADLINE: Duration = Duration::from_secs(60);

/// A connected peer. Dropping it closes the connection.
pub(crate) struct RawPeer {
    pub(crate) id: PeerId,
    peer: raw::RawPeer,
    frames: mpsc::UnboundedReceiver<Bytes>,
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
        let (sender, frames) = mpsc::unbounded_channel();
        let inbound = reads.then_some(sender);
        match raw::RawPeer::dial(key, node, PROTOCOL, inbound).await {
            Ok(peer) => Some(Self {
                id: peer.id(),
                peer,
                frames,
            }),
            Err(RawError::Stream { .. }) => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// Writes bytes as they are. The node may have hung up by now: that is what some tests are about.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        match self.peer.send(bytes).await {
            Ok(()) | Err(RawError::Send(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Opens one more stream and writes bytes to it; `None` if the node does not let it.
    pub(crate) async fn send_on_new_stream(&mut self, bytes: &[u8]) -> Option<Stream> {
        self.peer.send_on_new_stream(bytes).await.ok()
    }

    /// The next RPC.
    pub(crate) async fn rpc(&mut self) -> Rpc {
        let frame = timeout(DEADLINE, self.frames.recv()).await;
        let frame = frame
            .expect("the node sends something")
            .expect("the connection lasts");
        decode(&frame, &Limits::default()).expect("the node sends valid RPCs")
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
    pub(crate) async fn wait_for_ihave(&mut self, id: MessageId) {
        let mut told = false;
        while !told {
            let ihave = self.rpc().await.ihave;
            told = ihave.iter().any(|ihave| ihave.ids.contains(&id));
        }
    }

    /// Waits until the node has closed the connection.
    pub(crate) async fn closed(&mut self) {
        self.peer.closed().await.unwrap();
    }
}
