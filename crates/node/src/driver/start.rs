//! From options to a running node.

use std::collections::BTreeMap;
use std::thread;

use libp2p::identity::Keypair;
use libp2p::swarm::StreamProtocol;
use libp2p::{Multiaddr, PeerId};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use undertone_gossip::{ConfigError, QueueLimits, Time};
use undertone_message::PubsubTopic;
use undertone_relay::{Relay, RelayConfig};

use super::event_loop::EventLoop;
use super::events::TimedEvent;
use super::ids::KnownIds;
use super::parts::Parts;
use super::peers::PeerTable;
use super::posts::Posts;
use super::record::NodeRecord;
use super::rln::{RlnOptions, RlnService};
use super::time::Clock;
use crate::command::SubscribeFailure;
use crate::handle::{Endpoint, NodeHandle, node_channel};
use crate::swarm::{self, Arrivals, ConnectionLimits, Gate, Inbound, PubsubConfig, SwarmOptions};

/// What a node is made of.
pub struct NodeOptions {
    /// Its identity.
    pub keypair: Keypair,
    /// Where it listens.
    pub listen: Vec<Multiaddr>,
    /// The relay's parameters.
    pub relay: RelayConfig,
    /// Name of the network, for messages to people.
    pub network: &'static str,
    /// Pubsub protocol ids to offer, most preferred first; each must be one of
    /// [`undertone_gossip::PROTOCOLS`].
    pub protocols: Vec<String>,
    /// Topics joined from the start.
    pub topics: Vec<PubsubTopic>,
    /// Peers to stay connected to.
    pub static_peers: Vec<Multiaddr>,
    /// Connections at most; [`start_within`] bounds more than their number.
    pub max_connections: u32,
    /// Rate limiting; must be there if the relay's configuration has it.
    pub rln: Option<RlnOptions>,
    /// How far the node's wall clock is ahead of the system's, nanoseconds; negative: behind.
    pub clock_ahead_ns: i64,
    /// Where events go, for whoever watches from within the process.
    pub events: Option<mpsc::UnboundedSender<TimedEvent>>,
}

/// A node that runs on a thread of its own.
pub struct RunningNode {
    /// To talk to it.
    pub handle: NodeHandle,
    /// Who it is.
    pub peer_id: PeerId,
    /// Where it listens, each address with `/p2p`; ports chosen by the system are filled in.
    pub addresses: Vec<Multiaddr>,
    thread: thread::JoinHandle<()>,
}

impl RunningNode {
    /// Asks the node to stop and waits until it has.
    pub async fn stop(self) {
        self.handle.shutdown().await;
        drop(self.handle);
        // The loop has answered; its thread ends by itself, a panic was logged where it happened.
        let _ = tokio::task::spawn_blocking(move || self.thread.join()).await;
    }
}

