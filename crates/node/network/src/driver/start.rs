//! Starts a node from its options.

use std::thread;
use std::time::Instant;

use libp2p::swarm::StreamProtocol;
use libp2p::{Multiaddr, PeerId};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use undertone_gossip::{QueueLimits, Time};
use undertone_relay::Relay;
use undertone_services::metadata::{MetadataExchange, MetadataLimits};

use super::connections::PeerConnections;
use super::dial_spans::DialSpans;
use super::dialling::Dialling;
use super::error::StartError;
use super::event_loop::{EventLoop, REDIAL};
use super::fragmenter::Fragmenter;
use super::kept::KeptPeers;
use super::opened_ports::OpenedPorts;
use super::options::NodeOptions;
use super::outward::Outward;
use super::peers::PeerTable;
use super::publishing::Publishing;
use super::reach::Reach;
use super::record::NodeRecord;
use super::rln::RlnService;
use super::runtime_load::RuntimeLoad;
use super::shards::Shards;
use super::spans::MessageTraces;
use super::time::Clock;
use crate::handle::{NodeEndpoint, NodeHandle, node_channel};
use crate::swarm::{
    self, CertificateWatch, ConnectionLimits, Gate, InTransit, InboundFrames, PubsubConfig,
    ServiceStreams, SwarmOptions, TrustedNames,
};

/// Node running on its own thread.
pub struct RunningNode {
    /// Handle for sending commands to the node.
    pub handle: NodeHandle,
    /// Identity of the node.
    pub peer_id: PeerId,
    /// Addresses that the node listens on, each with `/p2p`; ports chosen by the system are filled in.
    pub addresses: Vec<Multiaddr>,
    thread: thread::JoinHandle<()>,
}

impl RunningNode {
    /// Asks the node to stop and waits until it has stopped.
    pub async fn stop(self) {
        self.handle.shutdown().await;
        drop(self.handle);
        // The loop has answered and its thread ends by itself; a panic was logged where it happened.
        let _ = tokio::task::spawn_blocking(move || self.thread.join()).await;
    }
}

