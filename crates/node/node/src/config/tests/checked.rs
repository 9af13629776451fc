//! Table of settings that would end the start: each is refused when it is read, by an error that names its key.

use super::load_flags;
use crate::config::{KEYS, Sources, explain};

type Setting = (&'static str, &'static str);

/// An endpoint for keys that need one, with a contract.
const CONTRACT: Setting = (
    "rln-eth-contract",
    "eip155:59141:0xB9cd878C90E49F797B4431fBF4fb333108CB90e6",
);

/// Key that is wrong, value that is wrong, and what else is set.
const WRONG: &[(&str, &str, &[Setting])] = &[
    (
        "store-message-retention-policy",
        "foo:1",
        &[("store", "true")],
    ),
    (
        "store-message-retention-policy",
        "size:50x",
        &[("store", "true")],
    ),
    ("store-message-retention-policy", "time:", &[]),
    ("store-message-retention-policy", "time:1;time:2", &[]),
    ("store-message-db-url", "foo://x", &[("store", "true")]),
    ("store-message-db-url", "sqlite://", &[("store", "true")]),
    ("store-message-db-url", "redis://u:p@h/1", &[]),
    ("rln-eth-rpc", "ftp://rpc.example", &[CONTRACT]),
    ("rln-eth-rpc", "https://", &[CONTRACT]),
    ("rln-eth-rpc", "https://rpc.example/v3/<key>", &[CONTRACT]),
    ("rln-eth-rpc", "https://rpc.example:99999", &[CONTRACT]),
    ("rln-eth-rpc", "rpc.example", &[CONTRACT]),
    ("rate-limit", "store:abc", &[]),
    ("rate-limit", "nothing:1/1s", &[]),
    ("rate-limit", "store:1/1y", &[]),
    ("gossip.d-low", "9", &[("gossip.d", "6")]),
    ("gossip.d-high", "2", &[]),
    ("gossip.d-score", "99", &[]),
    ("gossip.d-out", "50", &[]),
    ("gossip.history-gossip", "50", &[]),
    ("tcp-port", "8645", &[]),
    (
        "ws-port",
        "60000",
        &[("listen-address", "127.0.0.1,::1"), ("websocket", "true")],
    ),
    ("ws-port", "60000", &[("websocket", "true")]),
    ("rest-port", "60000", &[]),
    ("metrics-server-port", "8645", &[("metrics-server", "true")]),
    (
        "quic-port",
        "9000",
        &[("quic-support", "true"), ("discv5-discovery", "true")],
    ),
    ("protocols", "/no/such/protocol", &[]),
    ("shards", "1024", &[]),
    ("otlp-endpoint", "http://collector:port", &[]),
    ("otlp-endpoint", "ftp://collector", &[]),
    ("otlp-endpoint", "http://<host>", &[]),
    ("static-peers", "127.0.0.1:60000", &[]),
    ("storenode", "/ip4/127.0.0.1/tcp/1", &[]),
    ("dns-discovery-url", "https://example", &[]),
    ("dns-discovery-name-server", "dns.example", &[]),
    ("nat", "extip:none", &[]),
    ("rest-token", "short", &[]),
    ("dns4-domain-name", "https://node.example", &[]),
    ("websocket-secure-support", "true", &[]),
];

/// Settings that a node starts with.
const RIGHT: &[&[Setting]] = &[
    &[
        ("store", "true"),
        (
            "store-message-retention-policy",
            "time:2d;capacity:10;size:50MiB",
        ),
    ],
    &[
        ("store", "true"),
        ("store-message-retention-policy", "none"),
    ],
    &[
        ("store", "true"),
        ("store-message-db-url", "sqlite:///var/lib/archive"),
    ],
    &[
        ("store", "true"),
        ("store-message-db-url", "/var/lib/archive"),
    ],
    &[
        ("store", "true"),
        (
            "store-message-db-url",
            "postgres://u:p%40@db.example:5432/waku",
        ),
    ],
    &[
        (
            "rln-eth-rpc",
            "https://u:p@rpc.example/v3/key?k=1,wss://[::1]:8546",
        ),
        CONTRACT,
    ],
    &[("rate-limit", "100/1m,store:5/1s,px:0/1s")],
    &[
        ("gossip.d", "4"),
        ("gossip.d-low", "3"),
        ("gossip.d-high", "8"),
        ("gossip.d-out", "2"),
    ],
    &[("tcp-port", "8645"), ("rest-port", "60000")],
    &[
        ("tcp-port", "0"),
        ("rest-port", "0"),
        ("ws-port", "0"),
        ("websocket", "true"),
    ],
    // TCP and UDP do not meet, and neither do two addresses.
    &[("quic-support", "true"), ("quic-port", "60000")],
    &[("listen-address", "127.0.0.2"), ("tcp-port", "8645")],
    // One key has its port at each address.
    &[("listen-address", "127.0.0.1,::1"), ("tcp-port", "60000")],
    &[("shards", "0,1023")],
    &[("otlp-endpoint", "http://collector:4318/prefix/")],
];

#[test]
fn what_would_end_the_start_is_refused_with_its_key() {
    for (key, value, others) in WRONG {
        let set: Vec<_> = others.iter().copied().chain([(*key, *value)]).collect();
        let error = match load_flags(&set) {
            Err(error) => error,
            Ok(_) => panic!("{key} = {value} is taken for valid"),
        };
        assert_eq!(error.key(), Some(*key), "{key} = {value}: {error}");
        assert!(error.to_string().contains("expected"), "{error}");
    }
}

#[test]
fn what_a_node_starts_with_is_taken() {
    for set in RIGHT {
        if let Err(error) = load_flags(set) {
            panic!("{set:?}: {error}");
        }
    }
}

#[test]
fn neither_errors_nor_explanations_show_credentials() {
    // Every key that takes a URL to something that may ask for a password.
    let takes_url = |expected: &str| expected.contains("http") || expected.contains("postgres://");
    let keys = KEYS.iter().filter(|key| takes_url(key.expected));
    let keys = keys.filter(|key| key.name != "rest-allow-origin");
    let names: Vec<_> = keys.map(|key| key.name).collect();
    assert_eq!(
        names,
        ["otlp-endpoint", "store-message-db-url", "rln-eth-rpc"]
    );
    for name in names.into_iter().chain(["rest-token"]) {
        for scheme in ["https://", "postgres://", "ftp://", ""] {
            for rest in [
                "me:SECRET@host.example/x",
                "host.example/SECRET",
                "host.example?key=SECRET/a@b",
            ] {
                let value = format!("{scheme}{rest}");
                let sources = Sources {
                    flags: super::flags(&[(name, value.as_str()), ("store", "true")]),
                    ..Sources::default()
                };
                let shown = serde_json::to_string(&explain(&sources).unwrap()).unwrap();
                assert!(!shown.contains("SECRET"), "{name} = {value}");
                if let Err(error) = load_flags(&[(name, value.as_str()), ("store", "true")]) {
                    assert!(!error.to_string().contains("SECRET"), "{error}");
                }
            }
        }
    }
    let sources = Sources {
        flags: super::flags(&[(
            "rln-eth-rpc",
            "https://me:SECRET@host.example:1/x,wss://other.example",
        )]),
        ..Sources::default()
    };
    let explained = explain(&sources).unwrap();
    let shown = explained.iter().find(|key| key.key == "rln-eth-rpc");
    let expected = r#"["https://host.example:1/…","wss://other.example"]"#;
    assert_eq!(shown.map(|key| key.value.as_str()), Some(expected));
}
