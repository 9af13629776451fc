//! The chain benchmark measures what it says.

use std::process::Command;

use serde_json::Value;

use crate::peer;

/// Runs the benchmark over one variant, three peers long.
fn chain(args: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_bench"))
        .args([
            "chain", "--nodes", "3", "--json", "--label", "rust", "--peer",
        ])
        .arg(peer("gossipsub-peer"))
        .args(args)
        .output()
        .expect("the benchmark was built with the tests")
}

#[test]
fn every_message_of_every_mode_is_accounted_for() {
    for (args, sizes, expected) in [
        (
            &["--sizes", "64,4096", "--messages", "5", "--rounds", "2"][..],
            &[64, 4096][..],
            5,
        ),
        (&["--burst", "6", "--size", "20000"], &[20_000], 6),
        (
            &["--rate", "40", "--seconds", "1", "--size", "500"],
            &[500],
            40,
        ),
    ] {
        let output = chain(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {said}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
        let rows = report["rows"].as_array().expect("it has rows");
        assert_eq!(rows.len(), sizes.len());
        for (row, size) in rows.iter().zip(sizes) {
            assert_eq!(row["size_bytes"], *size);
            assert_eq!(
                (&row["expected"], &row["refused"]),
                (&expected.into(), &0.into())
            );
            assert_eq!(row["received"], serde_json::json!([expected, expected]));
            assert!(row["hop"]["p50_ms"].is_number(), "{row}");
            assert!(row["end_to_end"]["p95_ms"].is_number(), "{row}");
        }
    }
}

#[test]
fn a_peer_that_does_not_start_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(["chain", "--label", "mine", "--peer", "no-such-peer-program"])
        .output()
        .expect("the benchmark was built with the tests");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("mine 0") && said.contains("no-such-peer-program"),
        "{said}"
    );
}
