use axum::http::StatusCode;
use undertone_message::WakuMessage;
use undertone_node::command::PublishFailure;

use crate::rest::support::{Api, Script, answer_ok, bad_request, config, shard};

const SUBSCRIPTIONS: &str = "/relay/v1/auto/subscriptions";
const MESSAGES: &str = "/relay/v1/auto/messages";
/// Carried by shard 3 of 8.
const TOPIC: &str = "/toychat/2/huilong/proto";
const TOPIC_PATH: &str = "/relay/v1/auto/messages/%2Ftoychat%2F2%2Fhuilong%2Fproto";

#[tokio::test]
async fn a_content_topic_is_carried_by_its_shard() {
    let api = Api::start(Script::default());
    let topics = format!(r#"["{TOPIC}"]"#);
    assert_eq!(
        api.get(TOPIC_PATH).await,
        (StatusCode::NOT_FOUND, TOPIC.into())
    );
    assert_eq!(api.post(SUBSCRIPTIONS, &topics).await, answer_ok());
    api.deliver(shard(3), WakuMessage::new(&b"hi"[..], TOPIC));
    api.deliver(
        shard(3),
        WakuMessage::new(&b"hi"[..], "/toychat/2/other/proto"),
    );
    let (status, body) = api.get(TOPIC_PATH).await;
    assert_eq!(status, StatusCode::OK);
    let messages: Vec<serde_json::Value> = serde_json::from_str(&body).unwrap();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["contentTopic"], TOPIC);
    assert_eq!(api.delete(SUBSCRIPTIONS, &topics).await, answer_ok());
    assert_eq!(api.get(TOPIC_PATH).await.0, StatusCode::NOT_FOUND);
    assert_eq!(
        api.asked(),
        ["subscribe /waku/2/rs/66/3", "unsubscribe /waku/2/rs/66/3"]
    );
}

#[tokio::test]
async fn a_shard_is_left_with_its_last_topic_only() {
    let api = Api::start(Script::default());
    let both = format!(r#"["{TOPIC}", "/toychat/2/other/proto"]"#);
    api.post(SUBSCRIPTIONS, &both).await;
    api.delete(SUBSCRIPTIONS, &format!(r#"["{TOPIC}"]"#)).await;
    assert!(
        !api.asked()
            .contains(&"unsubscribe /waku/2/rs/66/3".to_owned())
    );
    api.delete(SUBSCRIPTIONS, r#"["/toychat/2/other/proto"]"#)
        .await;
    assert_eq!(api.asked().last().unwrap(), "unsubscribe /waku/2/rs/66/3");
}

#[tokio::test]
async fn a_message_is_published_on_its_shard() {
    let api = Api::start(Script::default());
    let body = format!(r#"{{"payload": "aGk=", "contentTopic": "{TOPIC}"}}"#);
    assert_eq!(api.post(MESSAGES, &body).await, answer_ok());
    assert_eq!(api.asked(), ["publish first /waku/2/rs/66/3"]);
    assert!(
        api.published.lock().unwrap()[0].1.timestamp_ns() > 0,
        "stamped with the time"
    );
}

#[tokio::test]
async fn a_message_is_stamped_by_the_nodes_own_clock() {
    const YEAR_NS: i64 = 365 * 86_400 * 1_000_000_000;
    let stamped = async |clock_ahead_ns| {
        let config = undertone_node::rest::RestConfig {
            clock_ahead_ns,
            ..config()
        };
        let api = Api::with_config(Script::default(), config);
        let body = format!(r#"{{"payload": "aGk=", "contentTopic": "{TOPIC}"}}"#);
        assert_eq!(api.post(MESSAGES, &body).await, answer_ok());
        let published = api.published.lock().unwrap();
        published[0].1.timestamp_ns()
    };
    let right_ns = stamped(0).await;
    let ahead_ns = stamped(2 * YEAR_NS).await;
    assert!(ahead_ns - right_ns > YEAR_NS, "{right_ns} {ahead_ns}");
}

#[tokio::test]
async fn a_topic_that_is_not_one_has_no_shard() {
    let api = Api::start(Script::default());
    assert_eq!(
        api.post(MESSAGES, r#"{"payload": "aGk=", "contentTopic": "nope"}"#)
            .await,
        bad_request(
            "Failed to publish. Autosharding error: invalid format: content-topic 'nope' must \
             start with slash"
        )
    );
    assert_eq!(
        api.post(SUBSCRIPTIONS, &format!(r#"["{TOPIC}", "/1/a/1/b/c"]"#))
            .await,
        (
            StatusCode::INTERNAL_SERVER_ERROR,
            "Subscribe failed:Failed to decode subscription event: Autosharding error: \
             Generation > 0 are not supported yet"
                .into()
        )
    );
    assert!(api.asked().is_empty());
}

#[tokio::test]
async fn a_message_that_finds_no_room_to_wait_is_refused() {
    let api = Api::start(Script {
        publish: Some(Err(PublishFailure::NoPeers)),
        ..Script::default()
    });
    let body = format!(r#"{{"payload": "aGk=", "contentTopic": "{TOPIC}"}}"#);
    assert_eq!(
        api.post(MESSAGES, &body).await,
        bad_request("Failed to publish: publish failed in relay: NoPeersToPublish")
    );
}

#[tokio::test]
async fn static_sharding_has_no_carriers() {
    let config = undertone_node::rest::RestConfig {
        autosharding: false,
        ..config()
    };
    let api = Api::with_config(Script::default(), config);
    let body = format!(r#"{{"payload": "aGk=", "contentTopic": "{TOPIC}"}}"#);
    let (status, text) = api.post(MESSAGES, &body).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(text.contains("Static sharding is used"), "{text}");
    assert!(api.asked().is_empty());
}
