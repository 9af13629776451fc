//! Flags of the keys in groups, starting with those that a new operator needs.

use undertone_node::config::{ConfigKey, KEYS};

use crate::commands::node_flags::flag;

/// Heading of the keys that a new operator needs.
const BEGIN: &str = "Begin with";

/// Keys that a new operator needs, in the order in which questions arise: the network, the own identity, known peers,
/// how others reach the node, its services, and monitoring. `-h` lists these, `--help` all.
const FIRST: [&str; 20] = [
    "network",
    "data-dir",
    "rln-eth-rpc",
    "rln-identity-file",
    "dns-discovery-url",
    "discv5-bootstrap-node",
    "static-peers",
    "shards",
    "listen-address",
    "tcp-port",
    "nat",
    "dns4-domain-name",
    "websocket-secure-support",
    "relay",
    "store",
    "store-message-retention-policy",
    "rest-port",
    "rest-admin",
    "metrics-server",
    "log-level",
];

/// Headings of the other keys, each with the first key of its group in the order of [`KEYS`].
const GROUPS: [(&str, &str); 11] = [
    ("Network and shards", "network"),
    ("Addresses and ports", "listen-address"),
    ("NAT traversal", "autonat"),
    ("REST", "rest"),
    ("Metrics and traces", "metrics-server"),
    ("Peers and discovery", "static-peers"),
    ("Bounds on connections", "max-connections"),
    ("Relay and services", "protocols"),
    ("Rate limiting (RLN)", "rln"),
    ("Files and log", "data-dir"),
    ("Router (GossipSub)", "gossip.d"),
];

/// Returns the flags of all keys in the order of the help text.
pub(super) fn flags() -> impl Iterator<Item = clap::Arg> {
    let first = FIRST.iter().filter_map(|name| by_name(name));
    let first = first.map(|key| flag(key, key.help, BEGIN));
    let mut heading = BEGIN;
    let others = KEYS.iter().filter_map(move |key| {
        if let Some((group, _)) = GROUPS.iter().find(|(_, begin)| *begin == key.name) {
            heading = *group;
        }
        let is_first = FIRST.contains(&key.name);
        (!is_first).then(|| flag(key, key.help, heading).hide_short_help(true))
    });
    first.chain(others)
}

fn by_name(name: &str) -> Option<&'static ConfigKey> {
    KEYS.iter().find(|key| key.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_key_has_one_flag_under_a_heading_and_the_first_twenty_come_first() {
        let flags: Vec<_> = flags().collect();
        let names: Vec<_> = flags.iter().map(|flag| flag.get_id().as_str()).collect();
        assert_eq!(names[..20], FIRST);
        let keys: BTreeSet<_> = KEYS.iter().map(|key| key.name).collect();
        assert_eq!(names.len(), keys.len());
        assert_eq!(names.iter().copied().collect::<BTreeSet<_>>(), keys);
        // A group whose first key is not found would be merged into the previous group.
        let mut headings: Vec<_> = flags.iter().map(|flag| flag.get_help_heading()).collect();
        headings.dedup();
        let groups = GROUPS.iter().map(|(group, _)| *group);
        let expected: Vec<_> = std::iter::once(BEGIN).chain(groups).map(Some).collect();
        assert_eq!(headings, expected);
    }
}
