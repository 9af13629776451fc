//! Messages of light clients reach the relay, and those too long are refused with the right status.

use serde_json::json;

use crate::client::is_pushed;
use crate::test_network::{At, MESSAGE_BYTES_MAX, Sharding, TOPIC, TestNetwork};

/// A message pushed to one node comes out of the other, whose client has the same hash for it as the store.
async fn crosses_the_relay(sharding: Sharding, is_legacy: bool) {
    let stage = TestNetwork::start(sharding).await;
    let mut reader = stage.client(At::Far, "reader").await;
    reader.subscribe(TOPIC).await;
    let mut writer = stage.client(At::Edge, "writer").await;

    let text = "from a light client";
    let command = json!({"cmd": "lightpush", "topic": TOPIC, "text": text, "legacy": is_legacy});
    let result = writer.must("lightpush", command).await;
    let kind = if is_legacy {
        "lightpush-v2"
    } else {
        "lightpush-v3"
    };
    let answer = writer.last(kind).unwrap();
    assert!(is_pushed(&result), "{result}, {answer}");
    assert_eq!(answer["status"], 200, "{answer}");
    if !is_legacy {
        assert_eq!(answer["peers"], 1, "relayed to the other node: {answer}");
    }

    let message = reader.message("receive by filter", text).await;
    assert_eq!(message.pubsub_topic, stage.pubsub_topic(TOPIC));
    assert_eq!(message.content_topic, TOPIC);
    writer.quit().await;
    reader.quit().await;
}

#[tokio::test]
async fn lightpush_v3_crosses_the_relay() {
    crosses_the_relay(Sharding::Automatic, false).await;
}

#[tokio::test]
async fn lightpush_v2_crosses_the_relay() {
    crosses_the_relay(Sharding::Automatic, true).await;
}

#[tokio::test]
async fn lightpush_with_static_sharding_crosses_the_relay() {
    crosses_the_relay(Sharding::Static(3), false).await;
}

/// The client's own limit is about 1 MB, so the node has to refuse what its network does not carry.
#[tokio::test]
async fn a_message_that_is_too_long_is_refused_and_the_client_stays() {
    let stage = TestNetwork::start(Sharding::Automatic).await;
    let mut reader = stage.client(At::Far, "reader").await;
    reader.subscribe(TOPIC).await;
    let mut writer = stage.client(At::Edge, "writer").await;

    let push = |size: usize, is_legacy: bool| json!({"cmd": "lightpush", "topic": TOPIC, "size": size, "legacy": is_legacy});
    let fits = MESSAGE_BYTES_MAX - 1_000;
    for is_legacy in [false, true] {
        let result = writer.must("push what fits", push(fits, is_legacy)).await;
        assert!(is_pushed(&result), "{fits} bytes: {result}");
    }
    let received = |bytes: usize| move |event: &serde_json::Value| event["bytes"] == bytes;
    reader
        .event("receive what fits", "message", received(fits))
        .await;

    let too_long = MESSAGE_BYTES_MAX + 1;
    let result = writer
        .must("push one byte too many", push(too_long, false))
        .await;
    assert!(!is_pushed(&result), "{too_long} bytes: {result}");
    let answer = writer.last("lightpush-v3").unwrap();
    assert_eq!(answer["status"], 413, "{too_long} bytes: {answer}");
    let result = writer.must("push it by v2", push(too_long, true)).await;
    assert!(!is_pushed(&result), "{too_long} bytes: {result}");
    let answer = writer.last("lightpush-v2").unwrap();
    assert_eq!(answer["status"], 0, "{too_long} bytes: {answer}");

    // Far longer than any frame that carries a message of the network.
    let giant = 900_000;
    let result = writer.must("push a giant", push(giant, false)).await;
    assert!(!is_pushed(&result), "{giant} bytes: {result}");

    writer.lightpush(TOPIC, "after the refusals").await;
    reader
        .message("receive after the refusals", "after the refusals")
        .await;
    assert_eq!(
        writer.events("disconnected").len(),
        0,
        "the client was cut off"
    );
    let lengths: Vec<_> = reader
        .messages()
        .iter()
        .map(|message| message.bytes)
        .collect();
    let longest = u64::try_from(fits).unwrap();
    assert!(lengths.iter().all(|bytes| *bytes <= longest), "{lengths:?}");
    writer.quit().await;
    reader.quit().await;
}
