//! Table of values beyond the bounds of their keys.

use super::flag_error;

#[test]
fn each_bound_is_checked() {
    for (name, value, expected) in [
        ("listen-address", "here", "an IP address, or a list of them"),
        ("cluster-id", "65536", "a number, 0 to 65535"),
        ("num-shards-in-network", "1025", "a number, 0 to 1024"),
        ("shards", "65536", "a list of shard indices"),
        (
            "rest-token",
            "short",
            "16 or more printable characters without spaces",
        ),
        ("rest-auth", "some", "auto, none, admin or all"),
        ("shards", "1,x", "a list of shard indices"),
        ("max-message-bytes", "0", "bytes, 1 or more"),
        ("max-connections", "0", "a number, 1 or more"),
        ("max-connections-per-address", "0", "a number, 1 or more"),
        ("max-connections-per-network", "0", "a number, 1 or more"),
        (
            "max-connections-per-loopback-address",
            "0",
            "a number, 1 or more",
        ),
        ("rest-relay-cache-capacity", "0", "a number, 1 to 100000"),
        (
            "rest-relay-cache-capacity",
            "100001",
            "a number, 1 to 100000",
        ),
        ("rln-message-limit", "101", "a number, 1 to 100"),
        ("rln-message-limit", "0", "a number, 1 to 100"),
        (
            "ports-shift",
            "10000",
            "at most 5535, because of port 60000",
        ),
        (
            "protocols",
            "",
            "one or more protocol ids, each starting with a slash",
        ),
        (
            "protocols",
            "relay",
            "one or more protocol ids, each starting with a slash",
        ),
        (
            "log-level",
            "loud",
            "error, warn, info, debug or trace, in any case",
        ),
        ("log-format", "xml", "text or json"),
        ("rln-epoch-s", "0", "seconds, 1 to 1000000000"),
        ("rln-user-message-limit", "65536", "a number, 1 to 65535"),
        (
            "clock-ahead-ms",
            "1000000001",
            "milliseconds, -1000000000 to 1000000000",
        ),
        ("gossip.gossip-factor", "1.5", "a share, 0 to 1"),
        ("gossip.d", "0", "a number of peers, 1 or more"),
    ] {
        let error = flag_error(name, value);
        assert!(error.starts_with("flag --"), "{error}");
        assert!(
            error.ends_with(&format!("expected {expected}")),
            "{name} = {value}: {error}"
        );
    }
    let error = flag_error("static-peers", "nowhere");
    assert!(error.contains("\"nowhere\" is not one"), "{error}");
}
