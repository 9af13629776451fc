//! Assembles a running node with its REST server from a configuration.

mod candidate;
mod check;
mod files;
mod gossip;
mod membership;
mod roles;
mod space;
mod stopping;

#[cfg(test)]
#[path = "tests/assemble.rs"]
mod tests;

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use undertone_membership::RegistryError;
use undertone_membership::evm::EvmError;
use undertone_message::PubsubTopic;
use undertone_relay::RelayConfig;
use undertone_rln::{CounterError, IdentityFileError, KeyError};

use crate::config::{NodeConfig, RestListen};
use crate::delivery_log::DeliveryLog;
use undertone_network::driver::{
    MemberProofs, NodeOptions, ProofSource, RunningNode, StartError, start,
};
use undertone_network::traces::{TraceExporter, Tracer};
use undertone_provider::discovery::{self, DiscoveryError};
use undertone_provider::services::{self, PastProofs, RunningServices, ServicesError};
use undertone_rest::{Access, AccessToken, RestConfig, ServeLimits};

pub use check::check;
pub use stopping::{StopDeadlines, StopOutcome};

/// How long a message with an unknown root waits for the registry. Usually one endpoint can answer in that
/// time, or a second one after the first has timed out.
const UNKNOWN_ROOT_TIMEOUT_NS: u64 = 12_000_000_000;

const NS_PER_MS: i64 = 1_000_000;

/// Reason why a configured node did not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// The message-id counter cannot be used.
    #[error(transparent)]
    Counter(#[from] CounterError),
    /// The identity file cannot be used.
    #[error(transparent)]
    Identity(#[from] IdentityFileError),
    /// The built-in proving key cannot be loaded.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A file is missing that the configuration names and that the node only reads.
    #[error("{key} {path}: there is no such file; {remedy}")]
    MissingFile {
        /// Key that names the file.
        key: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// How to get such a file.
        remedy: &'static str,
    },
    /// The node's secret key cannot be used.
    #[error("node key {path}: {defect}")]
    NodeKey {
        /// Path of the key file.
        path: PathBuf,
        /// Defect of the file.
        defect: NodeKeyDefect,
    },
    /// The disk is full.
    #[error(
        "{path}: no space left on the device ({error}); free some, or choose another folder with \
         --data-dir"
    )]
    NoSpace {
        /// File of the node on the full disk.
        path: PathBuf,
        /// Failure caused by the full disk.
        error: Box<Self>,
    },
    /// The REST API's token cannot be read or created.
    #[error("REST token {path}: {reason}; set rest-token, or move the file away to get a new one")]
    RestToken {
        /// Path of the token file.
        path: PathBuf,
        /// Defect of the file, or the operating system's error.
        reason: String,
    },
    /// The delivery log cannot be opened.
    #[error("delivery-log {path}: {error}; choose another with --delivery-log")]
    DeliveryLog {
        /// Path of the log.
        path: PathBuf,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The folder for the node's files cannot be created.
    #[error("data-dir {path}: {error}; choose another with --data-dir")]
    DataDir {
        /// Path of the folder.
        path: PathBuf,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The membership contract cannot be followed.
    #[error(transparent)]
    Chain(#[from] EvmError),
    /// The membership registry cannot be used.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The REST server cannot listen.
    #[error("rest-address, rest-port: cannot listen on {address}: {error}; choose another port")]
    Rest {
        /// Requested address.
        address: SocketAddr,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The metrics server cannot listen.
    #[error(
        "metrics-server-address, metrics-server-port: cannot listen on {address}: {error}; choose another port"
    )]
    Metrics {
        /// Requested address.
        address: SocketAddr,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The node itself did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Discovery did not start.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// The services did not start.
    #[error(transparent)]
    Services(#[from] ServicesError),
}

/// Defect of the file with the node's secret key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NodeKeyDefect {
    /// The key does not match the peer id stored beside it.
    #[error(
        "damaged: it was the key of peer {expected}, and what is there now is that of peer {found}; \
         restore it from a backup, or move the file away to start as a new peer"
    )]
    OtherPeer {
        /// Peer id stored in the file.
        expected: Box<PeerId>,
        /// Peer id derived from the key in the file.
        found: Box<PeerId>,
    },
    /// The file is not exactly a key with its peer id.
    #[error(
        "damaged: not a protobuf-encoded libp2p key with its peer id; restore it from a backup, or move \
         the file away to start as a new peer"
    )]
    Damaged,
    /// The operating system does not let the node read the file.
    #[error("cannot be read: {0}; check its owner and permissions")]
    Unreadable(std::io::Error),
    /// The operating system does not let the node write the file.
    #[error("cannot be written: {0}; check that the folder exists, is writable and has space")]
    Unwritable(std::io::Error),
}