/// Starts a node and waits until it listens.
///
/// # Errors
/// [`StartError`] names the fault and, where possible, the remedy.
pub async fn start(options: NodeOptions) -> Result<RunningNode, StartError> {
    let peer_id = options.keypair.public().to_peer_id();
    let (handle, endpoint) = node_channel();
    let handle = handle.with_tracer(options.tracer.clone());
    let (ready, started) = oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let thread = thread::Builder::new().name("net".into()).spawn(move || {
        runtime.block_on(async move {
            match build(options, endpoint).await {
                Ok((event_loop, delivering, addresses)) => {
                    // The caller may have given up; the loop then ends because its handles are dropped.
                    let _ = ready.send(Ok(addresses));
                    // Spawned as a task, because `block_on` polls its own future only when no task is ready.
                    // A panic is logged where it happens.
                    let _ = tokio::spawn(event_loop.run()).await;
                    // The loop has ended, so no delivery follows; waiting ones still reach the archive.
                    let _ = delivering.await;
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
    endpoint: NodeEndpoint,
) -> Result<(EventLoop, JoinHandle<()>, Vec<Multiaddr>), StartError> {
    if options.relay.rln.is_some() && options.rln.is_none() {
        return Err(StartError::RlnMissing(options.network));
    }
    let (gate, in_transit) = (Gate::default(), InTransit::default());
    let (inbound, frames) = InboundFrames::new(gate.clone());
    let clock = Clock::start(options.clock_ahead_ns);
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(std::io::Error::from)?;
    let mut relay = options.relay.clone();
    if let (Some(relay), Some(rln)) = (&mut relay.rln, &options.rln) {
        relay.sends_reused_ids = rln
            .proofs
            .as_ref()
            .is_some_and(|proofs| proofs.reuses_ids());
    }
    let relay = Relay::new(relay, seed, Time::ZERO)?;
    let pubsub = PubsubConfig {
        protocols: protocols(&options.protocols)?,
        frame_bytes_max: options.relay.gossip.limits.frame_bytes_max,
        queue: QueueLimits::default(),
        inbound,
        long_frame_bytes: options.relay.gossip.large.transfer_bytes,
        in_transit: in_transit.clone(),
    };
    let is_relay = !options.protocols.is_empty();
    let udp_ports = options.discovery.as_ref().map(|ports| ports.udp_ports);
    let udp_ports = udp_ports.unwrap_or_default();
    let record = NodeRecord::new(&options.keypair, options.capabilities, udp_ports);
    let own = options.keypair.public().to_peer_id();
    let mut manager_seed = [0; 32];
    getrandom::fill(&mut manager_seed).map_err(std::io::Error::from)?;
    let cluster = options.relay.cluster_id;
    let connections = options
        .discovery
        .map(|ports| PeerConnections::new(own, cluster, manager_seed, ports));
    let allows_private = |connections: &PeerConnections| connections.ports.allows_private;
    let is_private = connections.as_ref().is_some_and(allows_private);
    let trusted_names = match is_private || !options.nat.only_global_ips {
        true => TrustedNames::all(),
        false => TrustedNames::default(),
    };
    let certificate = options.certificate.map(CertificateWatch::open);
    let certificate = certificate.transpose()?;
    let mut swarm = swarm::build(SwarmOptions {
        keypair: options.keypair,
        agent: format!("undertone/{}", env!("CARGO_PKG_VERSION")),
        pubsub,
        limits: fitted(options.connections),
        services: options
            .services
            .unwrap_or_else(|| ServiceStreams::new(Vec::new()).0),
        nat: options.nat.clone(),
        has_quic: options.listen.iter().any(swarm::is_quic),
        hides_listening: options.announced.hides_listening(),
        certificate: certificate.as_ref().map(CertificateWatch::renewed),
        trusted_names: trusted_names.clone(),
    })
    .map_err(|error| StartError::Transport(error.to_string()))?;
    let addresses = super::listen::listen(&mut swarm, options.listen.clone()).await?;
    for address in options.announced.over(&addresses) {
        swarm.add_external_address(address);
    }
    let ports = match options.port_mapping {
        Some(method) => OpenedPorts::ask(method, &options.listen, &addresses, udp_ports.v4),
        None => OpenedPorts::default(),
    };
    let (rln_sender, rln_events) = mpsc::unbounded_channel();
    let rln = options
        .rln
        .map(|rln| RlnService::start(rln, rln_sender))
        .transpose()?;
    if options.relay.fragment_bytes.is_some() {
        let epoch_s = options.relay.rln.as_ref();
        let epoch_s = epoch_s.map(|rln| rln.policy.epoch_size_s);
        endpoint.deliveries.reassemble(epoch_s);
    }
    let (outward, delivering) =
        Outward::start(endpoint.deliveries, options.events, options.peer_news);
    let mut event_loop = EventLoop {
        swarm,
        frames,
        relay,
        clock,
        runtime_load: RuntimeLoad::new(Instant::now(), &Handle::current().metrics()),
        gate,
        in_transit,
        peers: PeerTable::default(),
        metadata_exchange: MetadataExchange::new(MetadataLimits::default()),
        rln,
        rln_events,
        commands: endpoint.commands,
        outward,
        network: options.network,
        is_relay,
        publishing: Publishing::new(Fragmenter::new(options.relay.fragment_bytes)),
        dialling: Dialling::new(
            KeptPeers::new(options.static_peers, options.service_peers, REDIAL),
            trusted_names,
            DialSpans::new(options.tracer.clone()),
        ),
        follow_ups: Vec::new(),
        totals: Default::default(),
        connections,
        reach: Reach::new(
            options.nat.relay_client,
            ports,
            record,
            certificate,
            options.announced.hides_listening(),
        ),
        shards: Shards::new(cluster),
        traces: MessageTraces::new(options.tracer),
    };
    event_loop.begin(options.topics)?;
    Ok((event_loop, delivering, addresses))
}

/// Lowers the limits to fit the number of files that the process may open.
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
