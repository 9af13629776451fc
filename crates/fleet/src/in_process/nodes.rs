//! Many nodes in this process, on loopback, each connected to a few random others.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use undertone_message::{NetworkPreset, PubsubTopic, RlnParams, Shard};
use undertone_node::Keypair;
use undertone_node::command::Connectedness;
use undertone_node::driver::{NodeOptions, ProofSource, RunningNode, TimedEvent, start};
use undertone_node::handle::NodeHandle;
use undertone_relay::RelayConfig;
use undertone_rln::Generation;

use super::error::NodesError;
use super::rln::Rln;
use super::tokens::Terms;
use super::{files, topology};
use crate::credentials::Credentials;

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
pub(crate) struct Limit {
    /// Limit of each member, messages per epoch.
    pub(crate) messages: u32,
    /// Length of an epoch, seconds.
    pub(crate) epoch_s: u64,
    /// Number of members in the tree, at least the number of nodes.
    pub(crate) members: u32,
}

/// One running node with its events.
pub(crate) struct Node {
    pub(crate) running: RunningNode,
    pub(crate) events: mpsc::UnboundedReceiver<TimedEvent>,
}

/// Source of the proofs that a node publishes with.
pub(crate) enum Publishes {
    /// No proofs: the node only relays.
    Nothing,
    /// Proofs within the node's limit, if there is a limit.
    Honestly,
    /// Proofs of another source.
    With(Box<dyn ProofSource>),
}

/// Network of all nodes in this process.
pub(crate) struct Nodes {
    pub(crate) all: Vec<Node>,
    pub(crate) topic: PubsubTopic,
    preset: NetworkPreset,
    relay: RelayConfig,
    rln: Option<Rln>,
    folder: TempDir,
}

impl Nodes {
    /// Prepares a network for `nodes` nodes and starts none of them.
    pub(crate) fn new(nodes: usize, limit: Option<Limit>) -> Result<Self, NodesError> {
        files::allow_for(nodes)?;
        let folder = tempfile::tempdir().map_err(NodesError::Folder)?;
        let mut preset = NetworkPreset::by_name("local")?;
        preset.rln = limit.and_then(|limit| {
            Some(RlnParams {
                epoch_size_s: limit.epoch_s,
                user_message_limit: u64::from(limit.messages),
                ..preset.rln?
            })
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

    /// Returns the membership of the next node, and the rules for it; `None` without a limit.
    pub(crate) fn next_member(&self) -> Option<(Credentials, Terms)> {
        let rln = self.rln.as_ref()?;
        Some((rln.credentials(self.all.len()), rln.terms()))
    }

    /// Returns the folder of the nodes' files, which is removed together with the network.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts one more node, without connections.
    pub(crate) async fn start(&mut self, publishes: Publishes) -> Result<(), NodesError> {
        let node = self.all.len();
        let rln = match &mut self.rln {
            None => None,
            Some(rln) => {
                let proofs: Option<Box<dyn ProofSource>> = match publishes {
                    Publishes::Nothing => None,
                    Publishes::Honestly => Some(Box::new(rln.honest(node, self.folder.path())?)),
                    Publishes::With(proofs) => Some(proofs),
                };
                Some(rln.options(proofs))
            }
        };
        let (sender, events) = mpsc::unbounded_channel();
        let listen = "/ip4/127.0.0.1/tcp/0".parse().expect("a constant address");
        let running = start(NodeOptions {
            keypair: Keypair::generate_secp256k1(),
            listen: vec![listen],
            relay: self.relay.clone(),
            network: self.preset.name,
            protocols: vec!["/vac/waku/relay/2.0.0".to_owned()],
            topics: vec![self.topic.clone()],
            static_peers: Vec::new(),
            max_connections: MAX_CONNECTIONS,
            clock_ahead_ns: 0,
            rln,
            events: Some(sender),
        })
        .await?;
        self.all.push(Node { running, events });
        Ok(())
    }

    /// Connects all nodes started so far at random and waits until each has enough mesh peers.
    pub(crate) async fn connect(&self) -> Result<(), NodesError> {
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
    pub(crate) async fn prepare_tokens(&mut self, limit: Duration) -> Result<(), NodesError> {
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
    pub(crate) async fn stop(self) {
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
pub(crate) async fn connected(handle: &NodeHandle) -> u32 {
    let peers = handle.peers().await.unwrap_or_default();
    let connected = peers
        .iter()
        .filter(|peer| peer.connected == Connectedness::Connected);
    u32::try_from(connected.count()).unwrap_or(u32::MAX)
}