/// A node with the servers that its configuration asks for.
pub struct Assembled {
    /// The running node itself.
    pub node: RunningNode,
    /// Services of the node.
    pub services: RunningServices,
    /// Address that REST listens on, if it is served.
    pub rest: Option<SocketAddr>,
    /// Whether the node could make proofs, and so publish, when it started.
    pub may_publish: bool,
    /// Address of the separate metrics server, if there is one.
    pub metrics: Option<SocketAddr>,
    /// Thread that exports spans, on a node with traces.
    exporter: Option<TraceExporter>,
    servers: Vec<Server>,
}

/// A running server and the sender that stops it.
struct Server {
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Server {
    fn start(listener: TcpListener, router: axum::Router) -> Self {
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            // A dropped sender means stop as well.
            let _ = stopped.await;
        };
        let serving = undertone_rest::serve(listener, router, ServeLimits::default(), stopped);
        let task = tokio::spawn(serving);
        Self { stop, task }
    }
}

/// Function that makes a proof source from a member's secrets, in place of the honest one.
pub type MakeProofs = Box<dyn FnMut(MemberProofs) -> std::io::Result<Box<dyn ProofSource>> + Send>;

/// Starts the node and the servers that the configuration describes.
///
/// # Errors
/// [`AssembleError`] names the key or file and the remedy.
pub async fn assemble(config: &NodeConfig) -> Result<Assembled, AssembleError> {
    assemble_with(config, None).await
}

/// Like [`assemble`], but with proofs from `make_proofs` if it is `Some`, for tests of members that break the
/// rules.
///
/// # Errors
/// The same errors as [`assemble`].
pub async fn assemble_with(
    config: &NodeConfig,
    make_proofs: Option<MakeProofs>,
) -> Result<Assembled, AssembleError> {
    let assembled = assemble_all(config, make_proofs).await;
    assembled.map_err(|error| space::explain(error, config))
}

