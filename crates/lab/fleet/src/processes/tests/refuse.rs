use undertone_lab::scenario::parse;

use super::*;

const PLAIN: &str = r#"
[scenario]
nodes = 5
[topology]
kind = "line"
[network]
one_way_ms = 10
uplink_mbit_per_s = 100
downlink_mbit_per_s = 100
[relay]
d = 2
d_low = 2
d_out = 0
[rln]
generation_ms = 1
verification_ms = 1
[traffic]
messages = 1
payload_bytes = 100
first_s = 5
"#;

fn checked(set: &[&str]) -> Result<(), RunError> {
    let set: Vec<_> = set.iter().map(|text| (*text).to_owned()).collect();
    let scenario = parse(PLAIN, "plain", "plain", None, &set).unwrap().scenario;
    check(&scenario)
}

fn refused(set: &[&str], said: &str) {
    let error = checked(set).unwrap_err();
    assert!(error.is_usage(), "{set:?}");
    let error = error.to_string();
    assert!(error.contains(said), "{said:?} is not in {error}");
}

#[test]
fn what_a_node_can_be_told_is_taken() {
    checked(&[]).unwrap();
    checked(&[
        "relay.heartbeat_ms=700",
        "relay.d_lazy=4",
        "relay.gossip_factor=0.5",
        "relay.flood_publish=off",
        "relay.seen_ttl_s=60",
        "relay.prune_backoff_s=30",
        "relay.history_length=5",
        "relay.history_gossip=2",
        "relay.topics=2",
        "relay.max_message_bytes=600000",
        "relay.protocol=/meshsub/1.1.0",
        "relay.topics=20",
        "relay.strategy=flood",
        "relay.limits.topics_max=3",
        "rln.epoch_s=60",
        "rln.message_limit=101",
        "network.loss=0.01",
        "network.jitter_ms=3",
        "network.tcp=shadow",
        "network.unlimited_until_s=4",
        "topology.dialling=one-by-one",
    ])
    .unwrap();
}

#[test]
fn what_it_cannot_names_the_key_and_a_remedy() {
    refused(
        &["faults=[{at_s=1, nodes=2, kind=\"silent\"}]"],
        "faults.0.kind",
    );
    refused(
        &["scenario.nodes=1200"],
        "scenario.nodes = 1200: the testbed starts at most 1000 processes; take fewer",
    );
    refused(
        &["traffic.messages=20000", "traffic.spacing_s=1"],
        "traffic.messages = 20000:",
    );
    refused(
        &["relay.fragments=7"],
        "relay.fragments = 7: the testbed has nodes that cut messages",
    );
}

/// Scenario with one more table at its end.
fn with_fault(fault: &str) -> Result<(), RunError> {
    let text = format!("{PLAIN}\n[[faults]]\nnodes = 1\n{fault}");
    let scenario = parse(&text, "plain", "plain", None, &[]).unwrap().scenario;
    check(&scenario)
}

#[test]
fn what_can_befall_real_nodes_is_taken() {
    for fault in [
        "at_s = 9\nkind = \"crash\"\nnoticed_after_s = 1",
        "at_s = 9\nkind = \"leave\"",
        "at_s = 9\nkind = \"join\"",
        "at_s = 9\nkind = \"partition\"\nfor_s = 1",
        "at_s = 9\nkind = \"slow\"\nfactor = 0.5",
        "at_s = 9\nkind = \"lossy\"\nloss = 0.5",
        "at_s = 9\nkind = \"spam\"\ninterval_ms = 20",
        "at_s = 5\nkind = \"clock-skew\"\nahead_ms = -5",
    ] {
        with_fault(fault).unwrap();
    }
}

#[test]
fn clocks_cannot_be_set_while_messages_are_under_way() {
    let error = with_fault("at_s = 9.5\nkind = \"clock-skew\"\nahead_ms = 1").unwrap_err();
    let error = error.to_string();
    assert!(error.starts_with("faults.0.at_s = 9.5: "), "{error}");
    assert!(error.contains("traffic.first_s"), "{error}");
}
