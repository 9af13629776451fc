//! Table of all configuration keys: names, value types, and texts for errors and help.

/// One configuration key, with its spelling in each source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Name in the file and as a flag; a dot separates a table from its key.
    pub name: &'static str,
    /// Type of the value, by which text from the environment or a flag is read.
    pub kind: Kind,
    /// Description of the values allowed, for error messages and help.
    pub expected: &'static str,
    /// Purpose of the key and its default, for help.
    pub help: &'static str,
}

/// Type of a key's value, by which text is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Either `true` or `false`.
    Bool,
    /// An integer, which may be negative.
    Integer,
    /// Decimal number, such as 0.25.
    Float,
    /// Text, taken as it is.
    Text,
    /// Comma-separated whole numbers, as a list.
    IntegerList,
    /// Comma-separated texts, as a list.
    TextList,
}

impl Key {
    /// Returns the environment variable that sets the key, e.g. `UNDERTONE_TCP_PORT`.
    pub fn variable(&self) -> String {
        format!(
            "UNDERTONE_{}",
            self.name.replace(['-', '.'], "_").to_ascii_uppercase()
        )
    }

    /// Returns the flag that sets the key, e.g. `--tcp-port`; a table and its key are joined with a dash.
    pub fn flag(&self) -> String {
        format!("--{}", self.name.replace('.', "-"))
    }

    /// Returns the key called `name`.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }
}

const fn key(name: &'static str, kind: Kind, expected: &'static str, help: &'static str) -> Key {
    Key {
        name,
        kind,
        expected,
        help,
    }
}

const BOOL: &str = "true or false";
const PORT: &str = "a port, 0 to 65535 (0 lets the system choose)";
const IP: &str = "an IP address";
const PATH: &str = "a path";
const DEGREE: &str = "a number of peers, 1 or more";

