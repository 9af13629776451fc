//! A node whose only peer stops answering says that nothing is relayed, before the connection is found to be dead.

use std::time::{Duration, Instant};

use serde_json::Value;
use undertone_attacks::node::Node;
use undertone_attacks::test_network::pubsub_topic;
use undertone_attacks::{StageOptions, TestNetwork};

use crate::support::program;

/// Time within which a node says that nothing is relayed on a shard, and that something is again.
const TOLD_WITHIN: Duration = Duration::from_secs(30);

/// Whether health and metrics say that nothing is relayed on the first shard; `None` while they do not agree.
async fn is_cut_off(node: &Node) -> Option<bool> {
    let topic = pubsub_topic(0);
    let (_, health) = node.ask("GET", "/health", None).await?;
    let health: Value = serde_json::from_str(&health).ok()?;
    let mut protocols = health["protocolsHealth"].as_array()?.iter();
    let relay = protocols.find(|entry| entry.get("Relay").is_some())?;
    let desc = relay["desc"].as_str().unwrap_or_default();
    let is_named = relay["Relay"] == "NOT_READY" && desc.contains(&topic);
    let (_, metrics) = node.ask("GET", "/metrics", None).await?;
    let gauge = |value| format!("undertone_shard_cut_off{{topic=\"{topic}\"}} {value}\n");
    let has = |value| metrics.contains(&gauge(value));
    match (is_named, has(1), has(0)) {
        (true, true, false) => Some(true),
        (false, false, true) => Some(false),
        _ => None,
    }
}

async fn told(node: &Node, expected: bool) {
    let began = Instant::now();
    while is_cut_off(node).await != Some(expected) {
        let state = node.state().await;
        assert!(
            began.elapsed() < TOLD_WITHIN,
            "cut off: {expected}: {state}"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn a_shard_whose_only_peer_is_silent_is_named_within_30_s() {
    let options = StageOptions {
        has_reader: false,
        ..StageOptions::default()
    };
    let stage = TestNetwork::start(&program(), options).await.unwrap();
    told(&stage.victim, false).await;
    // It keeps its connections and says nothing on them.
    stage.honest[0].suspend();
    told(&stage.victim, true).await;
    stage.honest[0].resume();
    told(&stage.victim, false).await;
}
