//! One network on loopback: what all its nodes share, and the start of each.

use std::sync::{Arc, Mutex};

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use undertone_membership::{Registry, View};
use undertone_message::{NetworkPreset, PubsubTopic, Shard};
use undertone_node::command::Connectedness;
use undertone_node::driver::{
    NodeOptions, ProofSource, RlnOptions, RunningNode, StartError, TimedEvent, start,
};
use undertone_node::handle::NodeHandle;
use undertone_node::{Keypair, Multiaddr};
use undertone_relay::RelayConfig;
use undertone_rln::{BatchPolicy, Generation, Key, Prover, Verifier};

/// One running node with its events.
pub(crate) struct Node {
    pub(crate) running: RunningNode,
    pub(crate) events: mpsc::UnboundedReceiver<TimedEvent>,
}

/// Parameters that all nodes of a network share, and its only topic.
pub(crate) struct Network {
    pub(crate) preset: NetworkPreset,
    pub(crate) relay: RelayConfig,
    pub(crate) topic: PubsubTopic,
    max_connections: u32,
}

impl Network {
    /// Makes a network of which no node runs yet. `relay` belongs to the preset.
    pub(crate) fn new(preset: NetworkPreset, relay: RelayConfig, max_connections: u32) -> Self {
        let shard = Shard::new(preset.cluster_id, 0).expect("shard 0 exists in every cluster");
        Self {
            preset,
            relay,
            topic: PubsubTopic::Static(shard),
            max_connections,
        }
    }

    /// Starts a node, which stays connected to the static peers.
    pub(crate) async fn start(
        &self,
        rln: Option<RlnOptions>,
        static_peers: Vec<Multiaddr>,
    ) -> Result<Node, StartError> {
        let (sender, events) = mpsc::unbounded_channel();
        let listen = "/ip4/127.0.0.1/tcp/0".parse().expect("a constant address");
        let running = start(NodeOptions {
            keypair: Keypair::generate_secp256k1(),
            listen: vec![listen],
            relay: self.relay.clone(),
            network: self.preset.name,
            protocols: vec!["/vac/waku/relay/2.0.0".to_owned()],
            topics: vec![self.topic.clone()],
            static_peers,
            max_connections: self.max_connections,
            clock_ahead_ns: 0,
            rln,
            events: Some(sender),
        })
        .await?;
        Ok(Node { running, events })
    }

    /// Returns the number of peers that a node has in its mesh.
    pub(crate) async fn in_mesh(&self, handle: &NodeHandle) -> usize {
        let peers = handle.peers().await.unwrap_or_default();
        let in_mesh = peers
            .iter()
            .filter(|peer| peer.in_mesh.contains(&self.topic));
        in_mesh.count()
    }
}

/// RLN state that all nodes of a network share: the registry, and the tables of prover and verifier.
pub(crate) struct SharedRln {
    pub(crate) registry: Arc<dyn Registry>,
    pub(crate) prover: Arc<Prover>,
    pub(crate) generation: Generation,
    verifier: Verifier,
}

impl SharedRln {
    /// Makes the tables for this key.
    pub(crate) fn new(registry: Arc<dyn Registry>, key: &Arc<Key>, relay: &RelayConfig) -> Self {
        let rln = relay.rln.as_ref();
        Self {
            registry,
            prover: Arc::new(Prover::new(Arc::clone(key))),
            generation: rln.map_or(Generation::Hashed, |rln| rln.policy.generation),
            verifier: Verifier::new(key),
        }
    }

    /// Returns the options of a node that follows the registry with this view and publishes with these
    /// proofs; without proofs it only relays.
    pub(crate) fn options(
        &self,
        view: Arc<Mutex<dyn View>>,
        proofs: Option<Box<dyn ProofSource>>,
    ) -> RlnOptions {
        RlnOptions {
            registry: Arc::clone(&self.registry),
            verifier: self.verifier.clone(),
            verifier_threads: 1,
            batches: BatchPolicy::default(),
            proofs,
            joining: None,
            view,
            snapshot_file: None,
        }
    }
}

/// Returns the number of peers that a node is connected to.
pub(crate) async fn connected(handle: &NodeHandle) -> usize {
    let peers = handle.peers().await.unwrap_or_default();
    let connected = peers
        .iter()
        .filter(|peer| peer.connected == Connectedness::Connected);
    connected.count()
}

/// Stops all nodes at the same time.
pub(crate) async fn stop_all(nodes: impl IntoIterator<Item = RunningNode>) {
    let mut stopping: JoinSet<()> = nodes.into_iter().map(RunningNode::stop).collect();
    while stopping.join_next().await.is_some() {}
}
