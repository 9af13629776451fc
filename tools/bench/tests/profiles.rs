//! The comparison `profiles` runs real nodes and simulated ones on one plan. A program of its own, because it needs network
//! namespaces, with which the step `testbed` runs it.

use std::process::Command;

use serde_json::Value;

/// Rows of a comparison of eight nodes on a small network.
fn compare(implementation: &str) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.args(["profiles", "--json", "--implementation", implementation]);
    for set in [
        "scenario.nodes=8",
        "scenario.start_spread_s=1",
        "topology.dials=3",
        "network.one_way_ms=20",
        "traffic.first_s=8",
        "traffic.spacing_s=0.5",
        "traffic.warm_up_spacing_s=0.5",
        "traffic.warm_up_messages=1",
        "traffic.messages=6",
        "traffic.publisher_count=3",
        "traffic.drain_s=2",
    ] {
        command.args(["--set", set]);
    }
    let output = command.output().expect("it was built with the tests");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{implementation}: {said}");
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

#[test]
fn real_and_simulated_nodes_of_an_implementation_are_counted_alike() {
    for (implementation, expected) in [
        ("rust", &["measured", "rust", "undertone"][..]),
        ("undertone", &["measured", "undertone"]),
    ] {
        let rows = compare(implementation);
        let by: Vec<_> = rows.iter().map(|row| row["by"].as_str().unwrap()).collect();
        assert_eq!(by, expected);
        for row in &rows {
            let run = &row["runs"][0];
            let figure = |name: &str| run[name].as_f64().unwrap();
            assert_eq!(figure("delivered"), 1.0, "{row}");
            // Two hops at most of 20 ms each way, in a mesh of six connections on average.
            assert!(figure("p50_ms") >= 20.0, "{row}");
            assert!((1.0..=3.0).contains(&figure("hops")), "{row}");
            assert!((2.0..=7.0).contains(&figure("mesh")), "{row}");
            assert!(figure("duplicates") > 0.0, "{row}");
            assert!(figure("idontwant") > 0.0, "{row}");
            assert!(figure("graft") > 0.0, "{row}");
        }
    }
}

#[test]
fn a_scenario_with_what_the_programs_do_not_have_is_refused() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.args(["profiles", "--set", "relay.topics=3"]);
    let output = command.output().expect("it was built with the tests");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("relay.topics"), "{said}");
}