async fn assemble_all(
    config: &NodeConfig,
    make_proofs: Option<MakeProofs>,
) -> Result<Assembled, AssembleError> {
    check(config)?;
    if let Some(warning) = config.services.warning() {
        tracing::warn!("{warning}");
    }
    std::fs::create_dir_all(&config.data_dir).map_err(|error| AssembleError::DataDir {
        path: config.data_dir.clone(),
        error,
    })?;
    let rest = match &config.rest {
        // Bound first, so that a port already in use is noticed before anything else has started.
        Some(rest) => {
            let address = rest.address;
            let listener = undertone_rest::listen(address);
            Some(listener.map_err(|error| AssembleError::Rest { address, error })?)
        }
        None => None,
    };
    let metrics = match config.metrics {
        Some(address) => {
            let listener = undertone_rest::listen(address);
            Some(listener.map_err(|error| AssembleError::Metrics { address, error })?)
        }
        None => None,
    };
    let access = match &config.rest {
        Some(rest) => access(rest, &config.data_dir)?,
        None => Access::default(),
    };
    let delivery_log = match &config.delivery_log {
        Some(path) => {
            Some(
                DeliveryLog::open(path).map_err(|error| AssembleError::DeliveryLog {
                    path: path.clone(),
                    error,
                })?,
            )
        }
        None => None,
    };
    let relay = relay_config(config);
    let clock_ahead_ns = config.clock_ahead_ms.saturating_mul(NS_PER_MS);
    let rln = match (&config.rln, &relay.rln) {
        (Some(config), Some(relay)) => {
            let opened = membership::open(config, relay, clock_ahead_ns, make_proofs);
            Some(opened?)
        }
        _ => None,
    };
    let may_publish = rln.as_ref().is_none_or(|rln| rln.has_proofs());
    // A node without relay mounts no relay protocol and joins no mesh.
    let (shards, protocols) = match config.relay {
        true => (&config.shards[..], &config.protocols[..]),
        false => (&[][..], &[][..]),
    };
    let topics: Vec<_> = shards.iter().copied().map(PubsubTopic::Static).collect();
    let proofs = rln.as_ref().zip(relay.rln.as_ref());
    let proofs = proofs.map(|(rln, relay)| {
        let (verifier, view) = (rln.verifier().clone(), rln.membership_view());
        PastProofs::new(verifier, relay.policy, view)
    });
    let services = roles::services(config, &relay, proofs);
    let (services, links) = services::prepare(services).await?;
    let keypair = files::node_key(&config.node_key_file)?;
    let (known_in, known) = watch::channel(Vec::new());
    let discovery = match &config.discovery {
        Some(discovery) => {
            let options = roles::discovery(config, discovery);
            Some(discovery::prepare(options, known_in).await?)
        }
        None => None,
    };
    let (discovery, ports) = discovery.unzip();
    let own = keypair.public().to_peer_id();
    let traces = config.traces.as_ref();
    let traces = traces.map(|traces| Tracer::start(traces, own)).transpose();
    let (tracer, exporter) = traces.map_err(StartError::Thread)?.unzip();
    let options = NodeOptions::for_network(&config.network)
        .keypair(keypair.clone())
        .listen(listen_addresses(config))
        .announced(config.announced.clone())
        .port_mapping(config.port_mapping)
        .nat(config.nat.clone())
        .certificate(config.websocket_certificate.clone())
        .relay(relay)
        .protocols(protocols.iter().cloned())
        .topics(topics.iter().cloned())
        .static_peers(config.static_peers.iter().cloned())
        .service_peers(roles::kept_service_peers(config))
        .connections(config.connections.clone())
        .rln(rln)
        .clock_ahead_ns(clock_ahead_ns)
        .discovery(ports)
        .capabilities(roles::capabilities(config))
        .services(links.streams)
        .peer_news(links.news)
        .tracer(tracer)
        .events(delivery_log.as_ref().map(DeliveryLog::follow));
    let node = start(options).await?;
    if let Some(log) = delivery_log {
        node.handle.add_sink(Arc::new(log));
    }
    let services = services.run(&node.handle, node.peer_id, known)?;
    if let Some(discovery) = discovery {
        let cluster = config.network.cluster_id;
        discovery
            .run(&keypair, cluster, &node.handle, &services)
            .await?;
    }
    let mut assembled = Assembled {
        node,
        services,
        rest: None,
        may_publish,
        metrics: None,
        exporter,
        servers: Vec::new(),
    };
    if let Some(listener) = metrics {
        assembled.metrics = listener.local_addr().ok();
        let services = assembled.services.handle.clone();
        let handle = assembled.node.handle.clone();
        let router = undertone_rest::metrics_router(handle, Some(services), config.metrics_names);
        assembled.servers.push(Server::start(listener, router));
    }
    if let (Some(listener), Some(listen)) = (rest, &config.rest) {
        assembled.rest = listener.local_addr().ok();
        let rest_config = RestConfig {
            network: config.network,
            autosharding: config.autosharding,
            subscriptions: topics,
            content_topics: if config.relay {
                content_topics(config)
            } else {
                Vec::new()
            },
            log_level: Some(crate::logging::set_level),
            access,
            relay: config.relay,
            unserved: config.services.unserved.clone(),
            admin: listen.admin,
            relay_cache_capacity: listen.relay_cache_capacity,
            clock_ahead_ns,
            version: format!("undertone v{}", env!("CARGO_PKG_VERSION")),
            metrics_names: config.metrics_names,
        };
        let services = assembled.services.handle.clone();
        let router = undertone_rest::router_with_services(
            assembled.node.handle.clone(),
            services,
            rest_config,
        );
        assembled.servers.push(Server::start(listener, router));
    }
    Ok(assembled)
}

