//! What a node is told before it starts: a TOML file, `UNDERTONE_*` variables and flags.
//!
//! A later source wins: preset, file, environment, flags. All sources share the names in
//! [`KEYS`]; every error says which source, key and value it is about and what was expected.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use libp2p::Multiaddr;
use undertone_membership::evm::{Contract, Mode};
use undertone_message::{NetworkPreset, RlnParams, Shard};
use undertone_rln::{BatchPolicy, PoolConfig};

use crate::driver::ConnectionLimits;
use crate::rest::TokenScope;

mod error;
mod keys;
mod raw;
mod resolve;
mod sources;

#[cfg(test)]
mod tests;

pub use error::{ConfigError, Origin};
pub use keys::{KEYS, Key, Kind};
pub use raw::GossipOverrides;
pub use sources::Sources;

/// A complete and checked configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeConfig {
    /// The network's constants, with overrides applied.
    pub network: NetworkPreset,
    /// Whether content topics are spread over the network's shards (automatic sharding).
    pub autosharding: bool,
    /// Shards to subscribe to from the start, ascending.
    pub shards: Vec<Shard>,
    /// Content topics whose messages REST keeps from the start, and the shard of each, which is among `shards`.
    pub content_topics: Vec<(String, Shard)>,
    /// Where libp2p listens.
    pub listen_address: IpAddr,
    /// TCP port of libp2p; 0 lets the system choose.
    pub tcp_port: u16,
    /// WebSocket port of libp2p, `None` when off; 0 lets the system choose.
    pub websocket_port: Option<u16>,
    /// The REST server, `None` when off.
    pub rest: Option<RestListen>,
    /// Where `/metrics` is served besides REST, `None` when off.
    pub metrics: Option<SocketAddr>,
    /// Peers to stay connected to.
    pub static_peers: Vec<Multiaddr>,
    /// Where the node's secret key is kept.
    pub node_key_file: PathBuf,
    /// How many connections there may be.
    pub connections: ConnectionLimits,
    /// Whether messages are relayed.
    pub relay: bool,
    /// Rate limiting, `None` when off.
    pub rln: Option<RlnConfig>,
    /// Where the node keeps what it must remember.
    pub data_dir: PathBuf,
    /// Where deliveries are logged, see [`crate::delivery_log`]; `None` for nowhere.
    pub delivery_log: Option<PathBuf>,
    /// How far our clock is ahead of the system's, milliseconds; negative: behind.
    pub clock_ahead_ms: i64,
    /// What is logged and how.
    pub log: LogConfig,
    /// Pubsub protocol ids to offer, most preferred first.
    pub protocols: Vec<String>,
    /// Gossip parameters that differ from the defaults.
    pub gossip: GossipOverrides,
    /// All parameters of the router, in place of the network's; `gossip` still changes single ones, and
    /// the bound on frames follows the longest message. No key sets it: whoever loads the configuration
    /// may.
    pub router: Option<undertone_gossip::Config>,
}

/// Where and how the REST server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestListen {
    /// Address and port; port 0 lets the system choose.
    pub address: SocketAddr,
    /// Whether `/admin` is served.
    pub admin: bool,
    /// Messages kept for each topic until they are fetched.
    pub relay_cache_capacity: usize,
    /// Names by which it may be asked, see [`crate::rest::Access::hosts`].
    pub hosts: Vec<String>,
    /// Origins of pages that may ask, see [`crate::rest::Access::origins`].
    pub origins: Vec<String>,
    /// What the token is asked for; `None`: there is none.
    pub token_for: Option<TokenScope>,
    /// The token, if one was set.
    pub token: Option<String>,
}

/// Rate limiting of this node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RlnConfig {
    /// The network's parameters.
    pub params: RlnParams,
    /// SQLite file of the membership registry, unless it is a contract.
    pub registry: PathBuf,
    /// The contract that is the membership registry.
    pub chain: Option<ChainConfig>,
    /// Where our identity is kept; without the file the node verifies but cannot publish.
    pub identity_file: PathBuf,
    /// Messages per epoch that our membership allows.
    pub message_limit: u64,
    /// Where the number of messages already sent in this epoch is kept.
    pub counter_file: PathBuf,
    /// Where the prover's tables are kept; computed again if they are not there.
    pub tables_file: PathBuf,
    /// Where the membership tree is kept between runs; built from the registry if it is not there.
    pub tree_file: PathBuf,
    /// Proofs prepared ahead of messages.
    pub tokens: PoolConfig,
    /// How far our clock is ahead of the system's, milliseconds; negative: behind.
    pub clock_ahead_ms: i64,
    /// Threads that check proofs; at least 1.
    pub verifier_threads: usize,
    /// When they check proofs together.
    pub batches: BatchPolicy,
}

/// A membership contract and the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainConfig {
    /// The contract.
    pub contract: Contract,
    /// How much of it is followed.
    pub mode: Mode,
    /// Endpoints, the preferred one first.
    pub urls: Vec<String>,
    /// Where what is known of it is kept.
    pub store: PathBuf,
}

/// What is logged and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogConfig {
    /// The least severe level shown.
    pub level: LogLevel,
    /// For people or for machines.
    pub format: LogFormat,
}

/// Severity of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Failures.
    Error,
    /// What needs attention.
    Warn,
    /// Milestones.
    Info,
    /// Decisions.
    Debug,
    /// Everything.
    Trace,
}

/// Form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One line of text for each event.
    Text,
    /// One JSON object for each event.
    Json,
}

impl NodeConfig {
    /// Reads all sources, checks them, and fills in what the network preset says.
    pub fn load(sources: &Sources) -> Result<Self, ConfigError> {
        resolve::resolve(&sources.gather()?)
    }
}
