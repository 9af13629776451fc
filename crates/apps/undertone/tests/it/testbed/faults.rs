//! A network that loses packets, falls apart, and whose nodes come and go.

use std::process::{Command, Output};

use serde_json::Value;

use crate::testbed::support::{self, testbed, testbed_of};

/// Seven nodes, each connected to all others; node 0 publishes every two seconds, from 2 s to 14 s. Without
/// gossip a message that nobody sends a node in time never gets there.
const SCENARIO: &str = r#"
[scenario]
nodes = 7
start_spread_s = 0
[topology]
kind = "full-mesh"
[network]
one_way_ms = 20
uplink_mbit_per_s = 100
downlink_mbit_per_s = 100
[relay]
d_lazy = 0
gossip_factor = 0
[traffic]
messages = 7
payload_bytes = 2000
first_s = 2
spacing_s = 2
drain_s = 3
[[faults]]
kind = "lossy"
at_s = 0
nodes = 3
loss = 0.1
[[faults]]
kind = "join"
at_s = 2.5
nodes = 1
[[faults]]
kind = "partition"
at_s = 7
nodes = 2
for_s = 2.5
[[faults]]
kind = "leave"
at_s = 13
nodes = 1
[[faults]]
kind = "crash"
at_s = 13
nodes = 2
noticed_after_s = 1
"#;

fn report(output: &Output) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

/// Receivers of each message.
fn delivered(report: &Value) -> Vec<u64> {
    let messages = report["per_message"].as_array().expect("a list");
    let receivers = |message: &Value| {
        let hops = message["hops"].as_object().expect("a table");
        hops.values().filter_map(Value::as_u64).sum()
    };
    messages.iter().map(receivers).collect()
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test --only testbed"]
fn what_befalls_real_nodes_befalls_simulated_ones() {
    let folder = tempfile::tempdir().unwrap();
    let measured = report(&testbed_of(SCENARIO, folder.path()).output().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.arg("sim").arg(folder.path().join("scenario.toml"));
    let simulated = report(&command.arg("--json").output().unwrap());

    // Nobody is there yet, or any more, who misses it: one node joins, one crashes and one leaves.
    let mut there = delivered(&measured);
    // The node that joins may need longer to start than it has until then.
    assert!((5..=6).contains(&there.remove(1)), "{there:?}");
    assert_eq!(there, [5, 6, 6, 6, 6, 4], "{measured}");
    let mut simulated_there = delivered(&simulated);
    simulated_there.remove(1);
    assert_eq!(there, simulated_there);
    assert_eq!(measured["expected"], simulated["expected"]);
    assert_eq!(measured["expected"], 42);

    // The fourth is published a second into a partition of 2.5 s.
    for report in [&measured, &simulated] {
        let latency = &report["per_message"][3]["latency_ms"];
        assert!(latency["max"].as_f64() > Some(1_400.0), "{latency}");
        assert!(latency["min"].as_f64() < Some(1_000.0), "{latency}");
    }
    for how in ["lost", "cut"] {
        assert!(measured["packets"][0][how].as_u64() > Some(0), "{how}");
    }
    // The five that are left see that the others are gone.
    assert_eq!(measured["mesh_degree"]["max"], 4, "{measured}");
    assert_eq!(measured["notes"], serde_json::json!([]));
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test --only testbed"]
fn a_node_whose_clock_is_wrong_takes_no_message() {
    let folder = tempfile::tempdir().unwrap();
    // Of three nodes in a line, the last; 20 s are allowed for.
    let skew = "[[faults]]\nkind = \"clock-skew\"\nat_s = 1\nnodes = 1\nahead_ms = -25000\n";
    let scenario = format!("{}{skew}", support::SCENARIO);
    let wrong = report(&testbed_of(&scenario, folder.path()).output().unwrap());
    assert_eq!(delivered(&wrong), [1, 1]);
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test --only testbed"]
fn a_spammer_is_left_by_its_peers() {
    let folder = tempfile::tempdir().unwrap();
    // The last of three nodes in a line; five seconds later node 0 publishes the second message.
    let spam = "[[faults]]\nkind = \"spam\"\nat_s = 2\nnodes = 1\ninterval_ms = 20\n";
    let scenario = format!("{}{spam}", support::SCENARIO);
    let mut command = testbed_of(&scenario, folder.path());
    let keys = [
        "rln.message_limit=2",
        "rln.epoch_s=1000000000",
        "traffic.spacing_s=6",
    ];
    command.args(keys.iter().flat_map(|key| ["--set", key]));
    let spammed = report(&command.output().unwrap());
    assert_eq!(delivered(&spammed), [2, 1]);
    assert_eq!(spammed["notes"], serde_json::json!([]));
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test --only testbed"]
fn a_node_that_has_used_up_its_limit_publishes_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = testbed(folder.path());
    // An epoch that does not end meanwhile.
    command.args([
        "--set",
        "rln.message_limit=1",
        "--set",
        "rln.epoch_s=1000000000",
    ]);
    let limited = report(&command.output().unwrap());
    assert_eq!(delivered(&limited), [2, 0]);
    assert_eq!(limited["expected"], 4);
    let notes = limited["notes"].as_array().unwrap();
    assert_eq!(
        notes[0],
        "seed 1: 1 messages did not leave their publishers"
    );
    let refusal = notes[1].as_str().unwrap();
    assert!(refusal.contains("NonceLimitReached"), "{refusal}");
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test --only testbed"]
fn connections_one_by_one_and_rates_that_bind_later() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = testbed(folder.path());
    for key in [
        "topology.dialling=one-by-one",
        "network.tcp=shadow",
        // Half a second before the second message, which takes more than a second at 16 kB/s.
        "network.unlimited_until_s=1.5",
        "network.uplink_mbit_per_s=0.128",
        "traffic.payload_bytes=20000",
        "traffic.drain_s=8",
    ] {
        command.args(["--set", key]);
    }
    let slow = report(&command.output().unwrap());
    assert_eq!(delivered(&slow), [2, 2]);
    let limited_ms = &slow["per_message"][1]["latency_ms"]["max"];
    // Two hops: the uplinks of the first node and of the second.
    assert!(limited_ms.as_f64() > Some(2_500.0), "{limited_ms}");
    let unlimited_ms = &slow["per_message"][0]["latency_ms"]["max"];
    assert!(unlimited_ms.as_f64() < limited_ms.as_f64(), "{slow}");
    let note = slow["notes"][0].as_str().unwrap();
    assert!(note.starts_with("network.tcp = \"shadow\""), "{note}");
}
