//! Configuration of a node: a TOML file, `UNDERTONE_*` environment variables and flags.
//!
//! A later source overrides an earlier one: preset, file, environment, flags. A program that embeds a node passes
//! text and settings of its own instead. All sources share the key names in [`KEYS`]. Every error names the source,
//! the key, its value and what was expected.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use libp2p::Multiaddr;
use undertone_membership::evm::{Contract, Mode};
use undertone_message::{NetworkPreset, RlnParams, Shard};
use undertone_rln::{BatchPolicy, PoolConfig};

use undertone_network::driver::{
    AnnouncedAddresses, CertificateFiles, ConnectionLimits, MappingMethod, NatOptions,
};
use undertone_network::traces::TraceConfig;
use undertone_provider::discovery::DiscoveryConfig;
use undertone_provider::services::ServicesConfig;
use undertone_rest::{MetricsNames, TokenScope};

mod error;
mod explain;
mod keys;
mod kind;
mod log;
mod resolve;
mod setting;
mod sources;

#[cfg(test)]
mod tests;

pub use error::ConfigError;
pub use explain::{ConfigValues, ExplainedKey, explain};
pub use keys::{GossipOverrides, KEYS};
pub use kind::Kind;
pub use log::{LogConfig, LogFormat};
pub use setting::ConfigKey;
pub use sources::Sources;

/// Complete and validated configuration of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeConfig {
    /// Constants of the network, with overrides applied.
    pub network: NetworkPreset,
    /// Whether content topics are spread over the network's shards (automatic sharding).
    pub autosharding: bool,
    /// Shards to subscribe to from the start, ascending.
    pub shards: Vec<Shard>,
    /// Content topics whose messages REST keeps from the start, each with its shard, which is among `shards`.
    pub content_topics: Vec<(String, Shard)>,
    /// Bandwidth that shards may use.
    pub shard_bandwidth: ShardBandwidth,
    /// IP addresses that libp2p listens on, at least one.
    pub listen_addresses: Vec<IpAddr>,
    /// TCP port of libp2p; 0 lets the system choose.
    pub tcp_port: u16,
    /// WebSocket port of libp2p, `None` when off; 0 lets the system choose.
    pub websocket_port: Option<u16>,
    /// Files with the certificate of the WebSocket port, `None` for WebSocket without TLS.
    pub websocket_certificate: Option<CertificateFiles>,
    /// UDP port of QUIC, `None` when off; 0 lets the system choose.
    pub quic_port: Option<u16>,
    /// Addresses at which other nodes can reach this one.
    pub announced: AnnouncedAddresses,
    /// How to ask the router in front of the node to open ports; `None` for not asking.
    pub port_mapping: Option<MappingMethod>,
    /// NAT and firewall traversal that the node uses and offers.
    pub nat: NatOptions,
    /// Settings of the REST server, `None` when off.
    pub rest: Option<RestListen>,
    /// Address of a separate server for `/metrics`, `None` when off; REST serves `/metrics` too.
    pub metrics: Option<SocketAddr>,
    /// Prefixes of the metrics that dashboards for nwaku query.
    pub metrics_names: MetricsNames,
    /// Settings of traces, `None` when off.
    pub traces: Option<TraceConfig>,
    /// Peers to stay connected to.
    pub static_peers: Vec<Multiaddr>,
    /// Settings of discovery, `None` for a node that knows only the configured peers.
    pub discovery: Option<DiscoveryConfig>,
    /// File with the node's secret key.
    pub node_key_file: PathBuf,
    /// Limits on the node's connections.
    pub connections: ConnectionLimits,
    /// Whether messages are relayed.
    pub relay: bool,
    /// Services for light clients and applications.
    pub services: ServicesConfig,
    /// Settings of rate limiting, `None` when off.
    pub rln: Option<RlnConfig>,
    /// Directory for the node's persistent files.
    pub data_dir: PathBuf,
    /// File of the delivery log, see [`crate::delivery_log`]; `None` for no log.
    pub delivery_log: Option<PathBuf>,
    /// Offset of the node's clock from the system's, milliseconds; positive when it is ahead.
    pub clock_ahead_ms: i64,
    /// Level and format of log lines.
    pub log: LogConfig,
    /// Pubsub protocol ids to offer, most preferred first.
    pub protocols: Vec<String>,
    /// Gossip parameters that differ from the defaults.
    pub gossip: GossipOverrides,
    /// All parameters of the router, in place of the network's. `gossip` still overrides single ones,
    /// and the bound on frames follows the longest message. No key sets this field; the program that
    /// loads the configuration may.
    pub router: Option<undertone_gossip::Config>,
}

/// Settings of the REST server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestListen {
    /// Address and port to listen on; port 0 lets the system choose.
    pub address: SocketAddr,
    /// Whether `/admin` is served.
    pub admin: bool,
    /// Messages kept for each topic until they are fetched.
    pub relay_cache_capacity: usize,
    /// Host names that requests may use, see [`undertone_rest::Access::hosts`].
    pub hosts: Vec<String>,
    /// Origins of web pages that may use the API, see [`undertone_rest::Access::origins`].
    pub origins: Vec<String>,
    /// Paths that require the token; `None` for no token.
    pub token_for: Option<TokenScope>,
    /// The token, if one was configured.
    pub token: Option<String>,
}

/// Bandwidth that shards may use, both directions together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShardBandwidth {
    /// Bytes per second of each shard; `None` for no limit.
    pub each_bytes_per_s: Option<u64>,
    /// Bytes per second of individual shards, by index, in place of `each_bytes_per_s`.
    pub of_shard: BTreeMap<u16, u64>,
}

/// Settings of this node's rate limiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RlnConfig {
    /// The network's RLN parameters.
    pub params: RlnParams,
    /// SQLite file of the membership registry, used unless `chain` is set.
    pub registry: PathBuf,
    /// Contract used as membership registry.
    pub chain: Option<ChainConfig>,
    /// File with the node's identity; without it the node verifies proofs but cannot publish.
    pub identity_file: PathBuf,
    /// Messages per epoch that the node allows itself; a lower limit of the membership takes precedence.
    pub message_limit: u64,
    /// File with the number of messages already sent in the current epoch.
    pub counter_file: PathBuf,
    /// File with the prover's tables; they are recomputed if it is missing.
    pub tables_file: PathBuf,
    /// File that keeps the membership tree between runs; the tree is rebuilt from the registry if it is missing.
    pub tree_file: PathBuf,
    /// Limits on the size and cost of the pool of proofs prepared in advance.
    pub tokens: PoolConfig,
    /// Threads that verify proofs; at least 1.
    pub verifier_threads: usize,
    /// Rule for verifying proofs in batches.
    pub batches: BatchPolicy,
}

/// A membership contract and the endpoints to reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainConfig {
    /// Address of the contract and its chain.
    pub contract: Contract,
    /// Whether to follow all members, or only the newest roots and the node's own path.
    pub mode: Mode,
    /// URLs of RPC endpoints, the preferred one first.
    pub urls: Vec<String>,
    /// Database file for the state read from the contract.
    pub store: PathBuf,
}

impl NodeConfig {
    /// Reads and validates all sources, and fills in the values of the network preset.
    pub fn load(sources: &Sources) -> Result<Self, ConfigError> {
        resolve::resolve(&sources.gather()?)
    }
}
