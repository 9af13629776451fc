//! Configuration of a node: a TOML file, `UNDERTONE_*` environment variables and flags.
//!
//! A later source overrides an earlier one: preset, file, environment, flags. A program that embeds a node gives
//! text and settings of its own instead. All sources share the key names in [`KEYS`]; every error names the source,
//! key and value it is about and what was expected.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use libp2p::Multiaddr;
use undertone_archive::{ArchiveUrl, RetentionPolicy};
use undertone_discovery::dns::tree::TreeUrl;
use undertone_membership::evm::{Contract, Mode};
use undertone_message::{NetworkPreset, RlnParams, Shard};
use undertone_rln::{BatchPolicy, PoolConfig};
use undertone_services::rate_limit::RateLimits;

use crate::driver::{
    AnnouncedAddresses, CertificateFiles, ConnectionLimits, MappingMethod, PassageOptions,
};
use crate::rest::TokenScope;
use crate::traces::TraceConfig;

mod error;
mod explain;
mod keys;
mod kind;
mod log;
mod metrics;
mod resolve;
mod setting;
mod sources;

#[cfg(test)]
mod tests;

pub use error::ConfigError;
pub use explain::{ConfigValues, ExplainedKey, explain};
pub use keys::{GossipOverrides, KEYS};
pub use kind::Kind;
pub use log::{LogConfig, LogFormat, LogLevel};
pub use metrics::MetricsNames;
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
    /// Addresses at which others reach the node.
    pub announced: AnnouncedAddresses,
    /// How the router in front of the node is asked to open the node's ports; `None` for not at all.
    pub port_mapping: Option<MappingMethod>,
    /// Ways through walls that the node uses and offers.
    pub passage: PassageOptions,
    /// Settings of the REST server, `None` when off.
    pub rest: Option<RestListen>,
    /// Address of a separate server for `/metrics`, `None` when off; REST serves `/metrics` too.
    pub metrics: Option<SocketAddr>,
    /// Prefixes of the metrics that dashboards for nwaku ask for.
    pub metrics_names: MetricsNames,
    /// Settings of traces, `None` when off.
    pub traces: Option<TraceConfig>,
    /// Peers to stay connected to.
    pub static_peers: Vec<Multiaddr>,
    /// Settings of discovery, `None` for a node that knows only the peers that it is told.
    pub discovery: Option<DiscoveryConfig>,
    /// File with the node's secret key.
    pub node_key_file: PathBuf,
    /// Bounds on the node's connections.
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
    /// Host names that requests may use, see [`crate::rest::Access::hosts`].
    pub hosts: Vec<String>,
    /// Origins of web pages that may use the API, see [`crate::rest::Access::origins`].
    pub origins: Vec<String>,
    /// Paths that require the token; `None` for no token.
    pub token_for: Option<TokenScope>,
    /// The token, if one was configured.
    pub token: Option<String>,
}

/// Settings of discovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryConfig {
    /// UDP port of discv5, 0 lets the system choose; `None` without discv5.
    pub udp_port: Option<u16>,
    /// Records of nodes to begin with, `enr:…`. One that does not parse is logged and passed over.
    pub bootstrap: Vec<String>,
    /// Signed lists of nodes in DNS.
    pub node_lists: Vec<TreeUrl>,
    /// Name servers to ask for them; empty for the system's.
    pub name_servers: Vec<SocketAddr>,
    /// Whether the node registers at peers that serve rendezvous, and asks them for others.
    pub rendezvous: bool,
    /// Database of the peers that the node remembers.
    pub peers_file: PathBuf,
}

