//! The demo's line of nodes: five members in a line, on loopback.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::sync::mpsc;
use undertone_membership::evm::ChainHandle;
use undertone_membership::{MembershipLog, MembershipView, RegistryError, SqliteRegistry};
use undertone_message::NetworkPreset;
use undertone_node::Multiaddr;
use undertone_node::command::HealthStatus;
use undertone_node::driver::{
    MemberClock, MemberProofs, PooledProofs, ProofSource, RunningNode, TimedEvent,
};
use undertone_node::handle::{Delivery, NodeHandle};
use undertone_relay::RelayConfig;
use undertone_rln::{Key, MessageIdCounter, Policy, PoolConfig, PoolSnapshot};

use super::chain::OnChain;
use super::error::{DemoError, NetworkError, START_LIMIT};
use crate::Progress;
use crate::credentials::{Credentials, random_identity};
use crate::in_process::{LocalNetwork, LocalNode, NodesError, SharedRln, stop_all};

/// Number of nodes in the line.
pub(super) const NODES: usize = 5;

/// Capacity of a node's queue of deliveries; far more than the demo publishes.
const DELIVERIES: usize = 1024;

/// Index of the node that publishes with tokens prepared ahead.
pub(super) const WITH_TOKENS: usize = 0;

/// Token pool of that node: a node's defaults except for the processor limit, which would make the
/// demo last longer.
fn with_tokens() -> PoolConfig {
    let mut pool = PoolConfig::default();
    pool.max_cpu_percent = 100;
    pool
}

/// Token pool without tokens: each proof is made in full when its message is published.
fn without_tokens() -> PoolConfig {
    let mut pool = with_tokens();
    pool.size = 0;
    pool
}

/// Time limit for a token, after which the demo continues without one.
const TOKEN_LIMIT: Duration = Duration::from_secs(60);

/// Maximum connections of one node.
const MAX_CONNECTIONS: u32 = 50;

/// One running node, with its events and deliveries.
pub(super) struct DemoNode {
    pub(super) running: RunningNode,
    pub(super) events: mpsc::UnboundedReceiver<TimedEvent>,
    pub(super) deliveries: mpsc::Receiver<Delivery>,
}

/// Registry of the demo's members.
pub(super) enum MemberStore {
    /// Registry in a file of the demo's folder.
    InFile(Arc<SqliteRegistry>),
    /// Contract on a development chain.
    OnChain(Box<OnChain>),
}

impl MemberStore {
    fn log(&self) -> Arc<dyn MembershipLog> {
        match self {
            Self::InFile(file) => Arc::clone(file) as Arc<dyn MembershipLog>,
            Self::OnChain(chain) => chain.log(),
        }
    }

    fn chain(&self) -> Option<ChainHandle> {
        match self {
            Self::InFile(_) => None,
            Self::OnChain(chain) => Some(chain.handle()),
        }
    }
}

/// Registered member for which no node runs yet.
pub(super) struct RegisteredMember {
    pub(super) credentials: Credentials,
    pub(super) view: Arc<Mutex<MembershipView>>,
}

/// The demo's nodes and everything that they share.
pub(super) struct DemoLine {
    pub(super) nodes: Vec<DemoNode>,
    pub(super) network: LocalNetwork,
    pub(super) startup_ms: f64,
    pub(super) members: MemberStore,
    rln: SharedRln,
    folder: PathBuf,
    /// Guard that removes the folder when dropped; `None` if the folder is kept.
    _temporary: Option<TempDir>,
}

impl DemoLine {
    pub(super) async fn start(
        keep: Option<&Path>,
        on_chain: bool,
        progress: &dyn Progress,
    ) -> Result<Self, DemoError> {
        let preset = NetworkPreset::by_name("local")
            .map_err(NodesError::from)
            .map_err(NetworkError::from)?;
        let chain = if on_chain {
            progress.step("starting a chain and deploying the contract");
            Some(OnChain::start(root_window(&preset), progress).await?)
        } else {
            None
        };
        let began = Instant::now();
        progress.step("loading the proving key");
        let key = Key::load()?;
        let mut line = Self::empty(keep, preset, chain, &key)?;
        for i in 0..NODES {
            progress.step(&format!("starting node {} of {NODES}", i + 1));
            let registered = line.register(line.preset_limit()).await?;
            let (member, view) = (registered.credentials, registered.view);
            let counter = line.folder.join(format!("node-{i}.counter"));
            let proofs = MemberProofs {
                counter: MessageIdCounter::open(counter, member.limit)
                    .map_err(NodesError::from)
                    .map_err(NetworkError::from)?,
                identity: member.identity,
                index: member.index,
                limit: member.limit,
                generation: member.generation,
                clock: MemberClock::new(&line.policy(), 0),
                prover: member.prover,
                view: member.view,
            };
            let before = line.nodes.last().map(|node| node.running.addresses.clone());
            let peers = before.unwrap_or_default();
            let tokens = if i == WITH_TOKENS {
                with_tokens()
            } else {
                without_tokens()
            };
            let proofs = PooledProofs::start(proofs, tokens)
                .map_err(NodesError::Tokens)
                .map_err(NetworkError::from)?;
            let node = line.node(Box::new(proofs), view, peers).await?;
            line.nodes.push(node);
        }
        progress.step("waiting for the mesh");
        line.wait_until_ready().await?;
        line.startup_ms = began.elapsed().as_secs_f64() * 1e3;
        Ok(line)
    }

