use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::write_netviz;
use crate::report::DatasetChoice;
use crate::run::{FinishedRun, RunRequest};
use crate::scenario;

fn trace() -> (FinishedRun, Vec<Value>) {
    let loaded = scenario::load("small", &[]).unwrap();
    let mut datasets = DatasetChoice::default();
    datasets.add("copies");
    let request = RunRequest {
        loaded: &loaded,
        seed: 1,
        threads: 1,
        commit: "test",
        datasets,
    };
    let run = request.run(&mut |_| ControlFlow::Continue(())).unwrap();
    let mut text = Vec::new();
    write_netviz(&loaded.scenario, &run.outcome, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    (run, lines)
}

#[test]
fn the_header_names_nodes_and_connections() {
    let (_, lines) = trace();
    let header = &lines[0];
    assert_eq!(header["v"], 1);
    assert_eq!(header["decoderName"], "gossipsub");
    assert_eq!(header["nodes"][49], "n49");
    let node = &header["topology"]["nodes"][3];
    assert_eq!(node["num"], 3);
    assert!(node["upload_bw_mbps"].as_f64().unwrap() > 0.0);
    let edges = header["topology"]["edges"].as_array().unwrap();
    assert!(
        edges
            .iter()
            .all(|edge| edge["latency_ms"].as_f64().unwrap() > 0.0)
    );
    assert_eq!(lines.last(), Some(&json!({"end": true})));
}

#[test]
fn every_copy_is_an_event_in_the_order_of_time() {
    let (run, lines) = trace();
    let events = &lines[1..lines.len() - 1];
    let times: Vec<f64> = events
        .iter()
        .map(|event| event[0].as_f64().unwrap())
        .collect();
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
    let mut codes: BTreeMap<&str, u64> = BTreeMap::new();
    for event in events {
        *codes.entry(event[2].as_str().unwrap()).or_default() += 1;
    }
    let copies = run.outcome.recorded.as_ref().unwrap().copies.len() as u64;
    let duplicates = run.outcome.nodes.iter().map(|node| node.duplicates).sum();
    assert_eq!(
        codes,
        BTreeMap::from([("pb", 3), ("ms", copies), ("dl", 147), ("du", duplicates)])
    );
    // A message is delivered to a node by the peer that the event names, after that peer had it.
    let published = &events[0];
    assert_eq!(published[4], "0");
    let delivered = events.iter().find(|event| event[2] == "dl").unwrap();
    assert_eq!(delivered[3], format!("n{}", published[1]));
}
