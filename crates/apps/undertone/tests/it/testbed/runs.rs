//! What a run finds out.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

use crate::testbed::support::testbed;

fn json(output: &Output) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test --only testbed"]
fn real_nodes_pass_on_real_proofs_hop_by_hop() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut command = testbed(folder.path());
    command.arg("--beside-sim").arg("--out").arg(&out);
    let report = json(&command.output().unwrap());
    assert_eq!(report["delivered"], 4);
    assert_eq!(report["hops"], serde_json::json!({"1": 2, "2": 2}));
    assert!(report["costs"]["generation_ms"].as_f64() > Some(0.0));
    let rows = report["hop_rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{report}");
    for row in rows {
        // No packet comes before its time; how much later depends on the machine.
        assert!(row["transmit_ms"].as_f64() >= Some(20.0), "{row}");
        assert!(row["validate_ms"].as_f64() > Some(0.0), "{row}");
        assert!(row["sim_ms"].as_f64() > Some(20.0), "{row}");
    }
    let summary = fs::read(out.join("summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!(summary["latency_ms"], report["latency_ms"]);
    assert_eq!(summary["trace_hash"], Value::Null);
    assert!(out.join("deliveries.parquet").is_file());
    let left = fs::read_dir(folder.path().join("undertone-testbed")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["door"]);
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test --only testbed"]
fn real_nodes_pass_on_over_quic() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = testbed(folder.path());
    command.args(["--quic", "--set", "traffic.payload_bytes=20000"]);
    let report = json(&command.output().unwrap());
    assert_eq!(report["delivered"], 4);
    for row in report["hop_rows"].as_array().unwrap() {
        assert!(row["transmit_ms"].as_f64() >= Some(20.0), "{row}");
    }
}

#[test]
#[ignore = "needs unprivileged user namespaces: cargo xtask test --only testbed"]
fn an_unprivileged_user_namespace_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let testbed = testbed(folder.path());
    let mut command = Command::new("unshare");
    // What an ordinary user may do: a user namespace in which it is root, and nothing else.
    command.args(["--user", "--map-root-user", "--"]);
    command.arg(testbed.get_program()).args(testbed.get_args());
    command.env("TMPDIR", folder.path());
    let report = json(&command.output().unwrap());
    assert_eq!(report["delivered"], 4);
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test --only testbed"]
fn nodes_that_take_too_long_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = testbed(folder.path());
    command.args(["--set", "network.one_way_ms=2000", "--ready-s", "1"]);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("was not ready after 1 s: it"), "{stderr}");
    assert!(stderr.contains("give it longer with --ready-s"), "{stderr}");
}
