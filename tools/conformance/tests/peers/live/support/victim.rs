//! The node under attack, within the test's process so that its state can be looked at.

use std::time::Duration;

use libp2p::identity::Keypair;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::mpsc;
use tokio::time::timeout;
use undertone_gossip::{Config, Limits, MessageId, PROTOCOLS};
use undertone_message::{NetworkPreset, PubsubTopic};
use undertone_node::command::{GossipSnapshot, PeerSnapshot};
use undertone_node::driver::{
    self, ConnectionLimits, NodeEvent, NodeOptions, RunningNode, TimedEvent,
};
use undertone_relay::RelayConfig;

use super::network::waku_data;
use super::raw_peer::RawPeer;
use super::{TOPIC, rpc};

/// So long that no heartbeat and no decay falls into a test: what is counted per heartbeat is exact.
const NEVER: Duration = Duration::from_secs(3_600);
/// Guards against a node that hangs; no test depends on its length.
const DEADLINE: Duration = Duration::from_secs(60);
/// How often state is looked at of which there are no events.
const POLL: Duration = Duration::from_millis(10);

/// A node and what it says.
pub(crate) struct Victim {
    node: RunningNode,
    events: mpsc::UnboundedReceiver<TimedEvent>,
    limits: Limits,
    next_seq: u64,
}

impl Victim {
    /// A node whose clockwork stands still.
    pub(crate) async fn start() -> Self {
        Self::with(|gossip| {
            gossip.heartbeat = NEVER;
            gossip.heartbeat_delay = NEVER;
        })
        .await
    }

    /// A node with changed parameters.
    pub(crate) async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let mut preset = NetworkPreset::by_name("local").unwrap();
        preset.rln = None;
        let mut relay = RelayConfig::for_network(&preset);
        let score = relay.gossip.score.as_mut().unwrap();
        score.decay_interval = NEVER;
        score.ip_colocation_weight = 0.0;
        // No offence is free: what each costs is exact.
        score.behaviour_threshold = 0.0;
        change(&mut relay.gossip);
        let limits = relay.gossip.limits.clone();
        let (sender, events) = mpsc::unbounded_channel();
        let options = NodeOptions::for_network(&preset)
            .keypair(Keypair::generate_ed25519())
            .listen(["/ip4/127.0.0.1/tcp/0".parse().unwrap()])
            .relay(relay)
            .protocols(PROTOCOLS.iter().map(|known| known.id))
            .topics([PubsubTopic::parse(TOPIC).unwrap()])
            .connections(ConnectionLimits::with_total(200))
            .events(sender);
        let node = driver::start(options).await.unwrap();
        Self {
            node,
            events,
            limits,
            next_seq: 1_000,
        }
    }

    pub(crate) fn addr(&self) -> &Multiaddr {
        &self.node.addresses[0]
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) async fn gossip(&self) -> GossipSnapshot {
        self.node.handle.gossip().await.unwrap()
    }

    /// What the node knows of a peer.
    pub(crate) async fn peer(&self, id: PeerId) -> Option<PeerSnapshot> {
        let peers = self.node.handle.peers().await.unwrap();
        peers.into_iter().find(|peer| peer.peer_id == id)
    }

    /// Waits until the router is in the state asked for.
    pub(crate) async fn wait(&self, enough: impl Fn(&GossipSnapshot) -> bool) -> GossipSnapshot {
        let waiting = async {
            loop {
                let snapshot = self.gossip().await;
                if enough(&snapshot) {
                    return snapshot;
                }
                tokio::time::sleep(POLL).await;
            }
        };
        match timeout(DEADLINE, waiting).await {
            Ok(snapshot) => snapshot,
            Err(_) => panic!("the router stays at {:?}", self.gossip().await),
        }
    }

    /// Waits until so many frames have been taken since the start.
    pub(crate) async fn wait_frames(&self, count: u64) -> GossipSnapshot {
        self.wait(|router| router.stats.frames_received >= count)
            .await
    }

    /// Waits until a peer is in the mesh.
    pub(crate) async fn wait_mesh(&self, id: PeerId) {
        self.wait_peer(id, |peer| !peer.in_mesh.is_empty()).await;
    }

    /// Waits until a peer is in the state asked for.
    pub(crate) async fn wait_peer(&self, id: PeerId, enough: impl Fn(&PeerSnapshot) -> bool) {
        let waiting = async {
            while !self.peer(id).await.is_some_and(|peer| enough(&peer)) {
                tokio::time::sleep(POLL).await;
            }
        };
        if timeout(DEADLINE, waiting).await.is_err() {
            panic!("the peer stays at {:?}", self.peer(id).await);
        }
    }

    /// The next event that `pick` wants.
    pub(crate) async fn event<T>(&mut self, pick: impl Fn(NodeEvent) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let event = self.events.recv().await.expect("the node lives").event;
                if let Some(found) = pick(event) {
                    return found;
                }
            }
        };
        timeout(DEADLINE, waiting).await.expect("the event comes")
    }

    /// Waits until the node has turned a peer away for its score; returns the score.
    pub(crate) async fn graylisted(&mut self, id: PeerId) -> f64 {
        self.event(|event| match event {
            NodeEvent::Graylisted { peer, score } if peer == id => Some(score),
            _ => None,
        })
        .await
    }

    /// The node carries a message from one new honest peer to another, and holds no more than it may.
    pub(crate) async fn unharmed(&mut self) {
        self.within_limits().await;
        let mut from = RawPeer::connect(self.addr()).await;
        let mut to = RawPeer::connect(self.addr()).await;
        from.send(&rpc::subscribe()).await;
        to.send(&rpc::subscribe()).await;
        to.send(&rpc::graft()).await;
        self.wait_mesh(to.id).await;
        let data = waku_data(self.next_seq, 2_000);
        self.next_seq += 1;
        from.send(&rpc::message(&data)).await;
        to.messages_until(MessageId::of(&data)).await;
        self.within_limits().await;
    }

    async fn within_limits(&self) {
        let (used, max) = (self.gossip().await.usage, &self.limits);
        for (what, used, max) in [
            ("topics", used.topics, max.topics_max),
            ("seen", used.seen, max.seen_max),
            ("pending", used.pending, max.pending_max),
            ("pending bytes", used.pending_bytes, max.pending_bytes_max),
            ("cache bytes", used.cache_bytes, max.cache_bytes_max),
            ("promises", used.iwant_requests, max.promises_max),
            ("backoffs", used.backoffs, max.backoffs_max),
            ("departed", used.departed, max.retained_peers_max),
            (
                "subscriptions",
                used.subscriptions_of_a_peer,
                max.subscriptions_per_peer_max,
            ),
            (
                "cancellable",
                used.cancellable_of_a_peer,
                max.cancellable_per_peer_max,
            ),
        ] {
            assert!(used <= max, "{what}: {used} over {max}");
        }
    }

    /// Ends it, which it must still be able to do.
    pub(crate) async fn stop(self) {
        timeout(DEADLINE, self.node.stop())
            .await
            .expect("the node stops");
    }
}
