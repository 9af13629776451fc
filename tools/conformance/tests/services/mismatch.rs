//! Clients of another cluster or shard get no service, and those of the right one notice nothing.

use serde_json::json;

use crate::client::{Client, is_pushed};
use crate::test_network::{At, Sharding, TOPIC, TestNetwork};

const SHARD: u16 = 3;

/// The metadata answer tells the client that the node is not for it, so that it asks for nothing.
async fn gets_nothing(mut stranger: Client) {
    stranger
        .event("be identified", "identified", |_| true)
        .await;
    let is_metadata = |event: &serde_json::Value| event["kind"] == "metadata";
    let answer = stranger.event("read metadata", "answer", is_metadata).await;
    assert_eq!(answer["cluster"], 66, "{answer}");
    assert_eq!(answer["shards"], json!([SHARD]), "{answer}");

    let push = json!({"cmd": "lightpush", "topic": TOPIC, "text": "from a stranger"});
    let result = stranger.must("push", push).await;
    assert!(!is_pushed(&result), "{result}");
    let subscribe = json!({"cmd": "subscribe", "topic": TOPIC});
    let result = stranger.must("subscribe", subscribe).await;
    assert_eq!(result["accepted"], false, "{result}");
    let query = json!({"cmd": "query", "topics": [TOPIC], "forward": true});
    let result = stranger.ask("query", query).await;
    assert!(result.is_err(), "query: {result:?}");
    stranger.quit().await;
}

/// Runs a stranger, whose command has `option` set to `value`, beside clients of the right network.
async fn stranger_does_no_harm(option: &str, value: u16) {
    let stage = TestNetwork::start(Sharding::Static(SHARD)).await;
    let mut reader = stage.client(At::Edge, "reader").await;
    reader.subscribe(TOPIC).await;
    let mut writer = stage.client(At::Far, "writer").await;

    // Of an option that is given twice, the last counts.
    let command = stage.client_of(At::Edge, "stranger").option(option, value);
    gets_nothing(stage.start_client(&command).await).await;

    writer.lightpush(TOPIC, "from a friend").await;
    reader.message("receive by filter", "from a friend").await;
    let texts: Vec<_> = reader
        .messages()
        .into_iter()
        .filter_map(|m| m.text)
        .collect();
    assert_eq!(texts, ["from a friend"]);
    for client in [&reader, &writer] {
        assert_eq!(
            client.events("disconnected").len(),
            0,
            "a friend was cut off"
        );
    }
    stage.wait_mesh("after the stranger").await;
    writer.quit().await;
    reader.quit().await;
}

#[tokio::test]
async fn a_client_of_another_cluster_is_refused_without_harm() {
    stranger_does_no_harm("cluster", 67).await;
}

#[tokio::test]
async fn a_client_of_another_shard_is_refused_without_harm() {
    stranger_does_no_harm("shard", SHARD + 2).await;
}