/// Table of all configuration keys.
pub const KEYS: &[Key] = {
    use Kind::{Bool, Float, Integer, IntegerList, Text, TextList};
    &[
        key(
            "network",
            Text,
            "the name of a network",
            "network to join [local]",
        ),
        key(
            "cluster-id",
            Integer,
            "a number, 0 to 65535",
            "cluster [the network's]",
        ),
        key(
            "num-shards-in-network",
            Integer,
            "a number, 0 to 1024",
            "shards that content topics are spread over; 0 for static sharding [the network's]",
        ),
        key(
            "shards",
            IntegerList,
            "a list of shard indices",
            "shards to join [all; shard 0 with static sharding]",
        ),
        key(
            "content-topics",
            TextList,
            "a list of content topics, /app/version/name/encoding",
            "content topics whose shards to join too, and whose messages to keep for REST []",
        ),
        key(
            "max-message-bytes",
            Integer,
            "bytes, 1 or more",
            "longest message [the network's]",
        ),
        key("listen-address", Text, IP, "where libp2p listens [0.0.0.0]"),
        key("tcp-port", Integer, PORT, "TCP port of libp2p [60000]"),
        key("websocket", Bool, BOOL, "listen for WebSocket too [false]"),
        key("ws-port", Integer, PORT, "WebSocket port of libp2p [8000]"),
        key(
            "ports-shift",
            Integer,
            "a number, 0 to 65535",
            "added to every non-zero port [0]",
        ),
        key("rest", Bool, BOOL, "serve the REST API [true]"),
        key(
            "rest-address",
            Text,
            IP,
            "where the REST API listens [127.0.0.1]",
        ),
        key("rest-port", Integer, PORT, "port of the REST API [8645]"),
        key("rest-admin", Bool, BOOL, "serve /admin too [false]"),
        key(
            "rest-allow-host",
            TextList,
            "a list of host names, each with or without a port, or *",
            "names by which the REST API is reached, besides addresses of its own and localhost []",
        ),
        key(
            "rest-allow-origin",
            TextList,
            "a list of origins such as https://app.example or localhost:*, or *",
            "web pages that may use the REST API []",
        ),
        key(
            "rest-auth",
            Text,
            "auto, none, admin or all",
            "what needs the token: nothing, /admin, all but /health; auto: all unless rest-address is loopback, \
             then /admin if rest-token is set [auto]",
        ),
        key(
            "rest-token",
            Text,
            "16 or more printable characters without spaces",
            "the bearer token [made and kept in <data-dir>/rest-token when one is needed]",
        ),
        key(
            "rest-relay-cache-capacity",
            Integer,
            "a number, 1 to 100000",
            "messages kept for each topic until fetched [50]",
        ),
        key(
            "metrics-server",
            Bool,
            BOOL,
            "serve /metrics on a port of its own too, without token [false]",
        ),
        key(
            "metrics-server-address",
            Text,
            IP,
            "where it is served [127.0.0.1]",
        ),
        key("metrics-server-port", Integer, PORT, "port of it [8008]"),
        key(
            "static-peers",
            TextList,
            "a list of multiaddresses",
            "peers to stay connected to []",
        ),
        key(
            "node-key-file",
            Text,
            PATH,
            "the node's secret key [<data-dir>/node-key]",
        ),
        key(
            "max-connections",
            Integer,
            "a number, 1 or more",
            "most connections [150]",
        ),
        key(
            "max-connections-per-address",
            Integer,
            "a number, 1 or more",
            "most connections from one IPv4 address or IPv6 /64 [16]",
        ),
        key(
            "max-connections-per-loopback-address",
            Integer,
            "a number, 1 or more",
            "most connections from one loopback address [max-connections]",
        ),
        key(
            "protocols",
            TextList,
            "a list of protocol ids",
            "pubsub ids [/vac/waku/relay/2.0.0]",
        ),
        key("relay", Bool, BOOL, "relay messages [true]"),
        key(
            "rln",
            Bool,
            BOOL,
            "rate limiting [true if the network has it]",
        ),
        key(
            "rln-epoch-s",
            Integer,
            "seconds, 1 to 1000000000",
            "length of an epoch, for networks of one's own [the network's]",
        ),
        key(
            "rln-user-message-limit",
            Integer,
            "a number, 1 to 65535",
            "messages per epoch of a membership at most, for networks of one's own [the network's]",
        ),
        key(
            "rln-registry",
            Text,
            PATH,
            "membership registry [<data-dir>/registry.sqlite]",
        ),
        key(
            "rln-eth-rpc",
            TextList,
            "a list of http(s):// or ws(s):// URLs",
            "endpoints of the chain with the membership contract; the first is preferred [none: rln-registry]",
        ),
        key(
            "rln-eth-contract",
            Text,
            "an address, 0x and 40 hexadecimal digits",
            "membership contract, with rln-eth-rpc",
        ),
        key(
            "rln-eth-chain-id",
            Integer,
            "a number, 1 or more",
            "chain of the contract, with rln-eth-rpc",
        ),
        key(
            "rln-eth-mode",
            Text,
            "full or light",
            "what is known of the contract: all members, or the newest roots and our own path, for fewer requests [full]",
        ),
        key(
            "rln-eth-store",
            Text,
            PATH,
            "where that is kept [<data-dir>/rln-chain.sqlite, or rln-chain-light.sqlite]",
        ),
        key(
            "rln-identity-file",
            Text,
            PATH,
            "our identity [<data-dir>/rln-identity.json]",
        ),
        key(
            "rln-message-limit",
            Integer,
            "a number, 1 to the network's limit",
            "messages per epoch of our membership [the network's limit]",
        ),
        key(
            "rln-counter-file",
            Text,
            PATH,
            "messages sent [<data-dir>/rln-counter]",
        ),
        key(
            "rln-tokens",
            Integer,
            "a number, 0 to 64",
            "proofs prepared ahead of messages [8]",
        ),
        key(
            "rln-tokens-max-cpu",
            Integer,
            "a number, 1 to 100",
            "percent of a processor for preparing them [10]",
        ),
        key(
            "rln-tokens-refresh",
            Integer,
            "a number, 1 to the network's root window",
            "prepare again when the root is this many changes old [half the window]",
        ),
        key(
            "rln-tokens-lead-s",
            Integer,
            "seconds, 0 to 86400",
            "prepare for an epoch this long before it starts [60]",
        ),
        key(
            "rln-verify-threads",
            Integer,
            "a number, 1 to 64",
            "threads that check proofs [processors but one]",
        ),
        key(
            "rln-batch-from",
            Integer,
            "a number, 2 to 1024",
            "check proofs together when this many wait [4]",
        ),
        key(
            "rln-batch-max",
            Integer,
            "a number, 1 to 1024",
            "most proofs checked together; 1 for none [32]",
        ),
        key(
            "rln-batch-max-delay-ms",
            Integer,
            "milliseconds, 0 to 1000",
            "longest time for checking proofs together [10]",
        ),
        key(
            "rln-suspect-s",
            Integer,
            "seconds, 0 to 86400",
            "check a peer's proofs singly after a bad one [60]",
        ),
        key(
            "data-dir",
            Text,
            PATH,
            "what the node remembers [undertone-data]",
        ),
        key(
            "delivery-log",
            Text,
            PATH,
            "append a line of JSON for each message delivered and each proof made []",
        ),
        key(
            "clock-ahead-ms",
            Integer,
            "milliseconds, -1000000000 to 1000000000",
            "how far our clock is ahead of the system's, to test what wrong clocks do [0]",
        ),
        key(
            "log-level",
            Text,
            "error, warn, info, debug or trace",
            "least severe level [info]",
        ),
        key(
            "log-format",
            Text,
            "text or json",
            "form of a log line [text]",
        ),
        key("gossip.d", Integer, DEGREE, "mesh degree"),
        key("gossip.d-low", Integer, DEGREE, "graft below"),
        key("gossip.d-high", Integer, DEGREE, "prune above"),
        key(
            "gossip.d-score",
            Integer,
            DEGREE,
            "best peers kept when pruning",
        ),
        key(
            "gossip.d-out",
            Integer,
            "a number of peers",
            "peers dialled by us, at least",
        ),
        key(
            "gossip.d-lazy",
            Integer,
            "a number of peers",
            "peers that get gossip, at least",
        ),
        key(
            "gossip.heartbeat-ms",
            Integer,
            "milliseconds, 1 or more",
            "time between heartbeats",
        ),
        key(
            "gossip.gossip-factor",
            Float,
            "a share, 0 to 1",
            "share of peers that get gossip",
        ),
        key(
            "gossip.history-length",
            Integer,
            "heartbeats, 1 or more",
            "how long IWANT is served",
        ),
        key(
            "gossip.history-gossip",
            Integer,
            "heartbeats, 1 or more",
            "how long IHAVE is sent",
        ),
        key(
            "gossip.flood-publish",
            Bool,
            BOOL,
            "send own messages to all subscribers",
        ),
        key(
            "gossip.strategy",
            Text,
            "eager-mesh, staggered or reduced",
            "how large messages are spread [eager-mesh]; the others apply to peers that offer \
             /undertone/relay-large/1.0.0 too",
        ),
        key(
            "gossip.fragment-bytes",
            Integer,
            "bytes, 1000 or more",
            "publish longer payloads in parts of about this length, and put parts together [off]",
        ),
        key(
            "gossip.seen-ttl-s",
            Integer,
            "seconds, 1 or more",
            "how long ids are remembered",
        ),
        key(
            "gossip.prune-backoff-s",
            Integer,
            "seconds",
            "how long a pruned peer stays out",
        ),
    ]
};

/// Returns the candidate spelt most like `wanted`, if its edit distance is small enough for a slip.
pub(super) fn nearest<T: AsRef<str>>(
    wanted: &str,
    candidates: impl Iterator<Item = T>,
) -> Option<T> {
    let most = (wanted.chars().count() / 3).max(2);
    candidates
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(wanted, candidate.as_ref()),
                candidate,
            )
        })
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
