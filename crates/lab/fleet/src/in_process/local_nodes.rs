//! Many nodes in this process, on loopback, each connected to a few random others.

use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::task::JoinSet;
use undertone_message::NetworkPreset;
use undertone_node::driver::ProofSource;
use undertone_relay::RelayConfig;

use super::error::NodesError;
use super::members::LocalMembers;
use super::network::{LocalNetwork, LocalNode, stop_all};
use super::tokens::RateTerms;
use super::{files, topology};
use crate::credentials::Credentials;

/// Number of nodes that each node dials, less those that already dial it.
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

/// Source of a node's proofs.
pub(crate) enum Publishes {
    /// No proofs: the node only relays.
    Nothing,
    /// Proofs within the node's limit, if there is a limit.
    Honestly,
    /// Proofs of another source.
    With(Box<dyn ProofSource>),
}

/// Many nodes in this process, and the members as which they publish.
pub(crate) struct LocalNodes {
    pub(crate) nodes: Vec<LocalNode>,
    pub(crate) network: LocalNetwork,
    members: Option<LocalMembers>,
    folder: TempDir,
}

impl LocalNodes {
    /// Prepares a network for `nodes` nodes and starts none of them.
    pub(crate) fn new(nodes: usize, limit: Option<Limit>) -> Result<Self, NodesError> {
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
            score.allow_loopback();
        }
        let members = match limit.zip(preset.rln) {
            Some((limit, params)) => Some(LocalMembers::new(
                folder.path(),
                &params,
                &relay,
                nodes,
                limit.members,
            )?),
            None => None,
        };
        Ok(Self {
            nodes: Vec::with_capacity(nodes),
            network: LocalNetwork::new(preset, relay, MAX_CONNECTIONS),
            members,
            folder,
        })
    }

    /// Returns the membership of the next node, and the rules for it; `None` without a limit.
    pub(crate) fn next_member(&self) -> Option<(Credentials, RateTerms)> {
        let members = self.members.as_ref()?;
        Some((members.credentials(self.nodes.len()), members.terms()))
    }

    /// Returns the folder of the nodes' files, which is removed together with the network.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts one more node, without connections.
    pub(crate) async fn start(&mut self, publishes: Publishes) -> Result<(), NodesError> {
        let node = self.nodes.len();
        let rln = match &mut self.members {
            None => None,
            Some(members) => {
                let proofs: Option<Box<dyn ProofSource>> = match publishes {
                    Publishes::Nothing => None,
                    Publishes::Honestly => {
                        Some(Box::new(members.honest(node, self.folder.path())?))
                    }
                    Publishes::With(proofs) => Some(proofs),
                };
                Some(members.options(proofs))
            }
        };
        let started = self.network.start(rln, Vec::new()).await?;
        self.nodes.push(started);
        Ok(())
    }

    /// Connects all nodes started so far at random and waits until each has enough mesh peers.
    pub(crate) async fn connect(&self) -> Result<(), NodesError> {
        let deadline = Instant::now() + MESH_LIMIT;
        let dials = topology::dials(self.nodes.len(), DIALS, SEED);
        let mut dialling = JoinSet::new();
        for (node, others) in dials.iter().enumerate() {
            let handle = self.nodes[node].running.handle.clone();
            let peers: Vec<_> = others
                .iter()
                .flat_map(|&other| self.nodes[other].running.addresses.first().cloned())
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
        let enough = MESH_MIN.min(self.nodes.len().saturating_sub(1));
        for node in &self.nodes {
            while self.network.in_mesh(&node.running.handle).await < enough {
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
        let Some(members) = &mut self.members else {
            return Ok(());
        };
        members.prepare_tokens()?;
        let deadline = Instant::now() + limit;
        while !members.has_tokens() && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Stops all nodes at the same time.
    pub(crate) async fn stop(self) {
        stop_all(self.nodes.into_iter().map(|node| node.running)).await;
    }
}
