//! The benchmarks `feed` and `idle` measure what they say.

use std::process::{Command, Output};

use serde_json::Value;

use crate::peer;

/// Runs a benchmark over two variants; returns its report.
fn report(benchmark: &str, args: &[&str]) -> Value {
    let (undertone, rust) = (peer("undertone-peer"), peer("gossipsub-peer"));
    let variants = [
        "--peer", &rust, "--label", "rust", "--peer", &undertone, "--label", "own",
    ];
    let output = run(benchmark, &[&variants[..], &["--json"], args].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

fn run(benchmark: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    let output = command.arg(benchmark).args(args).output();
    output.expect("the benchmark was built with the tests")
}

/// The column `key` of all rows.
fn column<'a>(report: &'a Value, key: &str) -> Vec<&'a Value> {
    let rows = report["rows"].as_array().expect("it has rows");
    rows.iter().map(|row| &row[key]).collect()
}

#[test]
fn feed_measures_every_size_and_variant_in_every_round() {
    let report = report(
        "feed",
        &[
            "--messages",
            "40",
            "--warm-up",
            "3",
            "--rounds",
            "2",
            "--sizes",
            "64,50000",
            "--connections",
            "3",
        ],
    );
    assert_eq!(column(&report, "size_bytes"), [64, 64, 50_000, 50_000]);
    assert_eq!(column(&report, "label"), ["rust", "own", "rust", "own"]);
    for rounds in column(&report, "rounds") {
        let rounds = rounds.as_array().expect("it lists the rounds");
        assert_eq!(rounds.len(), 2);
        for round in rounds {
            // Whatever the machine, taking, checking and forwarding a message costs something.
            assert!(round["new_us"].as_f64() > Some(0.0), "{round}");
            assert!(round["duplicate_us"].is_number(), "{round}");
        }
    }
}

#[test]
fn idle_watches_every_variant_with_a_mesh() {
    let report = report(
        "idle",
        &[
            "--connections",
            "3",
            "--seconds",
            "1",
            "--settle-seconds",
            "1",
        ],
    );
    assert_eq!(column(&report, "label"), ["rust", "own"]);
    assert_eq!(column(&report, "in_mesh"), [3, 3]);
    for rss_mib in column(&report, "rss_mib") {
        assert!(rss_mib.as_f64() > Some(1.0), "{rss_mib}");
    }
    for cpu_percent in column(&report, "cpu_percent") {
        assert!(cpu_percent.as_f64() > Some(0.0), "{cpu_percent}");
    }
}

#[test]
fn a_peer_that_does_not_start_is_named() {
    for benchmark in ["feed", "idle"] {
        let args = "--peer no-such-peer-program --label mine --connections 2";
        let args: Vec<_> = args.split(' ').collect();
        let output = run(benchmark, &args);
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr);
        let named = said.contains("mine") && said.contains("no-such-peer-program");
        assert!(named, "{said}");
    }
}
