//! Table of the reference node's flags, with the counterpart of each here.
//!
//! One table for all releases: `tools/confutils/cli_args.nim` of `logos-messaging/logos-delivery` at commit
//! 69fbffa3a0cfd862a2d04a4a0f57432063ecfba1, and that file and `messaging_node_conf.nim` of 0.39. Former flags: the history of that file and of its predecessor
//! `waku/factory/external_config.nim`, back to 2024. `crates/apps/migrate/tests/flags.txt` lists both.

use crate::values::{self, ValueRule};

/// What becomes of a flag of the reference node.
#[derive(Clone, Copy)]
pub(crate) enum FlagFate {
    /// It maps to one of our keys, with a rule for the value.
    Key(&'static str, ValueRule),
    /// The migration itself uses it: a file, a network, a password.
    Used(&'static str),
    /// It is dropped, because this node does not need it; the text says why.
    NotNeeded(&'static str),
    /// It is dropped, and something is lost; the text says what that means for the operator.
    NoCounterpart(&'static str),
}

/// A flag of the reference node.
pub(crate) struct KnownFlag {
    /// Name without leading dashes.
    pub(crate) name: &'static str,
    /// What becomes of the flag.
    pub(crate) fate: FlagFate,
}

impl KnownFlag {
    /// Whether the flag without a value can mean `true`.
    pub(crate) fn is_bool(&self) -> bool {
        match self.fate {
            Key(key, _) => undertone_node::config::KEYS
                .iter()
                .any(|known| known.name == key && known.kind == undertone_node::config::Kind::Bool),
            Used(_) => self.name == "rln-relay-dynamic",
            _ => BOOLS.contains(&self.name),
        }
    }

    /// Whether the value is a secret, which is never shown.
    pub(crate) fn is_secret(&self) -> bool {
        SECRETS.contains(&self.name)
    }
}

/// Returns the flag called `name`.
pub(crate) fn by_name(name: &str) -> Option<&'static KnownFlag> {
    FLAGS.iter().find(|flag| flag.name == name)
}

/// Describes the counterpart of a flag of the reference node; `name` has no leading dashes. Returns `None` if that
/// node has no such flag.
#[must_use]
pub fn explain_flag(name: &str) -> Option<String> {
    let is = match by_name(name)?.fate {
        Key(key, _) => format!("is --{} here", key.replace('.', "-")),
        Used(what) => format!("is for `undertone migrate nwaku`: {what}"),
        Not(why) => format!("is not needed here: {why}"),
        None_(why) => format!("has no counterpart here: {why}"),
    };
    Some(format!("--{name} of the reference node {is}"))
}

/// Flags that map to none of our keys and have a Boolean value.
const BOOLS: &[&str] = &[
    "execute",
    "peer-persistence",
    "relay-shard-manager",
    "keep-alive",
    "store-message-db-vacuum",
    "store-message-db-migration",
    "metrics-logging",
    "discv5-enr-auto-update",
    "mix",
    "enable-kad-discovery",
    "rln-disable-validation",
    "plugin-kad-discovery",
    "rate-limit-enabled",
    "backfill-enabled",
    "legacy-store",
    "reliability",
    "discv5-only",
    "dns-addrs",
    "rest-private",
    "rpc",
    "rpc-admin",
    "rpc-private",
];

/// Flags whose value is a secret: keys, passwords, and addresses that may contain a password or an access key.
const SECRETS: &[&str] = &[
    "nodekey",
    "mixkey",
    "rln-relay-cred-password",
    "rln-relay-eth-private-key",
    "rln-relay-eth-account-private-key",
    "rln-relay-id-key",
    "store-message-db-url",
    "rln-relay-eth-client-address",
];

/// Defines [`FLAGS`] from rows of the form `name => fate`.
macro_rules! flags {
    ($($name:literal => $fate:expr;)*) => {
        /// All flags, present and former.
        pub(crate) const FLAGS: &[KnownFlag] = &[$(KnownFlag { name: $name, fate: $fate },)*];
    };
}

use FlagFate::{Key, NoCounterpart as None_, NotNeeded as Not, Used};

const KAD: &str = "there is no Kademlia discovery; peers are found by discv5, DNS lists, peer exchange and rendezvous";
const MIX: &str = "there is no mix protocol; messages are published without hiding their origin";
const ONLY_ONE: &str =
    "there is only one API layer here; relay, filter and lightpush say what the node does";
const NO_SIGNED: &str = "no signatures are required of messages; anyone may publish on these shards as far as the \
                         rate limit allows";
const RPC: &str = "JSON-RPC is gone from both programs; clients use REST";
const MANY: &str = "its subscriptions are bounded by limits that are not configurable";
const TABLE: &str = "the routing table's limits are not configurable";
const MESSAGING: &str = "there is no messaging API; clients read /events/v1/messages, whose cursor brings what they missed, \
                         or ask a store";
const SEND_LIMIT: &str =
    "own messages are bounded by the membership's limit, and wait for nothing else";
const ONCHAIN: &str = "memberships come from the keystore; `undertone rln register` makes new ones";

flags! {
    "config-file" => Used("the TOML file; give it with --toml");
    "log-level" => Key("log-level", values::same);
    "log-format" => Key("log-format", values::lowercase);
    "rln-relay-cred-path" => Used("the keystore; give it with --keystore");
    "rln-relay-eth-client-address" => Key("rln-eth-rpc", values::same);
    "rln-relay-eth-contract-address" => Key("rln-eth-contract", values::same);
    "rln-relay-chain-id" => Key("rln-eth-chain-id", values::chain_id);
    "rln-relay-cred-password" => Used("the password of the keystore; it is written nowhere");
    "rln-relay-eth-private-key" => Not(ONCHAIN);
    "rln-relay-user-message-limit" => Key("rln-user-message-limit", values::same);
    "rln-relay-epoch-sec" => Key("rln-epoch-s", values::same);
    "max-msg-size" => Key("max-message-bytes", values::bytes);
    "execute" => Not(ONCHAIN);
    "protected-shard" => None_(NO_SIGNED);
    "preset" => Used("the key network");
    "entry-layer" => Not(ONLY_ONE);
    "mode" => Used("relay, filter, lightpush and store, as far as no other flag sets them");
    "cluster-id" => Key("cluster-id", values::same);
    "agent-string" => Not("the node tells peers its own name and version");
    "nodekey" => Used("the file node-key, or the one that the key node-key-file names");
    "listen-address" => Key("listen-address", values::same);
    "tcp-port" => Key("tcp-port", values::same);
    "ports-shift" => Key("ports-shift", values::same);
    "nat" => Key("nat", values::nat);
    "ext-multiaddr" => Key("ext-multiaddr", values::same);
    "ext-multiaddr-only" => Key("ext-multiaddr-only", values::boolean);
    "max-connections" => Key("max-connections", values::same);
    "relay-service-ratio" => Not("connections are not divided between relay and services");
    "ip-colocation-limit" => Key("max-connections-per-address", values::colocation);
    "peer-store-capacity" => Not("the number of remembered peers is bounded by itself");
    "peer-persistence" => Not("peers are always remembered, in <data-dir>/peers.sqlite");
    "dns-addrs-name-server" => Key("dns-discovery-name-server", values::same);
    "dns4-domain-name" => Key("dns4-domain-name", values::same);
    "relay-client" => Key("relay-client", values::relay_client);
    "relay" => Key("relay", values::boolean);
    "relay-peer-exchange" => Key("gossip.peer-exchange", values::boolean);
    "relay-shard-manager" => Not("peers are always chosen by shard");
    "rln-relay" => Key("rln", values::boolean);
    "rln-relay-membership-index" => Used("the choice of the keystore's credential");
    "rln-relay-dynamic" => Used("memberships come from the contract if rln-eth-rpc is set");
    "entry-node" => Used("static-peers, discv5-bootstrap-node or dns-discovery-url, by its form");
    "staticnode" => Key("static-peers", values::same);
    "keep-alive" => Not("connections are always kept alive");
    "num-shards-in-network" => Key("num-shards-in-network", values::same);
    "shard" => Key("shards", values::same);
    "content-topic" => Key("content-topics", values::same);
    "store" => Key("store", values::boolean);
    "storenode" => Key("storenode", values::same);
    "store-message-retention-policy" => Key("store-message-retention-policy", values::same);
    "store-message-db-url" => Key("store-message-db-url", values::archive_url);
    "store-message-db-vacuum" => Not("whole slots of time are dropped, so space returns at once");
    "store-message-db-migration" => Not("--archive copies an archive");
    "store-max-num-db-connections" => Not("the number of connections is fixed");
    "store-resume" => Key("store-resume", values::boolean);
    "store-sync" => Key("store-sync", values::boolean);
    "store-sync-interval" => Key("store-sync-interval", values::same);
    "store-sync-range" => Key("store-sync-range", values::same);
    "store-sync-relay-jitter" => Key("store-sync-relay-jitter", values::same);
    "filter" => Key("filter", values::boolean);
    "filternode" => Key("filternode", values::same);
    "filter-subscription-timeout" => None_("subscriptions end after a time that is not configurable");
    "filter-max-peers-to-serve" => None_(MANY);
    "filter-max-criteria" => None_(MANY);
    "lightpush" => Key("lightpush", values::boolean);
    "lightpushnode" => Key("lightpushnode", values::same);
    "rest" => Key("rest", values::boolean);
    "rest-address" => Key("rest-address", values::same);
    "rest-port" => Key("rest-port", values::same);
    "rest-relay-cache-capacity" => Key("rest-relay-cache-capacity", values::same);
    "rest-admin" => Key("rest-admin", values::boolean);
    "rest-allow-origin" => Key("rest-allow-origin", values::origin);
    "metrics-server" => Key("metrics-server", values::boolean);
    "metrics-server-address" => Key("metrics-server-address", values::same);
    "metrics-server-port" => Key("metrics-server-port", values::same);
    "metrics-logging" => Not("metrics are served, not logged");
    "dns-discovery" => Key("dns-discovery", values::dns_discovery);
    "dns-discovery-url" => Key("dns-discovery-url", values::same);
    "discv5-discovery" => Key("discv5-discovery", values::boolean);
    "discv5-udp-port" => Key("discv5-udp-port", values::same);
    "discv5-bootstrap-node" => Key("discv5-bootstrap-node", values::same);
    "discv5-enr-auto-update" => Not("the node's record always follows the address that peers see");
    "discv5-table-ip-limit" => Not(TABLE);
    "discv5-bucket-ip-limit" => Not(TABLE);
    "discv5-bits-per-hop" => Not(TABLE);
    "peer-exchange" => Key("peer-exchange", values::boolean);
    "peer-exchange-node" => Key("peer-exchange-node", values::same);
    "rendezvous" => Key("rendezvous", values::boolean);
    "mix" => None_(MIX);
    "mixkey" => None_(MIX);
    "mixnode" => None_(MIX);
    "enable-kad-discovery" => None_(KAD);
    "kad-bootstrap-node" => None_(KAD);
    "kad-random-lookup-interval" => None_(KAD);
    "kad-service-lookup-interval" => None_(KAD);
    "websocket-support" => Key("websocket", values::boolean);
    "websocket-port" => Key("ws-port", values::same);
    "websocket-secure-support" => Key("websocket-secure-support", values::boolean);
    "websocket-secure-key-path" => Key("websocket-secure-key-path", values::same);
    "websocket-secure-cert-path" => Key("websocket-secure-cert-path", values::same);
    "quic-support" => Key("quic-support", values::boolean);
    "quic-port" => Key("quic-port", values::same);
    "rate-limit" => Key("rate-limit", values::rate_limit);
    "local-storage-path" => Not("everything is kept in data-dir");
    // Flags of 0.39.
    "nat-discovery-timeout-ms" => Not("a router has a fixed time to answer");
    "max-pure-libp2p-peers" => Not("peers that do not relay are clients: max-clients");
    "circuit-relay-client" => Key("relay-client", values::relay_client);
    "rln-disable-validation" => None_("proofs of others are always checked; rln = false ends rate limiting as a whole");
    "rest-messaging-cache-capacity" => None_(MESSAGING);
    "mix-rln-registry-id" => None_(MIX);
    "mix-rln-identifier-hex" => None_(MIX);
    "mix-rln-metadata-topic" => None_(MIX);
    "plugin-kad-discovery" => None_(KAD);
    "anonymity-level" => None_(MIX);
    "rate-limit-enabled" => None_(SEND_LIMIT);
    "rate-limit-epoch-sec" => None_(SEND_LIMIT);
    "rate-limit-messages-per-epoch" => None_(SEND_LIMIT);
    "rate-limit-approached-threshold-percent" => None_(SEND_LIMIT);
    "max-parked-age-sec" => None_(SEND_LIMIT);
    "send-queue-capacity" => None_("the send queue's length is not configurable");
    "backfill-enabled" => None_(MESSAGING);
    "backfill-request-timeout-seconds" => None_(MESSAGING);
    // Former flags.
    "topic" => None_("name shards instead: /waku/2/rs/<cluster>/<shard> is cluster-id and shards");
    "pubsub-topic" => None_("name shards instead: /waku/2/rs/<cluster>/<shard> is cluster-id and shards");
    "protected-topic" => None_(NO_SIGNED);
    "filter-timeout" => None_("subscriptions end after a time that is not configurable");
    "rest-private" => Not("there is no private REST API in either program any more");
    "request-rate-limit" => None_("write it as rate-limit: <volume>/<period><unit>");
    "request-rate-period" => None_("write it as rate-limit: <volume>/<period><unit>");
    "rln-relay-bandwidth-threshold" => Not("every message needs a proof");
    "rln-relay-id-commitment-key" => None_("memberships without a contract: `undertone rln register --help`");
    "rln-relay-id-key" => None_("memberships without a contract: `undertone rln register --help`");
    "rln-relay-tree-path" => Not("the membership tree is kept in data-dir");
    "rln-relay-eth-account-private-key" => Not(ONCHAIN);
    "store-sync-max-payload-size" => Not("the size of a sync message is bounded by itself");
    "dns-addrs" => Not("DNS addresses are always resolved");
    "dns-discovery-name-server" => Key("dns-discovery-name-server", values::same);
    "discv5-only" => Not("discv5 is used beside the other ways of discovery");
    "max-relay-peers" => None_("bound connections with max-connections");
    "legacy-store" => None_("there is only the present store protocol (v3)");
    "reliability" => Not("what was sent is repeated until a store has it, if storenode is set");
    "rpc" => None_(RPC);
    "rpc-address" => None_(RPC);
    "rpc-port" => None_(RPC);
    "rpc-admin" => None_(RPC);
    "rpc-private" => None_(RPC);
}

#[cfg(test)]
#[path = "tests/flags.rs"]
mod tests;
