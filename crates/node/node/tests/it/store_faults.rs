//! Nodes whose disk fills up or whose database goes away: they say so in `/health` and in the metrics, refuse what they
//! cannot keep, and go on by themselves when the fault ends.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

mod disk;
mod neighbour;
mod postgres;

use std::time::{Duration, Instant};

use serde_json::Value;
use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::Assembled;

use crate::support::{ask, metrics};

/// Time within which a node says that it cannot keep messages.
const TOLD_WITHIN: Duration = Duration::from_secs(60);

fn topic() -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, 0).unwrap())
}

fn message(text: &str) -> WakuMessage {
    WakuMessage::new(text.as_bytes().to_vec(), "/test/1/a/proto")
}

/// Health of a node as its REST server tells it.
async fn health(node: &Assembled) -> Value {
    let (_, body) = ask(node.rest.unwrap(), "GET", "/health", "").await;
    serde_json::from_str(&body).unwrap()
}

/// Status and reason of one protocol, `(NONE, "")` if it is not listed.
fn protocol<'a>(health: &'a Value, name: &str) -> (&'a str, &'a str) {
    let all = health["protocolsHealth"].as_array().unwrap();
    let found = all.iter().find(|protocol| protocol.get(name).is_some());
    found.map_or(("NONE", ""), |protocol| {
        let desc = protocol.get("desc").and_then(Value::as_str);
        (protocol[name].as_str().unwrap(), desc.unwrap_or_default())
    })
}

/// Waits until health and metrics agree on whether something can be written; returns the reason if it cannot.
async fn told(node: &Assembled, name: &str, metric: &str, is_writing: bool) -> String {
    let began = Instant::now();
    loop {
        let health = health(node).await;
        let (status, desc) = protocol(&health, name);
        let says_so = (status == "NOT_READY") != is_writing;
        let counts_so = metrics(node.rest.unwrap()).await[metric] == f64::from(is_writing);
        let is_node_ready = health["nodeHealth"] == "READY";
        if says_so && counts_so && is_node_ready == is_writing {
            return desc.to_owned();
        }
        assert!(
            began.elapsed() < TOLD_WITHIN,
            "{name} is not told after {TOLD_WITHIN:?}: {health}"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
