use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use undertone_message::WakuMessage;
use undertone_node::command::{PublishFailure, SubscribeFailure};
use undertone_node::handle::Stopped;

use crate::rest::support::{Api, Script, answer_ok, bad_request, config, shard};

const SUBSCRIPTIONS: &str = "/relay/v1/subscriptions";
const MESSAGES_0: &str = "/relay/v1/messages/%2Fwaku%2F2%2Frs%2F66%2F0";
const MESSAGES_1: &str = "/relay/v1/messages/%2Fwaku%2F2%2Frs%2F66%2F1";
const MESSAGE: &str = r#"{"payload": "aGk=", "contentTopic": "/a/1/b/proto", "timestamp": 5}"#;

async fn publish_with(outcome: PublishFailure) -> (StatusCode, String) {
    let api = Api::start(Script {
        publish: Some(Err(outcome)),
        ..Script::default()
    });
    api.post(MESSAGES_0, MESSAGE).await
}

#[tokio::test]
async fn messages_are_kept_from_subscription_to_unsubscription() {
    let api = Api::start(Script::default());
    assert_eq!(
        api.get(MESSAGES_1).await,
        (StatusCode::NOT_FOUND, String::new())
    );
    let topics = r#"["/waku/2/rs/66/1"]"#;
    assert_eq!(api.post(SUBSCRIPTIONS, topics).await, answer_ok());
    assert_eq!(api.post(SUBSCRIPTIONS, topics).await, answer_ok());
    api.deliver(shard(1), WakuMessage::new(&b"hi"[..], "/a/1/b/proto"));
    let expected = r#"[{"payload":"aGk=","contentTopic":"/a/1/b/proto","version":0,"#.to_owned()
        + r#""timestamp":0,"ephemeral":false,"proof":""}]"#;
    assert_eq!(api.get(MESSAGES_1).await, (StatusCode::OK, expected));
    assert_eq!(api.get(MESSAGES_1).await, (StatusCode::OK, "[]".into()));
    assert_eq!(api.delete(SUBSCRIPTIONS, topics).await, answer_ok());
    assert_eq!(api.get(MESSAGES_1).await.0, StatusCode::NOT_FOUND);
    assert_eq!(
        api.asked(),
        ["subscribe /waku/2/rs/66/1", "unsubscribe /waku/2/rs/66/1"]
    );
}

#[tokio::test]
async fn configured_topics_are_kept_from_the_start_and_the_oldest_dropped() {
    let api = Api::start(Script::default());
    for payload in 0..5u8 {
        api.deliver(shard(0), WakuMessage::new(vec![payload], "/a/1/b/proto"));
    }
    let (status, body) = api.get(MESSAGES_0).await;
    assert_eq!(status, StatusCode::OK);
    let messages: Vec<serde_json::Value> = serde_json::from_str(&body).unwrap();
    let payloads: Vec<_> = messages.iter().map(|message| &message["payload"]).collect();
    assert_eq!(payloads, ["Ag==", "Aw==", "BA=="]);
}

