//! Attacking peer, which sends arbitrary frames to the victim.

use std::net::Ipv4Addr;
use std::time::Duration;

use bytes::Bytes;
use libp2p::PeerId;
use libp2p::identity::Keypair;
use libp2p::swarm::StreamProtocol;
use tokio::sync::mpsc;
use tokio::time::timeout;
use undertone_gossip::wire::{Rpc, decode};
use undertone_gossip::{Limits, Topic};

use super::node::Target;
use super::proxy::Proxy;
use super::{HostileError, rpc};
use crate::raw::RawPeer;

/// Protocol id that every Waku node speaks.
pub const RELAY: StreamProtocol = StreamProtocol::new("/vac/waku/relay/2.0.0");

/// Receiver of the victim's frames, without their length prefixes.
pub type Frames = mpsc::UnboundedReceiver<Bytes>;

/// Connected peer of the victim; a drop closes the connection.
pub struct Peer {
    raw: RawPeer,
    frames: Frames,
    /// Proxy that dials from the chosen address, which libp2p cannot do.
    proxy: Proxy,
}

impl Peer {
    /// Connects with a new identity from the address `from`.
    pub async fn connect(from: Ipv4Addr, to: Target) -> Result<Self, HostileError> {
        let proxy = Proxy::start(Ipv4Addr::LOCALHOST, to.socket, from).await?;
        Self::connect_through(proxy, to).await
    }

    /// Connects with a new identity through a proxy that leads to the node.
    pub async fn connect_through(proxy: Proxy, to: Target) -> Result<Self, HostileError> {
        let (sender, frames) = mpsc::unbounded_channel();
        let key = Keypair::generate_ed25519();
        let address = to.addr_at(proxy.addr());
        let raw = RawPeer::dial(key, &address, RELAY, Some(sender)).await?;
        Ok(Self { raw, frames, proxy })
    }

    /// Returns this peer's own id.
    #[must_use]
    pub fn id(&self) -> PeerId {
        self.raw.id()
    }

    /// Sends a frame; returns whether the connection accepted it.
    pub async fn send(&mut self, frame: &[u8]) -> bool {
        self.raw.send(frame).await.is_ok()
    }

    /// Subscribes to topics without a GRAFT.
    pub async fn subscribe(&mut self, topics: &[Topic]) -> bool {
        let frame = rpc::control(|rpc| {
            for topic in topics {
                rpc.subscription(true, topic);
            }
        });
        self.send(&frame).await
    }

    /// Subscribes to topics and sends a GRAFT for each.
    pub async fn join(&mut self, topics: &[Topic]) -> bool {
        let frame = rpc::control(|rpc| {
            for topic in topics {
                rpc.subscription(true, topic);
                rpc.graft(topic);
            }
        });
        self.send(&frame).await
    }

    /// Waits for the next RPC of the victim; `None` once the connection is closed.
    pub async fn rpc(&mut self) -> Option<Rpc> {
        loop {
            let frame = self.frames.recv().await?;
            if let Ok(rpc) = decode(&frame, &Limits::default()) {
                return Some(rpc);
            }
        }
    }

    /// Reads RPCs until one satisfies `is_it`; returns `false` after `patience` or the connection's end.
    pub async fn wait_rpc(&mut self, patience: Duration, is_it: impl Fn(&Rpc) -> bool) -> bool {
        let reading = async {
            while let Some(rpc) = self.rpc().await {
                if is_it(&rpc) {
                    return true;
                }
            }
            false
        };
        timeout(patience, reading).await.unwrap_or(false)
    }

    /// Returns the raw connection, the victim's frames, and the proxy between them.
    #[must_use]
    pub fn into_parts(self) -> (RawPeer, Frames, Proxy) {
        (self.raw, self.frames, self.proxy)
    }
}
