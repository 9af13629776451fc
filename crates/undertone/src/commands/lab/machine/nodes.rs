//! Many nodes in this process, on loopback, each connected to a few random others.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use undertone_message::{NetworkPreset, PubsubTopic, Shard};
use undertone_node::command::Connectedness;
use undertone_node::driver::{
    ConnectionLimits, NodeOptions, ProofSource, RunningNode, TimedEvent, start,
};
use undertone_node::handle::NodeHandle;
use undertone_relay::RelayConfig;
use undertone_rln::Generation;

use super::error::NodesError;
use super::hoard::{Hoarder, Stock};
use super::rln::Rln;
use super::{files, topology};

/// Number of nodes that each node connects to, less those that already dial it.
const DIALS: usize = 6;
/// Seed of the random choice of connections.
const SEED: u64 = 1;
/// Mesh peers that each node needs before an experiment begins: GossipSub's lower bound `D_low`.
const MESH_MIN: usize = 4;
/// Time limit for the mesh to form.
const MESH_LIMIT: Duration = Duration::from_secs(120);
/// Maximum connections of one node.
const MAX_CONNECTIONS: u32 = 100;

/// Rate limit of the members, and the number of members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    /// Limit of each member, messages per epoch.
    pub(super) messages: u32,
    /// Length of an epoch, seconds.
    pub(super) epoch_s: u64,
    /// Number of members in the tree, at least the number of nodes.
    pub(super) members: u32,
}

/// One running node with its events.
pub(super) struct Node {
    pub(super) running: RunningNode,
    pub(super) events: mpsc::UnboundedReceiver<TimedEvent>,
}

/// Source of the proofs that a node publishes with.
pub(super) enum Publishes {
    /// No proofs: the node only relays.
    Nothing,
    /// Proofs within the node's limit, if there is a limit.
    Honestly,
    /// Proofs with reused message ids, from these tokens as long as there are any.
    Again(Stock),
}

/// Network of all nodes in this process.
pub(super) struct Nodes {
    pub(super) all: Vec<Node>,
    pub(super) topic: PubsubTopic,
    preset: NetworkPreset,
    relay: RelayConfig,
    rln: Option<Rln>,
    folder: TempDir,
}

impl Nodes {
    /// Prepares a network for `nodes` nodes and starts none of them.
    pub(super) fn new(nodes: usize, limit: Option<Limit>) -> Result<Self, NodesError> {
        files::allow_for(nodes)?;
        let folder = tempfile::tempdir().map_err(NodesError::Folder)?;
        let mut preset = NetworkPreset::by_name("local")?;
        preset.rln = limit.and_then(|limit| {
            let mut params = preset.rln?;
            params.epoch_size_s = limit.epoch_s;
            params.user_message_limit = u64::from(limit.messages);
            Some(params)
        });
        let mut relay = RelayConfig::for_network(&preset);
        if let Some(score) = &mut relay.gossip.score {
            // All nodes share this address, which the IP colocation score would hold against each of them.
            let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
            score.ip_colocation_allowed.insert(loopback);
        }
        let generation = relay
            .rln
            .as_ref()
            .map_or(Generation::Hashed, |rln| rln.policy.generation);
        let rln = match limit.zip(preset.rln) {
            Some((limit, params)) => Some(Rln::new(
                folder.path(),
                &params,
                generation,
                nodes,
                limit.members,
            )?),
            None => None,
        };
        let shard = Shard::new(preset.cluster_id, 0).expect("shard 0 exists in every cluster");
        Ok(Self {
            all: Vec::with_capacity(nodes),
            topic: PubsubTopic::Static(shard),
            preset,
            relay,
            rln,
            folder,
        })
    }

    /// Returns the hoarder that prepares the next node's tokens for spam; `None` without a limit.
    pub(super) fn hoarder(&self) -> Result<Option<Hoarder>, NodesError> {
        let hoarder = |rln: &Rln| rln.hoarder(self.all.len(), self.folder.path());
        self.rln.as_ref().map(hoarder).transpose()
    }

    /// Starts one more node, without connections.
    pub(super) async fn start(&mut self, publishes: Publishes) -> Result<(), NodesError> {
        let node = self.all.len();
        let rln = match &mut self.rln {
            None => None,
            Some(rln) => {
                let proofs: Option<Box<dyn ProofSource>> = match publishes {
                    Publishes::Nothing => None,
                    Publishes::Honestly => Some(Box::new(rln.honest(node, self.folder.path())?)),
                    Publishes::Again(stock) => Some(Box::new(rln.spammer(node, stock))),
                };
                Some(rln.options(proofs))
            }
        };
        let (sender, events) = mpsc::unbounded_channel();
        let listen = "/ip4/127.0.0.1/tcp/0".parse().expect("a constant address");
        let options = NodeOptions::for_network(&self.preset)
            .listen([listen])
            .relay(self.relay.clone())
            .topics([self.topic.clone()])
            .connections(ConnectionLimits::with_total(MAX_CONNECTIONS))
            .rln(rln)
            .events(sender);
        let running = start(options).await?;
        self.all.push(Node { running, events });
        Ok(())
    }

    /// Connects all nodes started so far at random and waits until each has enough mesh peers.
    pub(super) async fn connect(&self) -> Result<(), NodesError> {
        let deadline = Instant::now() + MESH_LIMIT;
        let dials = topology::dials(self.all.len(), DIALS, SEED);
        let mut dialling = JoinSet::new();
        for (node, others) in dials.iter().enumerate() {
            let handle = self.all[node].running.handle.clone();
            let peers: Vec<_> = others
                .iter()
                .flat_map(|&other| self.all[other].running.addresses.first().cloned())
                .collect();
            dialling.spawn(async move {
                for address in peers {
                    let connected = handle.connect(address).await;
                    connected.map_err(|reason| NodesError::Connect { node, reason })?;
                }
                Ok::<_, NodesError>(())
            });
        }
        while let Some(dialled) = dialling.join_next().await {
            dialled.expect("dialling neither panics nor is it aborted")?;
        }
        let enough = MESH_MIN.min(self.all.len().saturating_sub(1));
        for node in &self.all {
            while in_mesh(&node.running.handle, &self.topic).await < enough {
                if Instant::now() > deadline {
                    return Err(NodesError::Slow(MESH_LIMIT));
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        Ok(())
    }

    /// Starts to prepare tokens and waits until every honest node has enough, for at most `limit`.
    pub(super) async fn prepare_tokens(&mut self, limit: Duration) -> Result<(), NodesError> {
        let Some(rln) = &mut self.rln else {
            return Ok(());
        };
        rln.prepare_tokens()?;
        let deadline = Instant::now() + limit;
        while !rln.has_tokens() && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Stops all nodes at the same time.
    pub(super) async fn stop(self) {
        let mut stopping = JoinSet::new();
        for node in self.all {
            stopping.spawn(node.running.stop());
        }
        while stopping.join_next().await.is_some() {}
    }
}

async fn in_mesh(handle: &NodeHandle, topic: &PubsubTopic) -> usize {
    let peers = handle.peers().await.unwrap_or_default();
    let in_mesh = peers.iter().filter(|peer| peer.in_mesh.contains(topic));
    in_mesh.count()
}

/// Returns the number of peers that a node is connected to.
pub(super) async fn connected(handle: &NodeHandle) -> u32 {
    let peers = handle.peers().await.unwrap_or_default();
    let connected = peers
        .iter()
        .filter(|peer| peer.connected == Connectedness::Connected);
    u32::try_from(connected.count()).unwrap_or(u32::MAX)
}
