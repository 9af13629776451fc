use super::*;
use crate::scenario::load;

/// A scenario in which no rule applies: warm messages of 2 KB over Shadow's TCP, one after another.
const CHECKED: [&str; 3] = [
    "traffic.warm_up_messages=1",
    "network.setup_packets=40",
    "traffic.payload_bytes=2000",
];

/// Rules that apply to the 2 KB run of the paper with these keys.
fn rules(set: &[&str]) -> Vec<String> {
    let set: Vec<_> = set.iter().map(ToString::to_string).collect();
    let loaded = load("paper-2kb", &set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    let outside = validity(&loaded.scenario);
    outside.into_iter().map(|outside| outside.rule).collect()
}

#[test]
fn nothing_is_said_of_a_run_that_was_checked() {
    assert_eq!(rules(&CHECKED), [""; 0]);
}

/// Each rule with keys under which it applies, and a change of them under which it does not.
const CASES: &[(&str, &[&str], &str)] = &[
    (
        "mux-not-measured",
        &["network.mux=yamux-nim", "traffic.payload_bytes=300000"],
        "traffic.payload_bytes=200000",
    ),
    (
        "mux-not-measured",
        &["network.mux=yamux-nim", "traffic.payload_bytes=300000"],
        "network.mux=yamux-rust",
    ),
    (
        "mux-none",
        &["traffic.payload_bytes=300000"],
        "network.mux=mplex",
    ),
    (
        "mux-none",
        &["traffic.payload_bytes=300000"],
        "traffic.payload_bytes=262144",
    ),
    (
        "discovery",
        &["topology={kind=\"discovery\"}"],
        "topology={kind=\"dials\", dials=5}",
    ),
    ("quic-congestion", &["network.mux=quic"], "network.mux=none"),
    (
        "cold-many",
        &["traffic.warm_up_messages=0", "traffic.payload_bytes=200000"],
        "traffic.payload_bytes=150000",
    ),
    (
        "cold-many",
        &["traffic.warm_up_messages=0", "traffic.payload_bytes=200000"],
        "traffic.warm_up_messages=1",
    ),
    (
        "cold-many",
        &["traffic.warm_up_messages=0", "traffic.payload_bytes=200000"],
        "topology.dials=20",
    ),
    (
        "cold-many",
        &["traffic.warm_up_messages=0", "traffic.payload_bytes=200000"],
        "network.uplink_mbit_per_s=200",
    ),
    (
        "cold-many",
        &["traffic.warm_up_messages=0", "traffic.payload_bytes=200000"],
        "relay.flood_publish=off",
    ),
    (
        "after-cold",
        &["traffic.payload_bytes=500000", "relay.idontwant=true"],
        "relay.idontwant=false",
    ),
    (
        "after-cold",
        &["traffic.payload_bytes=500000", "relay.idontwant=true"],
        "traffic.warm_up_messages=2",
    ),
    (
        "setup-constant",
        &["traffic.warm_up_messages=0", "traffic.payload_bytes=25000"],
        "traffic.payload_bytes=2000",
    ),
    (
        "send-buffer",
        &["network.tcp=linux", "traffic.payload_bytes=150000"],
        "network.tcp=shadow",
    ),
    (
        "send-buffer",
        &["network.tcp=linux", "traffic.payload_bytes=150000"],
        "network.send_buffer=tuned",
    ),
    (
        "send-buffer",
        &["traffic.warm_up_messages=0", "traffic.payload_bytes=150000"],
        "network.send_buffer=tuned",
    ),
    (
        "cold-many",
        &["traffic.warm_up_messages=0", "traffic.payload_bytes=200000"],
        "network.send_buffer=tuned",
    ),
    ("fragments", &["relay.fragments=4"], "relay.fragments=1"),
    (
        "shared-uplinks",
        &["traffic.spacing_s=0.01"],
        "traffic.spacing_s=1",
    ),
    (
        "star",
        &["topology={kind=\"star\"}"],
        "topology={kind=\"line\"}",
    ),
    ("one-by-one-degree", &["relay.d=8"], "relay.d=6"),
    (
        "one-by-one-degree",
        &["relay.d=8"],
        "topology.dialling=\"at-once\"",
    ),
    (
        "router-profile",
        &["relay.profile=nim"],
        "relay.profile=undertone",
    ),
    ("loss", &["network.loss=0.01"], "network.loss=0"),
    ("jitter", &["network.jitter_ms=5"], "network.jitter_ms=0"),
    (
        "faults",
        &["faults=[{kind=\"crash\", at_s=40, nodes=1, noticed_after_s=5}]"],
        "faults=[{kind=\"silent\", at_s=40, nodes=1}]",
    ),
];

#[test]
fn each_rule_applies_where_its_mechanism_matters_and_nowhere_else() {
    for (rule, keys, change) in CASES {
        let set = [&CHECKED, *keys].concat();
        let found = rules(&set);
        assert!(
            found.iter().any(|found| found == rule),
            "{set:?}: {found:?}"
        );
        let changed = [set, vec![*change]].concat();
        let found = rules(&changed);
        assert!(
            found.iter().all(|found| found != rule),
            "{changed:?}: {found:?}"
        );
    }
}

#[test]
fn light_clients_are_said_to_be_unchecked() {
    let loaded = load("light-clients", &[]).unwrap();
    let outside = validity(&loaded.scenario);
    assert!(
        outside
            .iter()
            .any(|outside| outside.rule == "light-clients")
    );
}

#[test]
fn every_rule_has_a_case_of_its_own() {
    for rule in RULES {
        let has_case = CASES.iter().any(|(name, ..)| *name == rule.name);
        assert!(has_case || rule.name == "light-clients", "{}", rule.name);
        let same = RULES.iter().filter(|other| other.name == rule.name);
        assert_eq!(same.count(), 1, "{}", rule.name);
    }
}