/// Whether the node makes proofs: it relays, or it has an identity.
fn makes_proofs(config: &NodeConfig) -> bool {
    let rln = config.rln.as_ref();
    rln.is_some_and(|rln| config.relay || rln.identity_file.exists())
}

/// Whether the node makes or checks proofs. A node that does not relay checks only the proofs of messages from
/// other stores.
fn has_proofs(config: &NodeConfig) -> bool {
    let checks = config.rln.is_some() && config.services.takes_history();
    checks || makes_proofs(config)
}

fn content_topics(config: &NodeConfig) -> Vec<(String, PubsubTopic)> {
    let topics = config.content_topics.iter();
    topics
        .map(|(topic, shard)| (topic.clone(), PubsubTopic::Static(*shard)))
        .collect()
}

/// Returns the access rules of the REST API. Creates the token if one is required but not configured.
fn access(rest: &RestListen, data_dir: &Path) -> Result<Access, AssembleError> {
    let token = match (rest.token_for, &rest.token) {
        (None, _) => None,
        (Some(scope), Some(secret)) => {
            let secret = secret.clone();
            Some(AccessToken { secret, scope })
        }
        (Some(scope), None) => {
            let path = data_dir.join("rest-token");
            let secret = files::rest_token(&path)?;
            tracing::info!(path = %path.display(), "requests to the REST API need the token in this file");
            Some(AccessToken { secret, scope })
        }
    };
    Ok(Access {
        address: rest.address.ip(),
        hosts: rest.hosts.clone(),
        origins: rest.origins.clone(),
        token,
    })
}

/// Returns the relay's parameters for a configuration.
pub fn relay_config(config: &NodeConfig) -> RelayConfig {
    let mut relay = RelayConfig::for_network(&config.network);
    if let Some(router) = &config.router {
        let frame_bytes_max = relay.gossip.limits.frame_bytes_max;
        relay.gossip.clone_from(router);
        relay.gossip.limits.frame_bytes_max = frame_bytes_max;
    }
    gossip::apply(&mut relay.gossip, &config.gossip);
    gossip::limit_shards(
        &mut relay.gossip,
        &config.shard_bandwidth,
        config.network.cluster_id,
    );
    if let Some(score) = &mut relay.gossip.score {
        score.allow_loopback();
    }
    relay.fragment_bytes = config.gossip.fragment_bytes;
    relay.publish_unjoined = true;
    match &mut relay.rln {
        Some(rln) if has_proofs(config) => rln.unknown_root_timeout_ns = UNKNOWN_ROOT_TIMEOUT_NS,
        rln => *rln = None,
    }
    relay
}

/// Returns the addresses to listen on: all ports of the first IP address, then those of the next.
fn listen_addresses(config: &NodeConfig) -> Vec<Multiaddr> {
    let at = |ip: &IpAddr| {
        let base = Multiaddr::from(*ip);
        let websocket = config.websocket_port.map(|port| {
            let websocket = match config.websocket_certificate {
                Some(_) => Protocol::Wss("/".into()),
                None => Protocol::Ws("/".into()),
            };
            base.clone().with(Protocol::Tcp(port)).with(websocket)
        });
        let quic = config.quic_port.map(|port| {
            let udp = base.clone().with(Protocol::Udp(port));
            udp.with(Protocol::QuicV1)
        });
        let tcp = base.with(Protocol::Tcp(config.tcp_port));
        [Some(tcp), websocket, quic].into_iter().flatten()
    };
    config.listen_addresses.iter().flat_map(at).collect()
}
