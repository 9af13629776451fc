//! Clients come back by themselves to a node that was killed and started again.

use serde_json::{Value, json};

use crate::client::Client;
use crate::test_network::{At, Sharding, TOPIC, TestNetwork};

/// Texts that the store of the client's node has.
async fn stored(client: &mut Client, step: &str) -> Vec<String> {
    let command = json!({"cmd": "query", "topics": [TOPIC], "forward": true});
    let result = client.must(step, command).await;
    let messages = result["pages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|page| page.as_array().unwrap());
    messages
        .map(|message| message["text"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn filter_lightpush_and_history_are_back_after_a_killed_node_starts_again() {
    let mut stage = TestNetwork::start(Sharding::Automatic).await;
    let mut client = stage.client(At::Edge, "client").await;
    client.subscribe(TOPIC).await;
    client.lightpush(TOPIC, "before").await;
    client.message("receive before the kill", "before").await;
    while stored(&mut client, "read before the kill").await != ["before"] {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }

    for round in ["first", "second"] {
        let count = client.event_count();
        stage.edge.kill().await;
        client
            .event_after("notice the kill", count, "disconnected", |_| true)
            .await;
        stage.edge.launch().await.unwrap();
        let step = format!("{round} return");
        client
            .event_after(&step, count, "identified", |_| true)
            .await;
        let is_subscribed = |event: &Value| event["kind"] == "filter" && event["status"] == 200;
        client
            .event_after(&step, count, "answer", is_subscribed)
            .await;
        stage.wait_mesh(&step).await;

        let texts = ["relayed", "pushed"].map(|way| format!("{way} after the {round} kill"));
        stage.publish(At::Far, TOPIC, &texts[0]).await;
        client.message(&step, &texts[0]).await;
        client.lightpush(TOPIC, &texts[1]).await;
        client.message(&step, &texts[1]).await;
        let found = stored(&mut client, &step).await;
        assert!(
            found.contains(&"before".to_owned()),
            "{step}: the store has {found:?}"
        );
    }
    client.quit().await;
}
