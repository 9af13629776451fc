//! Light clients receive what they subscribed to, each message once, and nothing else.

use std::time::Duration;

use serde_json::json;

use crate::test_network::{At, Sharding, TOPIC, TestNetwork};

/// On the same shard as [`TOPIC`], because application and version are the same.
const NEIGHBOUR: &str = "/interop/1/neighbour/proto";
/// Time in which a message would come that must not.
const QUIET: Duration = Duration::from_secs(2);

#[tokio::test]
async fn messages_of_relay_and_lightpush_are_pushed_once() {
    let stage = TestNetwork::start(Sharding::Automatic).await;
    let mut reader = stage.client(At::Edge, "reader").await;
    reader.subscribe(TOPIC).await;
    let mut near = stage.client(At::Edge, "near").await;
    let mut distant = stage.client(At::Far, "distant").await;

    let mut sent = Vec::new();
    for round in 0..5 {
        let texts = ["near", "distant", "relay", "own relay"].map(|from| format!("{from} {round}"));
        near.lightpush(TOPIC, &texts[0]).await;
        distant.lightpush(TOPIC, &texts[1]).await;
        stage.publish(At::Far, TOPIC, &texts[2]).await;
        stage.publish(At::Edge, TOPIC, &texts[3]).await;
        stage.publish(At::Far, NEIGHBOUR, "not subscribed").await;
        sent.extend(texts);
    }
    for text in &sent {
        reader.message("receive by filter", text).await;
    }
    tokio::time::sleep(QUIET).await;
    let mut received: Vec<_> = reader
        .messages()
        .into_iter()
        .filter_map(|m| m.text)
        .collect();
    received.sort();
    sent.sort();
    assert_eq!(received, sent);
    for client in [reader, near, distant] {
        client.quit().await;
    }
}

#[tokio::test]
async fn a_client_hears_two_topics_and_after_unsubscribing_only_the_other() {
    let stage = TestNetwork::start(Sharding::Automatic).await;
    let mut reader = stage.client(At::Edge, "reader").await;
    reader.subscribe(TOPIC).await;
    reader.subscribe(NEIGHBOUR).await;
    stage.publish(At::Far, TOPIC, "one").await;
    stage.publish(At::Far, NEIGHBOUR, "two").await;
    reader.message("receive on the first topic", "one").await;
    reader.message("receive on the second topic", "two").await;

    let command = json!({"cmd": "unsubscribe", "topic": TOPIC});
    let result = reader.must("unsubscribe", command).await;
    assert_eq!(result["accepted"], true, "{:?}", reader.last("filter"));
    stage.publish(At::Far, TOPIC, "unheard").await;
    stage.publish(At::Far, NEIGHBOUR, "three").await;
    reader
        .message("receive on the remaining topic", "three")
        .await;
    tokio::time::sleep(QUIET).await;
    let unheard = |text: &Option<String>| text.as_deref() == Some("unheard");
    let messages = reader.messages();
    assert!(!messages.iter().any(|m| unheard(&m.text)), "{messages:?}");

    // The topic can be subscribed to again.
    reader.subscribe(TOPIC).await;
    stage.publish(At::Far, TOPIC, "four").await;
    reader
        .message("receive after subscribing again", "four")
        .await;
    let statuses: Vec<_> = reader
        .answers("filter")
        .iter()
        .map(|a| a["status"].clone())
        .collect();
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    reader.quit().await;
}

/// The client allows 100 streams of pushed messages at a time and never closes its half of one.
#[tokio::test]
async fn a_burst_arrives_complete() {
    const BURST: usize = 200;
    let stage = TestNetwork::start(Sharding::Automatic).await;
    let mut reader = stage.client(At::Edge, "reader").await;
    reader.subscribe(TOPIC).await;
    for number in 0..BURST {
        stage
            .publish(At::Far, TOPIC, &format!("burst {number}"))
            .await;
    }
    for number in 0..BURST {
        let text = format!("burst {number}");
        reader.message("receive a burst", &text).await;
    }
    assert_eq!(reader.messages().len(), BURST);
    assert_eq!(
        reader.events("disconnected").len(),
        0,
        "the client was cut off"
    );
    reader.quit().await;
}