/// Services of a node, and peers whose services it uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServicesConfig {
    /// Archive of the store, `None` when messages are not kept.
    pub store: Option<StoreConfig>,
    /// Whether messages are pushed to light clients.
    pub filter: bool,
    /// Whether messages of light clients are published.
    pub lightpush: bool,
    /// Whether the node's own membership pays for messages of light clients that have no proof.
    pub lightpush_proofs: bool,
    /// Keys of services that are asked for and not offered, because the node does not relay.
    pub unserved: Vec<&'static str>,
    /// Whether peers are told of other peers.
    pub peer_exchange: bool,
    /// Whether peers can register and are told of those that have.
    pub rendezvous: bool,
    /// Stores to ask for history.
    pub store_peers: Vec<Multiaddr>,
    /// Peers to get messages from.
    pub filter_peers: Vec<Multiaddr>,
    /// Peers to ask for records of nodes.
    pub exchange_peers: Vec<Multiaddr>,
    /// Peers to publish through.
    pub lightpush_peers: Vec<Multiaddr>,
    /// File with the messages that wait to be sent; `None` for a queue in memory.
    pub send_queue: Option<PathBuf>,
    /// Limits on requests.
    pub rate_limits: RateLimits,
}

impl ServicesConfig {
    /// Returns what to tell an operator who asks for services that a node without relay does not offer.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        (!self.unserved.is_empty()).then(|| {
            let keys = self.unserved.join(", ");
            format!(
                "{keys}: not served, because relay is false; set relay = true, or leave this out"
            )
        })
    }

    /// Whether messages of other stores are taken into the archive.
    pub(crate) fn takes_history(&self) -> bool {
        let store = self.store.as_ref();
        store.is_some_and(|store| store.sync.is_some() || store.resume)
    }
}

/// Bandwidth that shards may use, both directions together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShardBandwidth {
    /// Bytes per second of each shard; `None` for no limit.
    pub each_bytes_per_s: Option<u64>,
    /// Bytes per second of single shards, by index, in place of `each_bytes_per_s`.
    pub of_shard: BTreeMap<u16, u64>,
}

/// Settings of a store's archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreConfig {
    /// Database in which messages are kept.
    pub url: ArchiveUrl,
    /// Retention policy of the archive.
    pub retention: RetentionPolicy,
    /// Settings of synchronisation with other stores, `None` when off.
    pub sync: Option<StoreSyncConfig>,
    /// Whether other stores are asked for what was published while the node was away.
    pub resume: bool,
}

/// Settings of synchronisation with other stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSyncConfig {
    /// Time between two sessions that this node begins, seconds; 0 if it begins none.
    pub interval_s: u64,
    /// Length of the time that is synchronised, seconds.
    pub range_s: u64,
    /// Age below which messages are not compared, because they may still be on their way, seconds.
    pub relay_jitter_s: u64,
}

/// Settings of this node's rate limiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RlnConfig {
    /// The network's RLN parameters.
    pub params: RlnParams,
    /// SQLite file of the membership registry, used unless `chain` is set.
    pub registry: PathBuf,
    /// Contract that is the membership registry.
    pub chain: Option<ChainConfig>,
    /// File with the node's identity; without it the node verifies proofs but cannot publish.
    pub identity_file: PathBuf,
    /// Messages per epoch that the node allows itself; the membership's limit applies if it is lower.
    pub message_limit: u64,
    /// File with the number of messages already sent in this epoch.
    pub counter_file: PathBuf,
    /// File with the prover's tables; they are computed again if it is missing.
    pub tables_file: PathBuf,
    /// File with the membership tree between runs; it is built from the registry if it is missing.
    pub tree_file: PathBuf,
    /// Size and cost bounds of the pool of proofs prepared ahead.
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
    /// Whether all members are followed or only the newest roots and the node's own path.
    pub mode: Mode,
    /// URLs of RPC endpoints, the preferred one first.
    pub urls: Vec<String>,
    /// Database file for what is known of the contract.
    pub store: PathBuf,
}

impl NodeConfig {
    /// Reads and validates all sources, and fills in the values of the network preset.
    pub fn load(sources: &Sources) -> Result<Self, ConfigError> {
        resolve::resolve(&sources.gather()?)
    }
}
