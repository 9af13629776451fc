//! The demo's network: five members in a line, on loopback.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::sync::mpsc;
use undertone_membership::{
    MemberIndex, MembershipLog, MembershipView, RegistryError, SqliteRegistry,
};
use undertone_message::{NetworkPreset, PubsubTopic, UnknownNetwork};
use undertone_node::Multiaddr;
use undertone_node::command::{Connectedness, HealthStatus};
use undertone_node::driver::{
    ConnectionLimits, MemberClock, MemberProofs, MembershipSource, NodeOptions, PooledProofs,
    ProofSource, RlnOptions, RunningNode, StartError, TimedEvent, start,
};
use undertone_node::handle::{Delivery, NodeHandle};
use undertone_relay::RelayConfig;
use undertone_rln::{
    CounterError, Generation, Identity, Key, MessageIdCounter, Policy, PoolConfig, PoolSnapshot,
    Prover, Verifier,
};

use super::DemoError;
use super::chain::{OnChain, OnChainError};
use super::progress::Progress;

/// Number of nodes in the line.
pub(crate) const NODES: usize = 5;

/// Capacity of a node's queue of deliveries; far more than the demo publishes.
const DELIVERIES: usize = 1024;

/// Time limit for the line to form, after which the demo gives up.
const START_LIMIT: Duration = Duration::from_secs(30);

/// Index of the node that publishes with tokens prepared ahead.
pub(crate) const WITH_TOKENS: usize = 0;

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