    fn empty(
        keep: Option<&Path>,
        preset: NetworkPreset,
        chain: Option<OnChain>,
        key: &Arc<Key>,
    ) -> Result<Self, NetworkError> {
        let temporary = match keep {
            Some(folder) => {
                std::fs::create_dir_all(folder).map_err(NodesError::Folder)?;
                None
            }
            None => Some(tempfile::tempdir().map_err(NodesError::Folder)?),
        };
        let kept = keep.map(Path::to_path_buf);
        let folder = temporary
            .as_ref()
            .map(|dir| dir.path().to_path_buf())
            .or(kept);
        let folder = folder.expect("one of the two was made above");
        let relay = RelayConfig::for_network(&preset);
        let members = match chain {
            Some(chain) => MemberStore::OnChain(Box::new(chain)),
            None => {
                let file = folder.join("members.sqlite");
                let members = SqliteRegistry::open_or_create(file, 100);
                MemberStore::InFile(Arc::new(
                    members
                        .map_err(RegistryError::from)
                        .map_err(NodesError::from)?,
                ))
            }
        };
        Ok(Self {
            nodes: Vec::new(),
            startup_ms: 0.0,
            rln: SharedRln::new(members.log(), members.chain(), key, &relay),
            network: LocalNetwork::new(preset, relay, MAX_CONNECTIONS),
            members,
            folder,
            _temporary: temporary,
        })
    }

    fn preset_limit(&self) -> u32 {
        let limit = self
            .network
            .preset
            .rln
            .map_or(1, |rln| rln.user_message_limit);
        u32::try_from(limit).unwrap_or(u32::MAX)
    }

    fn policy(&self) -> Policy {
        let rln = self.network.relay.rln.as_ref();
        rln.expect("the demo's network has a rate limit").policy
    }

    /// Registers a new identity with `limit` messages per epoch.
    pub(super) async fn register(&mut self, limit: u32) -> Result<RegisteredMember, NetworkError> {
        let identity = random_identity().map_err(|error| NetworkError::Random(error.into()))?;
        let commitment = identity.commitment();
        let index = match &mut self.members {
            MemberStore::OnChain(chain) => chain.register(&commitment, limit).await?,
            MemberStore::InFile(file) => {
                file.register(commitment, limit).map_err(NodesError::from)?
            }
        };
        let mut view = MembershipView::new(root_window(&self.network.preset));
        view.refresh(&*self.members.log())
            .map_err(NodesError::from)?;
        let view = Arc::new(Mutex::new(view));
        let credentials = Credentials {
            identity,
            index,
            limit,
            generation: self.rln.generation,
            prover: Arc::clone(&self.rln.prover),
            view: view.clone(),
        };
        Ok(RegisteredMember { credentials, view })
    }

    /// Starts a node with this source of proofs and these static peers.
    pub(super) async fn node(
        &self,
        proofs: Box<dyn ProofSource>,
        view: Arc<Mutex<MembershipView>>,
        static_peers: Vec<Multiaddr>,
    ) -> Result<DemoNode, NetworkError> {
        let rln = self.rln.options(view, Some(proofs));
        let LocalNode { running, events } = self
            .network
            .start(Some(rln), static_peers)
            .await
            .map_err(NodesError::from)?;
        let deliveries = running.handle.messages(DELIVERIES);
        Ok(DemoNode {
            running,
            events,
            deliveries,
        })
    }

    /// Waits until every node has its neighbours in its mesh and knows all members.
    async fn wait_until_ready(&self) -> Result<(), NetworkError> {
        let deadline = Instant::now() + START_LIMIT;
        for (i, node) in self.nodes.iter().enumerate() {
            let neighbours = if i == 0 || i == NODES - 1 { 1 } else { 2 };
            while !self.is_ready(&node.running.handle, neighbours).await {
                if Instant::now() > deadline {
                    return Err(NetworkError::Slow);
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Ok(())
    }

    async fn is_ready(&self, handle: &NodeHandle, neighbours: usize) -> bool {
        let healthy = handle
            .health()
            .await
            .is_ok_and(|health| health.node == HealthStatus::Ready);
        healthy && self.network.in_mesh(handle).await >= neighbours
    }

    /// Returns the state of a node's token pool, if the node has one.
    pub(super) async fn tokens(&self, node: usize) -> Option<PoolSnapshot> {
        let state = self.nodes[node].running.handle.rln().await;
        Some(state.ok().flatten()?.tokens?.state)
    }

    /// Waits until a token is ready, as it is for a publisher with pauses between messages; at most
    /// [`TOKEN_LIMIT`], since a message can be sent without a token.
    pub(super) async fn wait_for_token(&self, node: usize) {
        let deadline = Instant::now() + TOKEN_LIMIT;
        while self.tokens(node).await.is_some_and(|pool| pool.ready == 0)
            && Instant::now() < deadline
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(super) async fn stop(self) {
        stop_all(self.nodes.into_iter().map(|node| node.running)).await;
    }
}

fn root_window(preset: &NetworkPreset) -> usize {
    preset.rln.map_or(0, |rln| rln.root_window)
}
