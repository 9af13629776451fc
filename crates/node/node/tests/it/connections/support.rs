//! Nodes without RLN that tell what happens to them.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use undertone_message::{NetworkPreset, PubsubTopic, Shard, WakuMessage};
use undertone_node::driver::{
    ConnectionLimits, NodeEvent, NodeOptions, RunningNode, StartError, TimedEvent, start,
};
use undertone_node::handle::Delivery;
use undertone_node::{Keypair, Multiaddr};
use undertone_relay::RelayConfig;

/// Guards against hangs only.
pub(crate) const HANG: Duration = Duration::from_secs(60);

/// How often something is tried again.
const RETRY: Duration = Duration::from_millis(250);

pub(crate) fn topic() -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, 0).expect("shard 0 exists"))
}

/// A node and what it says.
pub(crate) struct Node {
    pub(crate) running: RunningNode,
    events: mpsc::UnboundedReceiver<TimedEvent>,
}

impl Node {
    pub(crate) async fn start(keypair: Keypair, static_peers: Vec<Multiaddr>) -> Self {
        let listen = "/ip4/127.0.0.1/tcp/0".parse().expect("a constant");
        let limits = ConnectionLimits::with_total(10);
        Self::within(keypair, listen, static_peers, limits).await
    }

    pub(crate) async fn within(
        keypair: Keypair,
        listen: Multiaddr,
        static_peers: Vec<Multiaddr>,
        limits: ConnectionLimits,
    ) -> Self {
        Self::listening(keypair, vec![listen], static_peers, limits).await
    }

    pub(crate) async fn listening(
        keypair: Keypair,
        listen: Vec<Multiaddr>,
        static_peers: Vec<Multiaddr>,
        limits: ConnectionLimits,
    ) -> Self {
        Self::with(|options| {
            options
                .keypair(keypair)
                .listen(listen)
                .static_peers(static_peers)
                .connections(limits)
        })
        .await
    }

    /// Starts a node with these options beside those that all nodes of these tests have.
    pub(crate) async fn with(choose: impl FnOnce(NodeOptions) -> NodeOptions) -> Self {
        Self::try_with(choose).await.expect("loopback is there")
    }

    /// Starts a node as [`Self::with`] does, unless it cannot start.
    pub(crate) async fn try_with(
        choose: impl FnOnce(NodeOptions) -> NodeOptions,
    ) -> Result<Self, StartError> {
        let preset = NetworkPreset::by_name("local").expect("a known network");
        let mut relay = RelayConfig::for_network(&preset);
        relay.cluster_id = 66;
        relay.rln = None;
        let (sender, events) = mpsc::unbounded_channel();
        let options = NodeOptions::for_network(&preset)
            .relay(relay)
            .topics([topic()])
            .events(sender);
        let running = start(choose(options)).await?;
        Ok(Self { running, events })
    }

    pub(crate) fn address(&self) -> &Multiaddr {
        &self.running.addresses[0]
    }

    pub(crate) async fn stop(self) {
        self.running.stop().await;
    }

    /// Waits until some peer is in the mesh.
    pub(crate) async fn until_in_mesh(&self) {
        let wait = async {
            loop {
                let peers = self.running.handle.peers().await.expect("the node runs");
                if peers.iter().any(|peer| !peer.in_mesh.is_empty()) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(HANG, wait)
            .await
            .expect("the mesh forms");
    }

    /// Waits until the node says that it has lost a peer.
    pub(crate) async fn until_peer_is_gone(&mut self) {
        let wait = async {
            loop {
                let event = self.events.recv().await.expect("the node runs");
                if matches!(event.event, NodeEvent::PeerDisconnected { .. }) {
                    return;
                }
            }
        };
        tokio::time::timeout(HANG, wait)
            .await
            .expect("the peer is given up");
    }

    /// Watches for so long and returns how many sessions with peers ended meanwhile.
    pub(crate) async fn sessions_ended_in(&mut self, time: Duration) -> usize {
        let mut ended = 0;
        let watch = async {
            while let Some(event) = self.events.recv().await {
                ended += usize::from(matches!(event.event, NodeEvent::PeerDisconnected { .. }));
            }
        };
        // The node outlives the time: it is the time that ends it.
        let _ = tokio::time::timeout(time, watch).await;
        ended
    }
}

/// Publishes at one node until the other has heard a message; returns after how long.
pub(crate) async fn until_heard(from: &Node, to: &Node, deadline: Duration) -> Duration {
    let mut heard = to.running.handle.messages(64);
    let since = Instant::now();
    let wait = async {
        for n in 0_u64.. {
            let message = WakuMessage::new(n.to_be_bytes().to_vec(), "/test/1/a/proto");
            let message = WakuMessage {
                timestamp: Some(now_ns()),
                ..message
            };
            // There may be nobody to publish to yet.
            let _ = from.running.handle.publish(topic(), message).await;
            match tokio::time::timeout(RETRY, from_peer(&mut heard)).await {
                Ok(()) => return,
                Err(_) => continue,
            }
        }
    };
    tokio::time::timeout(deadline, wait)
        .await
        .expect("a message arrives");
    since.elapsed()
}

/// Waits for a message that came over the network.
async fn from_peer(heard: &mut mpsc::Receiver<Delivery>) {
    loop {
        let delivery = heard.recv().await.expect("the node runs");
        if delivery.from.is_some() {
            return;
        }
    }
}

pub(crate) fn now_ns() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(now.expect("after 1970").as_nanos()).expect("before 2262")
}
