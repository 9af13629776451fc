//! One network on loopback: the state that its nodes share, and the start of each node.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use undertone_membership::evm::ChainHandle;
use undertone_membership::{MembershipLog, MembershipView};
use undertone_message::{NetworkPreset, PubsubTopic, Shard};
use undertone_node::Multiaddr;
use undertone_node::command::Connectedness;
use undertone_node::driver::{
    ConnectionLimits, MembershipSource, NodeOptions, ProofSource, RlnOptions, RunningNode,
    StartError, TimedEvent, start,
};
use undertone_node::handle::NodeHandle;
use undertone_relay::RelayConfig;
use undertone_rln::{Generation, Key, Prover, Verifier};

/// One running node with its events.
pub(crate) struct LocalNode {
    pub(crate) running: RunningNode,
    pub(crate) events: mpsc::UnboundedReceiver<TimedEvent>,
}

/// Parameters that all nodes of a network share, and its only topic.
pub(crate) struct LocalNetwork {
    pub(crate) preset: NetworkPreset,
    pub(crate) relay: RelayConfig,
    pub(crate) topic: PubsubTopic,
    max_connections: u32,
}

impl LocalNetwork {
    /// Makes a network without running nodes. `relay` belongs to the preset.
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
    ) -> Result<LocalNode, StartError> {
        let (sender, events) = mpsc::unbounded_channel();
        let listen = "/ip4/127.0.0.1/tcp/0".parse().expect("a constant address");
        let options = NodeOptions::for_network(&self.preset)
            .listen([listen])
            .relay(self.relay.clone())
            .topics([self.topic.clone()])
            .static_peers(static_peers)
            .connections(ConnectionLimits::with_total(self.max_connections))
            .rln(rln)
            .events(sender);
        let running = start(options).await?;
        Ok(LocalNode { running, events })
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

/// RLN state that all nodes of a network share: the log of members, and the tables of prover and verifier.
pub(crate) struct SharedRln {
    pub(crate) prover: Arc<Prover>,
    pub(crate) generation: Generation,
    log: Arc<dyn MembershipLog>,
    /// Thread that follows the members' contract; `None` without a chain.
    chain: Option<ChainHandle>,
    verifier: Verifier,
}

impl SharedRln {
    /// Makes the tables for this key.
    pub(crate) fn new(
        log: Arc<dyn MembershipLog>,
        chain: Option<ChainHandle>,
        key: &Arc<Key>,
        relay: &RelayConfig,
    ) -> Self {
        let rln = relay.rln.as_ref();
        Self {
            prover: Arc::new(Prover::new(Arc::clone(key))),
            generation: rln.map_or(Generation::Hashed, |rln| rln.policy.generation),
            log,
            chain,
            verifier: Verifier::new(key),
        }
    }

    /// Returns the options of a node that follows the log with this view and publishes with these proofs;
    /// without proofs it only relays.
    pub(crate) fn options(
        &self,
        view: Arc<Mutex<MembershipView>>,
        proofs: Option<Box<dyn ProofSource>>,
    ) -> RlnOptions {
        let membership = MembershipSource::Log {
            log: Arc::clone(&self.log),
            view,
            snapshot_file: None,
        };
        RlnOptions::new(membership, self.verifier.clone())
            .chain(self.chain.clone())
            .proofs(proofs)
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