/// Why a node did not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The gossip parameters contradict each other.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An address is taken or not ours.
    #[error("cannot listen on {address}: {reason}; choose another port or stop who uses it")]
    Listen {
        /// The address.
        address: Multiaddr,
        /// What the transport says.
        reason: String,
    },
    /// A protocol id that the router does not know.
    #[error("unknown pubsub protocol {0:?}; known: {known}", known = known_protocols())]
    Protocol(String),
    /// The system refused a thread or a runtime.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] std::io::Error),
    /// A topic that cannot be joined.
    #[error(transparent)]
    Topic(#[from] SubscribeFailure),
    /// The transports could not be set up.
    #[error("cannot set up the transports: {0}")]
    Transport(String),
    /// The network demands proofs and there is nothing to check them with.
    #[error("network {0} demands RLN proofs, but RLN is off; set `rln = true`")]
    RlnMissing(&'static str),
}

fn known_protocols() -> String {
    let ids: Vec<_> = undertone_gossip::PROTOCOLS
        .iter()
        .map(|protocol| protocol.id)
        .collect();
    ids.join(", ")
}

/// Starts a node and waits until it listens.
///
/// # Errors
/// [`StartError`] names what is wrong and what to do.
pub async fn start(options: NodeOptions) -> Result<RunningNode, StartError> {
    let limits = ConnectionLimits::with_total(options.max_connections);
    start_within(options, limits).await
}

/// Starts a node as [`start`] does, with bounds of its connections in place of
/// [`NodeOptions::max_connections`]. They are lowered if the process may not open so many files.
///
/// # Errors
/// [`StartError`] names what is wrong and what to do.
pub async fn start_within(
    options: NodeOptions,
    limits: ConnectionLimits,
) -> Result<RunningNode, StartError> {
    let peer_id = options.keypair.public().to_peer_id();
    let (handle, endpoint) = node_channel();
    let (ready, started) = oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let thread = thread::Builder::new().name("net".into()).spawn(move || {
        runtime.block_on(async move {
            match build(options, limits, endpoint).await {
                Ok((event_loop, addresses)) => {
                    // The starter may have given up; the loop then ends with its handles.
                    let _ = ready.send(Ok(addresses));
                    // A task among tasks: what `block_on` runs has its turn only when no task has one.
                    // If it panics, that is logged where it happens.
                    let _ = tokio::spawn(event_loop.run()).await;
                }
                Err(error) => {
                    let _ = ready.send(Err(error));
                }
            }
        });
    })?;
    let ended = |_| StartError::Transport("the network thread ended".into());
    let addresses = started.await.map_err(ended)??;
    Ok(RunningNode {
        handle,
        peer_id,
        addresses,
        thread,
    })
}

async fn build(
    options: NodeOptions,
    limits: ConnectionLimits,
    endpoint: Endpoint,
) -> Result<(EventLoop, Vec<Multiaddr>), StartError> {
    if options.relay.rln.is_some() && options.rln.is_none() {
        return Err(StartError::RlnMissing(options.network));
    }
    let (gate, arrivals) = (Gate::default(), Arrivals::default());
    let (inbound, frames) = Inbound::new(gate.clone());
    let clock = Clock::start(options.clock_ahead_ns);
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(std::io::Error::from)?;
    let ids = KnownIds::default();
    let mut relay = options.relay.clone();
    if let (Some(relay), Some(rln)) = (&mut relay.rln, &options.rln) {
        relay.sends_reused_ids = rln
            .proofs
            .as_ref()
            .is_some_and(|proofs| proofs.reuses_ids());
    }
    let relay = Relay::new(relay, seed, Time::ZERO)?.with_message_ids(Box::new(ids.clone()));
    let pubsub = PubsubConfig {
        protocols: protocols(&options.protocols)?,
        frame_bytes_max: options.relay.gossip.limits.frame_bytes_max,
        queue: QueueLimits::default(),
        inbound,
        long_frame_bytes: options.relay.gossip.large.transfer_bytes,
        arrivals: arrivals.clone(),
    };
    let record = NodeRecord::new(&options.keypair);
    let mut swarm = swarm::build(SwarmOptions {
        keypair: options.keypair,
        agent: format!("undertone/{}", env!("CARGO_PKG_VERSION")),
        pubsub,
        limits: fitted(limits),
    })
    .map_err(|error| StartError::Transport(error.to_string()))?;
    let addresses = super::listen::listen(&mut swarm, options.listen).await?;
    let (rln_sender, rln_events) = mpsc::unbounded_channel();
    let rln = options
        .rln
        .map(|rln| RlnService::start(rln, rln_sender))
        .transpose()?;
    let (deliveries, waiting) = mpsc::unbounded_channel();
    tokio::spawn(super::deliver::run(waiting, endpoint.deliveries));
    let mut event_loop = EventLoop {
        swarm,
        frames,
        relay,
        clock,
        gate,
        arrivals,
        ids,
        peers: PeerTable::default(),
        rln,
        rln_events,
        commands: endpoint.commands,
        deliveries,
        events: options.events,
        network: options.network,
        cluster_id: options.relay.cluster_id,
        static_peers: options.static_peers,
        static_identities: BTreeMap::new(),
        publishing: Default::default(),
        proving_since: Default::default(),
        next_token: 0,
        parts: Parts::new(options.relay.fragment_bytes),
        dialling: Default::default(),
        joined: Default::default(),
        follow_ups: Vec::new(),
        totals: Default::default(),
        posts: Posts::new(&options.relay),
        record,
        graylisted: Default::default(),
    };
    event_loop.set_clock();
    event_loop.keep_static_peers();
    for topic in options.topics {
        event_loop.subscribe(topic)?;
    }
    event_loop.redial();
    Ok((event_loop, addresses))
}

/// The limits within the number of files that the process may open.
fn fitted(limits: ConnectionLimits) -> ConnectionLimits {
    let files_max = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let Some(fitted) = files_max.and_then(|files_max| limits.within_files(files_max)) else {
        return limits;
    };
    tracing::warn!(
        files = files_max,
        connections = fitted.total_max,
        handshakes = fitted.pending_max,
        "fewer connections than asked for: the process may not open more files; raise its limit (ulimit -n)"
    );
    fitted
}

fn protocols(ids: &[String]) -> Result<Vec<StreamProtocol>, StartError> {
    let known = |id: &String| undertone_gossip::Features::of(id).is_some();
    ids.iter()
        .map(|id| {
            let unknown = || StartError::Protocol(id.clone());
            if !known(id) {
                return Err(unknown());
            }
            StreamProtocol::try_from_owned(id.clone()).map_err(|_| unknown())
        })
        .collect()
}
