//! Table of all configuration keys: names, types, defaults, bounds, and texts for errors and help.
//!
//! Nothing else lists the keys: files, environment variables, flags, help and the typed values all come
//! from this table.

use std::{net::IpAddr, path::PathBuf};

use tracing::Level;
use undertone_gossip::StrategyKind;
use undertone_membership::evm::Mode;
use undertone_message::pubsub_topic::MAX_SHARD_INDEX;
use undertone_rln::prover::MAX_LIMIT;

use super::error::ConfigError;
use super::kind::{FromEntry, ListenAddresses, RestAuth};
use super::log::LogFormat;
use super::setting::{ConfigKey, Setting, Values};
use undertone_rest::MetricsNames;

/// Returns the key called `name`.
pub(super) fn by_name(name: &str) -> Option<&'static ConfigKey> {
    KEYS.iter().find(|key| key.name == name)
}

/// Defines [`KEYS`] and the structs of values from rows of the form `field: type = "default" [bounds], "name",
/// "values allowed", "help";`. Default and bounds are optional. The help is shown with the default after it.
macro_rules! table {
    (
        $(#[$node_attribute:meta])*
        struct $node:ident {
            $($field:ident: $type:ty $(= $default:literal)? $([$bounds:expr])?, $name:literal, $expected:expr,
                $help:literal;)*
        }
        $(#[$group_attribute:meta])*
        pub struct $group:ident {
            $($(#[$member_doc:meta])* $member:ident: $member_type:ty $([$member_bounds:expr])?,
                $member_name:literal, $member_expected:expr, $member_help:literal;)*
        }
    ) => {
        /// Table of all configuration keys.
        pub const KEYS: &[ConfigKey] = &[
            $(ConfigKey {
                name: $name,
                kind: <$type as FromEntry>::KIND,
                expected: $expected,
                default: table!(@default $($default)?),
                help: concat!($help $(, " [", $default, "]")?),
            },)*
            $(ConfigKey {
                name: $member_name,
                kind: <$member_type as FromEntry>::KIND,
                expected: $member_expected,
                default: None,
                help: $member_help,
            },)*
        ];

        $(#[$node_attribute])*
        pub(super) struct $node {
            $(pub(super) $field: table!(@setting $type $(= $default)?),)*
        }

        impl $node {
            /// Reads the values of the keys, each as its type. Bounds are checked when a value is used.
            pub(super) fn read(values: &Values) -> Result<Self, ConfigError> {
                Ok(Self {
                    $($field: {
                        let setting = values.setting::<$type>(row($name))?;
                        $(let setting = setting.within(&($bounds));)?
                        table!(@hold setting $($default)?)
                    },)*
                })
            }
        }

        $(#[$group_attribute])*
        pub struct $group {
            $($(#[$member_doc])* pub $member: Option<$member_type>,)*
        }

        impl $group {
            /// Reads the values of the keys, each as its type and within its bounds.
            pub(super) fn read(values: &Values) -> Result<Self, ConfigError> {
                Ok(Self {
                    $($member: {
                        let setting = values.setting::<$member_type>(row($member_name))?;
                        $(let setting = setting.within(&($member_bounds));)?
                        setting.get()?
                    },)*
                })
            }
        }
    };
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
    (@setting $type:ty) => { Setting<Option<$type>> };
    (@setting $type:ty = $default:literal) => { Setting<$type> };
    (@hold $setting:ident) => { $setting };
    (@hold $setting:ident $default:literal) => { $setting.with_default() };
}

fn row(name: &str) -> &'static ConfigKey {
    by_name(name).expect("each row of the table is in KEYS")
}

const BOOL: &str = "true or false";
const PORT: &str = "a port, 0 to 65535 (0 lets the system choose)";
const IP: &str = "an IP address";
const PATH: &str = "a path";
const DEGREE: &str = "a number of peers, 1 or more";

table! {
    /// Values of the keys outside the file's tables, before checks across keys.
    #[derive(Debug)]
    struct RawConfig {
        network: String = "local", "network", "the name of a network", "network to join";
        cluster_id: u16, "cluster-id", "a number, 0 to 65535", "cluster [the network's]";
        num_shards_in_network: u16 [0..=MAX_SHARD_INDEX + 1], "num-shards-in-network", "a number, 0 to 1024",
            "shards that content topics are spread over; 0 for static sharding [the network's]";
        shards: Vec<u16>, "shards", "a list of shard indices",
            "shards to join [all; shard 0 with static sharding]";
        content_topics: Vec<String>, "content-topics", "a list of content topics, /app/version/name/encoding",
            "content topics whose shards to join too, and whose messages to keep for REST []";
        max_message_bytes: usize [1..], "max-message-bytes", "bytes, 1 or more",
            "longest message [the network's]";
        listen_address: ListenAddresses = "0.0.0.0,::", "listen-address", "an IP address, or a list of them",
            "where libp2p listens; :: beside 0.0.0.0 counts on machines that have IPv6";
        tcp_port: u16 = "60000", "tcp-port", PORT, "TCP port of libp2p";
        websocket: bool = "false", "websocket", BOOL, "listen for WebSocket too";
        ws_port: u16 = "8000", "ws-port", PORT, "WebSocket port of libp2p";
        websocket_secure_support: bool = "false", "websocket-secure-support", BOOL,
            "listen for WebSocket with TLS (wss) on ws-port, instead of without";
        websocket_secure_cert_path: PathBuf, "websocket-secure-cert-path", PATH,
            "its certificate with the chain, in PEM []";
        websocket_secure_key_path: PathBuf, "websocket-secure-key-path", PATH,
            "the secret key of the certificate, in PEM []";
        quic_support: bool = "false", "quic-support", BOOL, "listen for QUIC too, and dial it first";
        quic_port: u16 = "60000", "quic-port", PORT, "UDP port of QUIC";
        ports_shift: u16 = "0", "ports-shift", "a number, 0 to 65535", "added to every non-zero port";
        nat: String = "none", "nat", "none, any, upnp, pmp or extip:IP",
            "how others reach the node through a router: by ports that it opens, asked by UPnP or NAT-PMP (any: either), \
             or at a public IP address whose ports lead here";
        dns4_domain_name: String, "dns4-domain-name", "a host name",
            "host name at which others reach the node []";
        ext_multiaddr: Vec<String>, "ext-multiaddr", "a list of multiaddresses",
            "further addresses at which others reach the node []";
        ext_multiaddr_only: bool = "false", "ext-multiaddr-only", BOOL,
            "tell others of no address but those of ext-multiaddr";
        autonat: bool = "true", "autonat", BOOL,
            "ask peers at public addresses whether they reach the node, and answer those that ask";
        relay_client: String = "auto", "relay-client", "auto, true or false",
            "be reached through relays, and punch holes: while peers cannot reach the node, from the start, or never";
        circuit_relay: bool = "true", "circuit-relay", BOOL,
            "let peers behind NATs be reached through this node, if others reach it";
        circuit_relay_reservations: usize = "128" [1..=4096], "circuit-relay-reservations", "a number, 1 to 4096",
            "most peers that are reached through this node";
        circuit_relay_circuits: usize = "16" [1..=4096], "circuit-relay-circuits", "a number, 1 to 4096",
            "most circuits through this node at a time, of which one peer has a quarter";
        circuit_relay_s: u64 = "120" [1..=86_400], "circuit-relay-s", "seconds, 1 to 86400",
            "time after which a circuit is closed";
        circuit_relay_bytes: u64 = "131072" [1024..], "circuit-relay-bytes", "bytes, 1024 or more",
            "bytes after which a circuit is closed, in each direction";
        rest: bool = "true", "rest", BOOL, "serve the REST API";
        rest_address: IpAddr = "127.0.0.1", "rest-address", IP, "where the REST API listens";
        rest_port: u16 = "8645", "rest-port", PORT, "port of the REST API";
        rest_admin: bool = "false", "rest-admin", BOOL, "serve /admin too";
        rest_allow_host: Vec<String>, "rest-allow-host",
            "a list of host names, each with or without a port, or *",
            "names by which the REST API is reached, besides addresses of its own and localhost []";
        rest_allow_origin: Vec<String>, "rest-allow-origin",
            "a list of origins such as https://app.example or localhost:*, or *",
            "web pages that may use the REST API []";
        rest_auth: RestAuth = "auto", "rest-auth", "auto, none, admin or all",
            "what needs the token: nothing, /admin, all but /health and /readyz; auto: all unless rest-address is loopback, \
             then /admin";
        rest_token: String, "rest-token", "16 or more printable characters without spaces",
            "the bearer token [made and kept in <data-dir>/rest-token when one is needed]";
        rest_relay_cache_capacity: usize = "50" [1..=100_000], "rest-relay-cache-capacity",
            "a number, 1 to 100000", "messages kept for each topic until fetched";
        metrics_server: bool = "false", "metrics-server", BOOL,
            "serve /metrics on a port of its own too, without token";
        metrics_server_address: IpAddr = "127.0.0.1", "metrics-server-address", IP, "where it is served";
        metrics_server_port: u16 = "8008", "metrics-server-port", PORT, "port of it";
        metrics_names: MetricsNames = "both", "metrics-names", "waku, logos-delivery or both",
            "prefix of the metrics that dashboards for nwaku ask for: up to 0.38 it was waku, then logos_delivery";
        otlp_endpoint: String, "otlp-endpoint", "http://HOST:PORT or https://HOST:PORT, with or without a path",
            "collector of OpenTelemetry that gets spans of messages, requests and dials, at /v1/traces below it []";
        otlp_sampled_share: f64 = "1" [0.0..=1.0], "otlp-sampled-share", "a share, 0 to 1",
            "share of messages, requests and dials of which it gets them; all nodes choose the same messages";
        static_peers: Vec<String>, "static-peers", "a list of multiaddresses",
            "peers to stay connected to []";
        discv5_discovery: bool, "discv5-discovery", BOOL,
            "find peers with discv5 [true if there are nodes to begin with]";
        discv5_udp_port: u16 = "9000", "discv5-udp-port", PORT, "UDP port of discv5";
        discv5_bootstrap_node: Vec<String>, "discv5-bootstrap-node", "a list of node records (enr:...)",
            "nodes to begin discovery with []";
        dns_discovery: bool, "dns-discovery", BOOL,
            "find nodes in signed lists in DNS [true if there are lists]";
        dns_discovery_url: Vec<String>, "dns-discovery-url", "a list of enrtree://KEY@DOMAIN",
            "signed lists of nodes in DNS [the network's]";
        dns_discovery_name_server: Vec<String>, "dns-discovery-name-server",
            "a list of IP addresses, each with or without :PORT",
            "name servers to ask for them [the system's]";
        max_connections: u32 = "150" [1..], "max-connections", "a number, 1 or more",
            "most connections, without those of clients";
        max_clients: u32 = "512" [1..], "max-clients", "a number, 1 or more",
            "most connections of clients, which do not relay; one address or network may have half of them";
        max_connections_per_address: u32 [1..], "max-connections-per-address", "a number, 1 or more",
            "most connections of relays from one IPv4 address or IPv6 /64 [16]";
        max_connections_per_network: u32 [1..], "max-connections-per-network", "a number, 1 or more",
            "most connections of relays from one IPv4 /24 or IPv6 /48 of the Internet [twice those from one address]";
        max_connections_per_loopback_address: u32 [1..], "max-connections-per-loopback-address",
            "a number, 1 or more", "most connections of relays from one loopback address [max-connections]";
        protocols: Vec<String>, "protocols", "a list of protocol ids", "pubsub ids [/vac/waku/relay/2.0.0]";
        relay: bool = "true", "relay", BOOL,
            "relay messages; a node that does not gets them from filter peers, and publishes by lightpush";
        store: bool = "false", "store", BOOL, "keep messages and serve history";
        store_message_db_url: String, "store-message-db-url",
            "sqlite://PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE",
            "where messages are kept [<data-dir>/store.sqlite]";
        store_message_retention_policy: String = "time:172800", "store-message-retention-policy",
            "none, or time:<seconds>, capacity:<messages>, size:<number><unit>, joined by ;",
            "how long messages are kept: what is first reached counts";
        store_sync: bool = "false", "store-sync", BOOL, "exchange what only one has with other stores, with store";
        store_sync_interval: u64 = "300" [0..=86_400], "store-sync-interval", "seconds, 0 to 86400",
            "time between exchanges that this node begins; 0 to begin none";
        store_sync_range: u64 = "3600" [1..=604_800], "store-sync-range", "seconds, 1 to 604800",
            "time back from now that is exchanged";
        store_sync_relay_jitter: u64 = "20" [0..=3600], "store-sync-relay-jitter", "seconds, 0 to 3600",
            "age below which messages are left to the relay";
        store_resume: bool = "false", "store-resume", BOOL,
            "ask other stores for what was published while away, 6 hours at most, with store";
        storenode: Vec<String>, "storenode", "a list of multiaddresses with /p2p",
            "stores to ask for history []";
        filter: bool = "true", "filter", BOOL, "push messages to light clients";
        filternode: Vec<String>, "filternode", "a list of multiaddresses with /p2p",
            "peers to get messages from without relaying []";
        lightpush: bool = "true", "lightpush", BOOL, "publish for light clients, with relay";
        lightpush_proofs: bool = "true", "lightpush-proofs", BOOL,
            "prove messages of light clients with our membership, of which a quarter of each epoch stays the node's own";
        lightpushnode: Vec<String>, "lightpushnode", "a list of multiaddresses with /p2p",
            "peers to publish through without relaying []";
        peer_exchange: bool = "true", "peer-exchange", BOOL, "tell peers of other peers";
        peer_exchange_node: Vec<String>, "peer-exchange-node", "a list of multiaddresses with /p2p",
            "peers to ask for other peers; without them discovery asks any connected one []";
        rendezvous: bool = "true", "rendezvous", BOOL,
            "keep where peers listen and tell others, with relay; register at peers and ask them, with discovery or if set";
        shard_bandwidth: Vec<String>, "shard-bandwidth", "bytes per second, or SHARD:BYTES for one shard",
            "bytes per second of each shard, in and out together; what others send beyond is dropped [no limit]";
        rate_limit: Vec<String>, "rate-limit",
            "a list of [store:|lightpush:|px:|filter:|rendezvous:]<volume>/<period><h|m|s|ms>",
            "most requests to the services in a period [filter:30/1m and rendezvous:300/1m for each peer]";
        rln: bool, "rln", BOOL, "rate limiting [true if the network has it]";
        // The upper bound is the longest epoch of scenario files.
        rln_epoch_s: u64 [1..=1_000_000_000], "rln-epoch-s", "seconds, 1 to 1000000000",
            "length of an epoch, for networks of one's own [the network's]";
        rln_user_message_limit: u64 [1..=MAX_LIMIT as u64], "rln-user-message-limit", "a number, 1 to 65535",
            "messages per epoch of a membership at most, for networks of one's own [the network's]";
        rln_registry: PathBuf, "rln-registry", PATH, "membership registry [<data-dir>/registry.sqlite]";
        rln_eth_rpc: Vec<String>, "rln-eth-rpc", "a list of http(s):// or ws(s):// URLs",
            "endpoints of the chain with the membership contract; the first is preferred; \
             a relay of a network with a contract needs one [none: rln-registry]";
        rln_eth_contract: String, "rln-eth-contract",
            "an address, 0x and 40 hexadecimal digits, or eip155:CHAIN:ADDRESS (CAIP-10)",
            "membership contract, with rln-eth-rpc [the network's]";
        rln_eth_chain_id: u64, "rln-eth-chain-id", "a number, 1 or more",
            "chain of the contract, with rln-eth-rpc, unless the contract's name has it [the network's]";
        rln_eth_mode: Mode, "rln-eth-mode", "full or light",
            "what is known of the contract: all members, or the newest roots and our own path, for fewer \
             requests [full]";
        rln_eth_store: PathBuf, "rln-eth-store", PATH,
            "where that is kept [<data-dir>/rln-chain.sqlite, or rln-chain-light.sqlite]";
        rln_identity_file: PathBuf, "rln-identity-file", PATH,
            "our identity [<data-dir>/rln-identity.json]";
        rln_message_limit: u64, "rln-message-limit", "a number, 1 to the network's limit",
            "messages per epoch of our membership [the network's limit]";
        rln_counter_file: PathBuf, "rln-counter-file", PATH, "messages sent [<data-dir>/rln-counter]";
        rln_tokens: usize = "8" [0..=64], "rln-tokens", "a number, 0 to 64",
            "proofs prepared ahead of messages";
        rln_tokens_max_cpu: u64 = "10" [1..=100], "rln-tokens-max-cpu", "a number, 1 to 100",
            "percent of a processor for preparing them";
        rln_tokens_refresh: u64, "rln-tokens-refresh", "a number, 1 to the network's root window",
            "prepare again when the root is this many changes old [half the window]";
        rln_tokens_lead_s: u64 = "60" [0..=86_400], "rln-tokens-lead-s", "seconds, 0 to 86400",
            "prepare for an epoch this long before it starts";
        rln_verify_threads: usize [1..=64], "rln-verify-threads", "a number, 1 to 64",
            "threads that check proofs [processors but one]";
        rln_batch_from: usize = "4" [2..=1024], "rln-batch-from", "a number, 2 to 1024",
            "check proofs together when this many wait";
        rln_batch_max: usize = "32" [1..=1024], "rln-batch-max", "a number, 1 to 1024",
            "most proofs checked together; 1 for none";
        rln_batch_max_delay_ms: u64 = "10" [0..=1000], "rln-batch-max-delay-ms", "milliseconds, 0 to 1000",
            "longest time for checking proofs together";
        rln_suspect_s: u64 = "60" [0..=86_400], "rln-suspect-s", "seconds, 0 to 86400",
            "check a peer's proofs singly after a bad one";
        data_dir: PathBuf = "undertone-data", "data-dir", PATH, "what the node remembers";
        node_key_file: PathBuf, "node-key-file", PATH, "the node's secret key [<data-dir>/node-key]";
        delivery_log: PathBuf, "delivery-log", PATH,
            "append a line of JSON for each message delivered and each proof made []";
        // About eleven days.
        clock_ahead_ms: i64 = "0" [-1_000_000_000..=1_000_000_000], "clock-ahead-ms",
            "milliseconds, -1000000000 to 1000000000",
            "how far our clock is ahead of the system's, to test what wrong clocks do";
        log_level: Level = "info", "log-level", "error, warn, info, debug or trace, in any case",
            "least severe level";
        log_format: LogFormat = "text", "log-format", "text or json", "form of a log line";
    }

    /// Gossip parameters that were configured; `None` leaves the router's default.
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct GossipOverrides {
        /// Desired number of peers in a mesh.
        d: usize [1..], "gossip.d", DEGREE, "mesh degree";
        /// The mesh is grafted when it has fewer peers.
        d_low: usize [1..], "gossip.d-low", DEGREE, "graft below";
        /// The mesh is pruned when it has more peers.
        d_high: usize [1..], "gossip.d-high", DEGREE, "prune above";
        /// Best-scoring peers kept when pruning.
        d_score: usize [1..], "gossip.d-score", DEGREE, "best peers kept when pruning";
        /// Least number of mesh peers that this node dialled itself.
        d_out: usize, "gossip.d-out", "a number of peers", "peers dialled by us, at least";
        /// Least number of peers that get gossip (IHAVE) each heartbeat.
        d_lazy: usize, "gossip.d-lazy", "a number of peers", "peers that get gossip, at least";
        /// Time between heartbeats, milliseconds.
        heartbeat_ms: u64 [1..], "gossip.heartbeat-ms", "milliseconds, 1 or more",
            "time between heartbeats";
        /// Share of eligible peers that get gossip, 0 to 1.
        gossip_factor: f64 [0.0..=1.0], "gossip.gossip-factor", "a share, 0 to 1",
            "share of peers that get gossip";
        /// Heartbeats during which a message can be requested with IWANT.
        history_length: usize [1..], "gossip.history-length", "heartbeats, 1 or more",
            "how long IWANT is served";
        /// Heartbeats during which a message is advertised with IHAVE.
        history_gossip: usize [1..], "gossip.history-gossip", "heartbeats, 1 or more",
            "how long IHAVE is sent";
        /// Whether own messages go to all subscribers.
        flood_publish: bool, "gossip.flood-publish", BOOL, "send own messages to all subscribers";
        /// How messages are spread: `eager-mesh`; `staggered` or `reduced` for large ones; `dandelion` to hide the
        /// publisher.
        strategy: StrategyKind, "gossip.strategy", "eager-mesh, staggered, reduced or dandelion",
            "how messages are spread [eager-mesh]; staggered and reduced change large messages, between peers that \
             offer /undertone/relay-large/1.0.0; dandelion hides the publisher, if peers offer \
             /undertone/relay-stem/1.0.0";
        // In shorter parts, the hashes carried by each part would dominate.
        /// Payloads longer than this are published in parts, and received parts are reassembled, bytes.
        fragment_bytes: usize [1000..], "gossip.fragment-bytes", "bytes, 1000 or more",
            "publish longer payloads in parts of about this length, and put parts together [off]";
        /// Time for which a message id is remembered, seconds.
        seen_ttl_s: u64 [1..], "gossip.seen-ttl-s", "seconds, 1 or more", "how long ids are remembered";
        /// Time before a pruned peer may be grafted again, seconds.
        prune_backoff_s: u64, "gossip.prune-backoff-s", "seconds", "how long a pruned peer stays out";
        /// Whether a PRUNE offers other peers, and peers that others offer are connected to.
        peer_exchange: bool, "gossip.peer-exchange", BOOL,
            "offer other peers when pruning, and connect to those that others offer [false]";
    }
}