#[tokio::test]
async fn bad_topics_are_listed_and_nothing_is_done() {
    let api = Api::start(Script::default());
    let topics = r#"["/waku/2/rs/66/1", "nope", "/waku/2/rs/66"]"#;
    let expected = bad_request(r#"Invalid pubsub topic(s): @["nope", "/waku/2/rs/66"]"#);
    assert_eq!(api.post(SUBSCRIPTIONS, topics).await, expected);
    assert_eq!(api.delete(SUBSCRIPTIONS, topics).await, expected);
    assert!(api.asked().is_empty());
}

#[tokio::test]
async fn shards_of_other_clusters_and_numbers_are_subscribed_to_as_nwaku_does() {
    let network = "local";
    let foreign = undertone_message::Shard {
        cluster: 5,
        index: 0,
    };
    let api = Api::start(Script {
        subscribe: Err(SubscribeFailure::NotInNetwork {
            topic: foreign.into(),
            network,
        }),
        ..Script::default()
    });
    let topics = r#"["/waku/2/rs/5/0"]"#;
    assert_eq!(api.post(SUBSCRIPTIONS, topics).await, answer_ok());
    let path = "/relay/v1/messages/%2Fwaku%2F2%2Frs%2F5%2F0";
    assert_eq!(api.get(path).await, (StatusCode::OK, "[]".into()));

    let api = Api::start(Script::default());
    let topics = r#"["/waku/2/rs/66/1024"]"#;
    assert_eq!(api.post(SUBSCRIPTIONS, topics).await, answer_ok());
    assert_eq!(api.asked(), ["subscribe /waku/2/rs/66/1024"]);
    api.deliver(shard(1024), WakuMessage::new(&b"hi"[..], "/a/1/b/proto"));
    let path = "/relay/v1/messages/%2Fwaku%2F2%2Frs%2F66%2F1024";
    assert!(api.get(path).await.1.contains("aGk="));
    for odd in [
        "/waku/2/rs/66/65536",
        "/waku/2/rs/66/01024",
        "/waku/2/rs/66/+1",
    ] {
        let topics = format!(r#"["{odd}"]"#);
        let (status, _) = api.post(SUBSCRIPTIONS, &topics).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{odd}");
    }
}

#[tokio::test]
async fn a_refused_subscription_leaves_nothing_behind() {
    let failure = SubscribeFailure::TooMany { max: 1 };
    let api = Api::start(Script {
        subscribe: Err(failure),
        ..Script::default()
    });
    let (status, text) = api.post(SUBSCRIPTIONS, r#"["/waku/2/rs/66/1"]"#).await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(
        text.starts_with("Subscribe failed:already subscribed to 1 topics"),
        "{text}"
    );
    assert_eq!(api.get(MESSAGES_1).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_message_reaches_the_node_as_it_was_written() {
    let api = Api::start(Script::default());
    assert_eq!(api.post(MESSAGES_0, MESSAGE).await, answer_ok());
    let published = api.published.lock().unwrap();
    let expected = WakuMessage {
        version: Some(0),
        timestamp: Some(5),
        ephemeral: Some(false),
        ..WakuMessage::new(&b"hi"[..], "/a/1/b/proto")
    };
    assert_eq!(*published, [(shard(0), expected)]);
}

#[tokio::test]
async fn each_failure_to_publish_has_its_status_and_text() {
    use PublishFailure as F;
    let reason = || "why".to_owned();
    let cases = [
        (
            F::NotSubscribed { topic: shard(0) },
            400,
            "Failed to publish: Node not subscribed to topic: /waku/2/rs/66/0",
        ),
        (
            F::TooLarge {
                size_bytes: 153_601,
                max_bytes: 153_600,
            },
            400,
            "Failed to publish: Message size exceeded maximum of 153600 bytes",
        ),
        (
            F::InvalidMessage { reason: reason() },
            400,
            "Failed to publish: why",
        ),
        (
            F::RlnProof { reason: reason() },
            500,
            "Failed to publish: error appending RLN proof to message: why",
        ),
        (
            F::RateLimit {
                limit: 100,
                resets_in_s: 7,
            },
            429,
            "Failed to publish: error appending RLN proof to message: NonceLimitReached: Nonce \
             limit reached. Please wait for the next epoch. requested nonce: 100 & nonceLimit: 100 \
             (all 100 messages of this epoch are used, the next one begins in 7 s)",
        ),
        (F::Timeout, 500, "Failed to publish: timedout"),
        (
            F::Stopped(Stopped),
            503,
            "Failed to publish: the node is shutting down",
        ),
        (F::NoPeers, 200, "OK"),
        (F::Duplicate, 200, "OK"),
    ];
    for (failure, status, text) in cases {
        let answer = publish_with(failure).await;
        assert_eq!((answer.0.as_u16(), answer.1.as_str()), (status, text));
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_does_not_answer_is_a_timeout() {
    let api = Api::start(Script {
        publish: None,
        ..Script::default()
    });
    let expected = (
        StatusCode::INTERNAL_SERVER_ERROR,
        "Failed to publish: timedout".into(),
    );
    let start = tokio::time::Instant::now();
    assert_eq!(api.post(MESSAGES_0, MESSAGE).await, expected);
    assert_eq!(start.elapsed().as_secs(), 5, "by the paused clock");
}

#[tokio::test]
async fn a_bad_body_is_explained_and_not_published() {
    let api = Api::start(Script::default());
    let prefix = "Invalid content body, could not decode: Unable to deserialize data: ";
    for (body, expected) in [
        ("", "Missing content body".to_owned()),
        (
            r#"{"payload": "aGk="}"#,
            format!("{prefix}Field `contentTopic` is missing or empty"),
        ),
        (
            r#"{"payload": "aGk=", "payload": "aGk=", "contentTopic": "t"}"#,
            format!("{prefix}Multiple `payload` fields found"),
        ),
        (
            r#"{"payload": "a", "contentTopic": "t"}"#,
            "Incorrect base64 string".to_owned(),
        ),
        ("{", format!("{prefix}EOF while parsing")),
    ] {
        let (status, text) = api.post(MESSAGES_0, body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        assert!(text.starts_with(&expected), "{body}: {text}");
    }
    let nowhere = "/relay/v1/messages/%2Fwaku%2F2%2Frs%2Fx";
    assert_eq!(
        api.post(nowhere, MESSAGE).await,
        bad_request("Failed to publish: Node not subscribed to topic: /waku/2/rs/x")
    );
    assert!(api.asked().is_empty());
}

#[tokio::test]
async fn only_what_is_declared_as_json_is_read() {
    let api = Api::start(Script::default());
    let request = |media_type: Option<&str>| {
        let builder = Request::post(MESSAGES_0);
        let builder = match media_type {
            Some(media_type) => builder.header("content-type", media_type),
            None => builder,
        };
        builder.body(Body::from(MESSAGE)).unwrap()
    };
    let expected = (
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "Wrong Content-Type, expected application/json".to_owned(),
    );
    for media_type in [
        None,
        Some("text/plain"),
        Some("text/plain; charset=utf-8"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=x"),
    ] {
        assert_eq!(
            api.send(request(media_type)).await,
            expected,
            "{media_type:?}"
        );
    }
    assert!(api.asked().is_empty());
}

#[tokio::test]
async fn a_body_longer_than_any_message_is_refused() {
    let mut small = config();
    small.network.max_message_bytes = 1024;
    let api = Api::with_config(Script::default(), small);
    let payload = "A".repeat(2 * 1024 + 64 * 1024);
    let body = format!(r#"{{"payload": "{payload}", "contentTopic": "t"}}"#);
    let text = "Failed to publish: Message size exceeded maximum of 1024 bytes";
    assert_eq!(api.post(MESSAGES_0, &body).await, bad_request(text));
    let topics = format!(r#"["{payload}"]"#);
    let (status, _) = api.post(SUBSCRIPTIONS, &topics).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(api.asked().is_empty());
}

#[tokio::test]
async fn a_stopped_node_is_unavailable() {
    let (handle, endpoint) = undertone_node::handle::node_channel();
    drop(endpoint);
    let router = undertone_node::rest::router(handle, config());
    let request = Request::get("/info").body(Body::empty()).unwrap();
    let response = tower::ServiceExt::oneshot(router, request).await.unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
}
