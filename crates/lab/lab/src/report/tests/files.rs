use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::json;

use super::super::{Campaign, write_deliveries};
use super::{outcome, summary};

#[test]
fn the_summary_has_the_promised_shape() {
    let value = serde_json::to_value(summary(&outcome(7))).unwrap();
    let latency = json!({
        "n": 3, "min": 5.0, "mean": 10.0, "p50": 10.0, "p75": 15.0, "p95": 15.0, "p99": 15.0, "max": 15.0
    });
    assert_eq!(value["latency_ms"], latency);
    let none = json!({"count": 0, "bytes": 0});
    let expected = json!({
        "scenario": "small",
        "seed": 7,
        "nodes": 50,
        "commit": "abc123",
        "virtual_s": 3.5,
        "wall_s": 0.25,
        "cpu_s": 0.5,
        "events": 1234,
        "peak_rss_mb": 12.5,
        "expected": 8,
        "delivered": 7,
        "latency_ms": latency,
        "hops": {"1": 1, "2": 2},
        "per_message": value["per_message"],
        "warm_up": {
            "messages": 1,
            "latency_ms": value["per_message"][0]["latency_ms"],
            "hops": {"1": 1, "2": 3},
        },
        "mesh_degree": {"min": 2, "mean": 3.5, "max": 4},
        "bytes": {
            "payload": 21000,
            "control": 210,
            "wire": 25000,
            "copies_per_delivery": 15.0 / 7.0,
            "kinds": {
                "messages": {"count": 10, "bytes": 21000},
                "subscriptions": none,
                "graft": {"count": 5, "bytes": 60},
                "prune": none,
                "ihave": {"count": 5, "bytes": 150},
                "iwant": none,
                "idontwant": none,
            },
            "packets_dropped": 5,
        },
        "router_profile": "undertone",
        "mux": "none",
        "validity": [],
        "violations": [],
        "trace_hash": "ab".repeat(32),
    });
    assert_eq!(value, expected);
    let message = json!({
        "index": 1, "publisher": 0, "size_bytes": 2000, "warm_up": false,
        "latency_ms": latency, "hops": {"1": 1, "2": 2},
    });
    assert_eq!(value["per_message"][1], message);
}

#[test]
fn one_run_is_its_summary_and_several_have_medians() {
    let one = Campaign::new(vec![summary(&outcome(7))]);
    let value = serde_json::to_value(&one).unwrap();
    assert_eq!(value, serde_json::to_value(summary(&outcome(7))).unwrap());
    let two = Campaign::new(vec![summary(&outcome(7)), summary(&outcome(9))]);
    let value = serde_json::to_value(&two).unwrap();
    assert_eq!(value["seeds"], json!([7, 9]));
    assert_eq!(value["scenario"], "small");
    assert_eq!(value["median"]["latency_ms"]["mean"], 10.0);
    assert_eq!(value["runs"][1]["seed"], 9);
    // Several runs of one scenario state it once.
    let small = crate::scenario::load("small", &[]).unwrap().resolved;
    let named = |seed| summary(&outcome(seed)).resolved(small.clone());
    let one = serde_json::to_value(Campaign::new(vec![named(7)])).unwrap();
    assert_eq!(one["resolved"]["hash"], small.hash);
    let two = serde_json::to_value(Campaign::new(vec![named(7), named(9)])).unwrap();
    assert_eq!(two["resolved"]["hash"], small.hash);
    assert_eq!(two["runs"][0].get("resolved"), None);
}

#[test]
fn every_delivery_is_a_row() {
    let mut file = tempfile::tempfile().unwrap();
    let small = crate::scenario::load("small", &["relay.d=7".to_owned()]).unwrap();
    let named = summary(&outcome(7)).resolved(small.resolved.clone());
    write_deliveries(&outcome(7), &named, &[], &mut file).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let known = reader
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .unwrap();
    let named = |key: &str| known.iter().find(|known| known.key == key)?.value.clone();
    assert_eq!(named("undertone.seed").unwrap(), "7");
    assert_eq!(named("undertone.trace_hash").unwrap(), "ab".repeat(32));
    assert_eq!(
        named("undertone.scenario_hash").unwrap(),
        small.resolved.hash
    );
    let resolved: serde_json::Value =
        serde_json::from_str(&named("undertone.resolved").unwrap()).unwrap();
    assert_eq!(resolved["parameters"]["relay"]["d"], 7);
    assert_eq!(resolved["from"]["relay"]["d"], "--set relay.d=7");
    let rows: Vec<String> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().to_string())
        .collect();
    assert_eq!(rows.len(), 7);
    assert_eq!(
        rows[4],
        "{message: 1, publisher: 0, receiver: 1, from: 0, hops: 1, size_bytes: 2000, \
         warm_up: false, sent_ns: 1000000000, received_ns: 1005000000, latency_ms: 5.0}"
    );
    assert!(rows[0].contains("warm_up: true"), "{}", rows[0]);
}

#[test]
fn no_deliveries_make_an_empty_file() {
    let mut none = outcome(7);
    none.deliveries.clear();
    let mut bytes = Vec::new();
    write_deliveries(&none, &summary(&none), &[], &mut bytes).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
}