/// Errors that keep the network from starting.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NetworkError {
    #[error("cannot make a folder for the nodes' files: {0}")]
    Folder(std::io::Error),
    #[error(transparent)]
    Preset(#[from] UnknownNetwork),
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Chain(#[from] OnChainError),
    #[error(transparent)]
    Counter(#[from] CounterError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("the system's random generator: {0}")]
    Random(std::io::Error),
    #[error("cannot start the thread that prepares tokens: {0}")]
    Tokens(std::io::Error),
    #[error("the line did not form within {START_LIMIT:?}; is loopback traffic blocked?")]
    Slow,
}

/// One running node, with its events and deliveries.
pub(crate) struct DemoNode {
    pub(crate) running: RunningNode,
    pub(crate) events: mpsc::UnboundedReceiver<TimedEvent>,
    pub(crate) deliveries: mpsc::Receiver<Delivery>,
}

/// Registered member for which no node runs yet.
pub(crate) struct Member {
    pub(crate) identity: Identity,
    pub(crate) index: MemberIndex,
    pub(crate) limit: u32,
    pub(crate) view: Arc<Mutex<MembershipView>>,
}

/// The demo's nodes and everything that they share.
pub(crate) struct Network {
    pub(crate) nodes: Vec<DemoNode>,
    pub(crate) topic: PubsubTopic,
    pub(crate) startup_ms: f64,
    pub(crate) prover: Arc<Prover>,
    pub(crate) generation: Generation,
    /// Registry of the members.
    pub(crate) members: Members,
    preset: NetworkPreset,
    verifier: Verifier,
    folder: PathBuf,
    /// Guard that removes the folder when dropped; `None` if the folder is kept.
    _temporary: Option<TempDir>,
}

/// Registry of the demo's members.
pub(crate) enum Members {
    /// Registry in a file of the demo's folder.
    InFile(Arc<SqliteRegistry>),
    /// Contract on a development chain.
    OnChain(OnChain),
}

impl Members {
    fn log(&self) -> Arc<dyn MembershipLog> {
        match self {
            Self::InFile(file) => Arc::clone(file) as Arc<dyn MembershipLog>,
            Self::OnChain(chain) => chain.log(),
        }
    }
}

impl Network {
    pub(crate) async fn start(
        keep: Option<&Path>,
        on_chain: bool,
        progress: &Progress,
    ) -> Result<Self, DemoError> {
        let preset = NetworkPreset::by_name("local").map_err(NetworkError::from)?;
        let chain = if on_chain {
            progress.say("starting a chain and deploying the contract");
            Some(OnChain::start(root_window(&preset)).await?)
        } else {
            None
        };
        let began = Instant::now();
        progress.say("loading the proving key");
        let key = Key::load()?;
        let mut network = Self::empty(keep, preset, chain, &key)?;
        for i in 0..NODES {
            progress.say(format!("starting node {} of {NODES}", i + 1));
            let member = network.register(network.preset_limit()).await?;
            let counter = network.folder.join(format!("node-{i}.counter"));
            let proofs = MemberProofs {
                counter: MessageIdCounter::open(counter, member.limit)
                    .map_err(NetworkError::Counter)?,
                identity: member.identity,
                index: member.index,
                limit: member.limit,
                generation: network.generation,
                clock: MemberClock::new(&network.policy(), 0),
                prover: Arc::clone(&network.prover),
                view: member.view.clone(),
            };
            let before = network
                .nodes
                .last()
                .map(|node| node.running.addresses.clone());
            let peers = before.unwrap_or_default();
            let tokens = if i == WITH_TOKENS {
                with_tokens()
            } else {
                without_tokens()
            };
            let proofs = PooledProofs::start(proofs, tokens).map_err(NetworkError::Tokens)?;
            let node = network.node(Box::new(proofs), member.view, peers).await?;
            network.nodes.push(node);
        }
        progress.say("waiting for the mesh");
        network.wait_for_line().await?;
        network.startup_ms = began.elapsed().as_secs_f64() * 1e3;
        Ok(network)
    }

    fn empty(
        keep: Option<&Path>,
        preset: NetworkPreset,
        chain: Option<OnChain>,
        key: &Arc<Key>,
    ) -> Result<Self, NetworkError> {
        let temporary = match keep {
            Some(folder) => {
                std::fs::create_dir_all(folder).map_err(NetworkError::Folder)?;
                None
            }
            None => Some(tempfile::tempdir().map_err(NetworkError::Folder)?),
        };
        let kept = keep.map(Path::to_path_buf);
        let folder = temporary
            .as_ref()
            .map(|dir| dir.path().to_path_buf())
            .or(kept);
        let folder = folder.expect("one of the two was made above");
        let relay = RelayConfig::for_network(&preset);
        let generation = relay
            .rln
            .as_ref()
            .map_or(Generation::Hashed, |r| r.policy.generation);
        let members = match chain {
            Some(chain) => Members::OnChain(chain),
            None => {
                let file = folder.join("members.sqlite");
                let members = SqliteRegistry::open_or_create(file, 100);
                Members::InFile(Arc::new(members.map_err(RegistryError::from)?))
            }
        };
        Ok(Self {
            nodes: Vec::new(),
            topic: PubsubTopic::Static(
                undertone_message::Shard::new(preset.cluster_id, 0)
                    .expect("shard 0 exists in every cluster"),
            ),
            startup_ms: 0.0,
            prover: Arc::new(Prover::new(Arc::clone(key))),
            generation,
            members,
            preset,
            verifier: Verifier::new(key),
            folder,
            _temporary: temporary,
        })
    }

    fn preset_limit(&self) -> u32 {
        let limit = self.preset.rln.map_or(1, |rln| rln.user_message_limit);
        u32::try_from(limit).unwrap_or(u32::MAX)
    }

    fn policy(&self) -> Policy {
        let relay = RelayConfig::for_network(&self.preset);
        let rln = relay.rln.expect("the demo's network has a rate limit");
        rln.policy
    }

    /// Registers a new identity with `limit` messages per epoch.
    pub(crate) async fn register(&mut self, limit: u32) -> Result<Member, NetworkError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| NetworkError::Random(error.into()))?;
        let identity = Identity::from_seed(&seed);
        let commitment = identity.commitment();
        let index = match &mut self.members {
            Members::OnChain(chain) => chain.register(&commitment, limit).await?,
            Members::InFile(file) => file.register(commitment, limit)?,
        };
        let mut view = MembershipView::new(root_window(&self.preset));
        view.refresh(&*self.members.log())?;
        Ok(Member {
            identity,
            index,
            limit,
            view: Arc::new(Mutex::new(view)),
        })
    }

    /// Starts a node with this source of proofs and these static peers.
    pub(crate) async fn node(
        &self,
        proofs: Box<dyn ProofSource>,
        view: Arc<Mutex<MembershipView>>,
        static_peers: Vec<Multiaddr>,
    ) -> Result<DemoNode, NetworkError> {
        let (events_sender, events) = mpsc::unbounded_channel();
        let listen = "/ip4/127.0.0.1/tcp/0".parse().expect("a constant address");
        let membership = MembershipSource::Log {
            log: self.members.log(),
            view,
            snapshot_file: None,
        };
        let chain = match &self.members {
            Members::InFile(_) => None,
            Members::OnChain(chain) => Some(chain.handle()),
        };
        let rln = RlnOptions::new(membership, self.verifier.clone()).chain(chain);
        let options = NodeOptions::for_network(&self.preset)
            .listen([listen])
            .topics([self.topic.clone()])
            .static_peers(static_peers)
            .connections(ConnectionLimits::with_total(50))
            .rln(rln.proofs(proofs))
            .events(events_sender);
        let running = start(options).await?;
        let deliveries = running.handle.messages(DELIVERIES);
        Ok(DemoNode {
            running,
            events,
            deliveries,
        })
    }

    /// Waits until every node has its neighbours in its mesh and knows all members.
    async fn wait_for_line(&self) -> Result<(), NetworkError> {
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
        let peers = handle.peers().await.unwrap_or_default();
        let in_mesh = peers
            .iter()
            .filter(|peer| peer.in_mesh.contains(&self.topic));
        healthy && in_mesh.count() >= neighbours
    }

    /// Returns the state of a node's token pool, if the node has one.
    pub(crate) async fn tokens(&self, node: usize) -> Option<PoolSnapshot> {
        let state = self.nodes[node].running.handle.rln().await;
        Some(state.ok().flatten()?.tokens?.state)
    }

    /// Waits until a token is ready, as it is for a publisher with pauses between messages; at most
    /// [`TOKEN_LIMIT`], since a message can be sent without a token.
    pub(crate) async fn wait_for_token(&self, node: usize) {
        let deadline = Instant::now() + TOKEN_LIMIT;
        while self.tokens(node).await.is_some_and(|pool| pool.ready == 0)
            && Instant::now() < deadline
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) async fn stop(&mut self) {
        for node in self.nodes.drain(..) {
            node.running.stop().await;
        }
    }
}

fn root_window(preset: &NetworkPreset) -> usize {
    preset.rln.map_or(0, |rln| rln.root_window)
}

/// Returns the number of a node's connected peers.
pub(crate) async fn connected(handle: &NodeHandle) -> usize {
    let peers = handle.peers().await.unwrap_or_default();
    peers
        .iter()
        .filter(|peer| peer.connected == Connectedness::Connected)
        .count()
}
