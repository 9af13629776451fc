//! Keys as they are written, before defaults and checks across keys.

use std::{net::IpAddr, path::PathBuf};

use serde::Deserialize;
use undertone_membership::evm::Mode;

use super::{LogFormat, LogLevel};

/// Values of all keys; names and meanings are in [`KEYS`](super::KEYS).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct Raw {
    pub(super) network: Option<String>,
    pub(super) cluster_id: Option<u16>,
    pub(super) num_shards_in_network: Option<u16>,
    pub(super) shards: Option<Vec<u16>>,
    pub(super) content_topics: Option<Vec<String>>,
    pub(super) max_message_bytes: Option<usize>,
    pub(super) listen_address: Option<IpAddr>,
    pub(super) tcp_port: Option<u16>,
    pub(super) websocket: Option<bool>,
    pub(super) ws_port: Option<u16>,
    pub(super) ports_shift: Option<u16>,
    pub(super) rest: Option<bool>,
    pub(super) rest_address: Option<IpAddr>,
    pub(super) rest_port: Option<u16>,
    pub(super) rest_admin: Option<bool>,
    pub(super) rest_allow_host: Option<Vec<String>>,
    pub(super) rest_allow_origin: Option<Vec<String>>,
    pub(super) rest_auth: Option<RestAuth>,
    pub(super) rest_token: Option<String>,
    pub(super) rest_relay_cache_capacity: Option<usize>,
    pub(super) metrics_server: Option<bool>,
    pub(super) metrics_server_address: Option<IpAddr>,
    pub(super) metrics_server_port: Option<u16>,
    pub(super) static_peers: Option<Vec<String>>,
    pub(super) node_key_file: Option<PathBuf>,
    pub(super) max_connections: Option<u32>,
    pub(super) max_connections_per_address: Option<u32>,
    pub(super) max_connections_per_loopback_address: Option<u32>,
    pub(super) protocols: Option<Vec<String>>,
    pub(super) relay: Option<bool>,
    pub(super) rln: Option<bool>,
    pub(super) rln_epoch_s: Option<u64>,
    pub(super) rln_user_message_limit: Option<u64>,
    pub(super) rln_registry: Option<PathBuf>,
    pub(super) rln_eth_rpc: Option<Vec<String>>,
    pub(super) rln_eth_contract: Option<String>,
    pub(super) rln_eth_chain_id: Option<u64>,
    pub(super) rln_eth_mode: Option<Mode>,
    pub(super) rln_eth_store: Option<PathBuf>,
    pub(super) rln_identity_file: Option<PathBuf>,
    pub(super) rln_message_limit: Option<u64>,
    pub(super) rln_counter_file: Option<PathBuf>,
    pub(super) rln_tokens: Option<u64>,
    pub(super) rln_tokens_max_cpu: Option<u64>,
    pub(super) rln_tokens_refresh: Option<u64>,
    pub(super) rln_tokens_lead_s: Option<u64>,
    pub(super) rln_verify_threads: Option<u64>,
    pub(super) rln_batch_from: Option<u64>,
    pub(super) rln_batch_max: Option<u64>,
    pub(super) rln_batch_max_delay_ms: Option<u64>,
    pub(super) rln_suspect_s: Option<u64>,
    pub(super) data_dir: Option<PathBuf>,
    pub(super) delivery_log: Option<PathBuf>,
    pub(super) clock_ahead_ms: Option<i64>,
    pub(super) log_level: Option<LogLevel>,
    pub(super) log_format: Option<LogFormat>,
    pub(super) gossip: GossipOverrides,
}

/// Paths that require the REST API's token, as the key is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RestAuth {
    /// Chosen by the address that the API listens on and by whether a token is set.
    #[default]
    Auto,
    /// No path requires a token.
    None,
    /// Paths under `/admin` require it.
    Admin,
    /// All paths but `/health` require it.
    All,
}

/// Gossip parameters that were configured; `None` leaves the router's default.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct GossipOverrides {
    /// Desired number of peers in a mesh.
    pub d: Option<usize>,
    /// The mesh is grafted when it has fewer peers.
    pub d_low: Option<usize>,
    /// The mesh is pruned when it has more peers.
    pub d_high: Option<usize>,
    /// Best-scoring peers kept when pruning.
    pub d_score: Option<usize>,
    /// Least number of mesh peers that this node dialled itself.
    pub d_out: Option<usize>,
    /// Least number of peers that get gossip (IHAVE) each heartbeat.
    pub d_lazy: Option<usize>,
    /// Time between heartbeats, milliseconds.
    pub heartbeat_ms: Option<u64>,
    /// Share of eligible peers that get gossip, 0 to 1.
    pub gossip_factor: Option<f64>,
    /// Heartbeats during which a message can be requested with IWANT.
    pub history_length: Option<usize>,
    /// Heartbeats during which a message is advertised with IHAVE.
    pub history_gossip: Option<usize>,
    /// Whether own messages go to all subscribers.
    pub flood_publish: Option<bool>,
    /// Strategy for large messages: `eager-mesh`, `staggered` or `reduced`.
    pub strategy: Option<String>,
    /// Payloads longer than this are published in parts, and received parts are reassembled, bytes.
    pub fragment_bytes: Option<usize>,
    /// Time for which a message id is remembered, seconds.
    pub seen_ttl_s: Option<u64>,
    /// Time before a pruned peer may be grafted again, seconds.
    pub prune_backoff_s: Option<u64>,
}
