use serde_json::{Value, json};
use undertone_message::WakuMessage;
use undertone_network::handle::Stopped;

use super::*;
use crate::fake::{Fake, ServiceCall, shard};
use undertone_provider::services::{FilterCriterion, FilterSubscriber, LightCall, MountedServices};

const PATH: &str = "/filter/v2/subscriptions";
const TOPIC: &str = "/app/1/chat/proto";
const MESSAGES: &str = "/filter/v2/messages/%2Fapp%2F1%2Fchat%2Fproto";
const PEER: &str = "16Uiu2HAmCzWcYBCw3xKW8De16X9wtcbQrqD8x7CRRv4xpsFJ4oN8";

fn answering(outcome: Result<(), ServiceFailure>) -> Fake {
    Fake::new(MountedServices::default(), move |call| match call {
        ServiceCall::Light(LightCall::Subscribe(criteria, reply)) => {
            let _ = reply.send(outcome.clone());
            format!("subscribe {criteria:?}")
        }
        ServiceCall::Light(LightCall::Unsubscribe(criteria, reply)) => {
            let _ = reply.send(outcome.clone());
            format!("unsubscribe {criteria:?}")
        }
        ServiceCall::Light(LightCall::UnsubscribeAll(reply)) => {
            let _ = reply.send(outcome.clone());
            "unsubscribe all".into()
        }
        ServiceCall::Light(LightCall::Ping(reply)) => {
            let _ = reply.send(outcome.clone());
            "ping".into()
        }
        other => panic!("{other:?}"),
    })
}

fn request() -> String {
    json!({"requestId": "7", "contentFilters": [TOPIC], "pubsubTopic": "/waku/2/rs/66/0"})
        .to_string()
}

fn told(status: u16, request_id: &str, text: &str) -> (u16, Value) {
    (status, json!({"requestId": request_id, "statusDesc": text}))
}

#[tokio::test]
async fn pushed_messages_of_a_subscribed_topic_are_fetched_once_and_without_proof() {
    let fake = answering(Ok(()));
    let missing = (400, json!(format!("Not subscribed to topic: {TOPIC}")));
    assert_eq!(fake.get(MESSAGES).await, missing);
    assert_eq!(
        fake.ask("POST", PATH, &request()).await,
        told(200, "7", "OK")
    );
    let message = WakuMessage {
        timestamp: Some(5),
        rate_limit_proof: Some(vec![1].into()),
        ..WakuMessage::new("hi", TOPIC)
    };
    fake.push(shard(0), message.clone());
    fake.push(shard(0), WakuMessage::new("ho", "/app/1/other/proto"));
    let expected = json!([{"payload": "aGk=", "contentTopic": TOPIC, "version": 0, "timestamp": 5,
        "ephemeral": false}]);
    assert_eq!(fake.get(MESSAGES).await, (200, expected));
    assert_eq!(fake.get(MESSAGES).await, (200, json!([])));
    fake.push(shard(0), message);
    assert_eq!(
        fake.ask("DELETE", PATH, &request()).await,
        told(200, "7", "OK")
    );
    assert_eq!(fake.get(MESSAGES).await, missing);
}

#[tokio::test]
async fn each_method_reaches_the_filter_peer() {
    let fake = answering(Ok(()));
    let derived =
        json!({"requestId": "8", "contentFilters": [TOPIC], "pubsubTopic": ""}).to_string();
    fake.ask("POST", PATH, &request()).await;
    fake.ask("PUT", PATH, &derived).await;
    fake.ask("DELETE", PATH, &request()).await;
    let all = r#"{"requestId": "9"}"#;
    let answer = fake.ask("DELETE", &format!("{PATH}/all"), all).await;
    assert_eq!(answer, told(200, "9", "OK"));
    assert_eq!(fake.get(&format!("{PATH}/10")).await, told(200, "10", "OK"));
    let criteria = |topic: PubsubTopic| {
        [FilterCriterion {
            pubsub_topic: topic.to_string().into(),
            content_topic: TOPIC.into(),
        }]
    };
    let (named, derived) = (criteria(shard(0)), criteria(shard(4)));
    assert_eq!(
        fake.asked(),
        [
            format!("subscribe {named:?}"),
            format!("subscribe {derived:?}"),
            format!("unsubscribe {named:?}"),
            "unsubscribe all".into(),
            "ping".into(),
        ]
    );
}

#[tokio::test]
async fn unsubscribing_from_all_forgets_messages() {
    let fake = answering(Ok(()));
    fake.ask("POST", PATH, &request()).await;
    fake.push(shard(0), WakuMessage::new("hi", TOPIC));
    fake.ask("DELETE", &format!("{PATH}/all"), r#"{"requestId": "9"}"#)
        .await;
    assert_eq!(fake.get(MESSAGES).await.0, 400);
    fake.ask("POST", PATH, &request()).await;
    assert_eq!(fake.get(MESSAGES).await, (200, json!([])));
}

#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    let fake = answering(Ok(()));
    for (body, text) in [
        ("", "Missing content body"),
        ("{}", "missing field `requestId`"),
        (r#"{"requestId": "1"}"#, "missing field `contentFilters`"),
        (
            r#"{"requestId": "1", "contentFilters": []}"#,
            "Field `contentFilters` is empty",
        ),
        (
            r#"{"requestId": 1, "contentFilters": ["/a"]}"#,
            "invalid type",
        ),
        (
            r#"{"requestId": "1", "contentFilters": ["/a"], "extraField": 1}"#,
            "unknown field `extraField`",
        ),
    ] {
        for method in ["POST", "PUT", "DELETE"] {
            let (status, answer) = fake.ask(method, PATH, body).await;
            assert_eq!((status, &answer["requestId"]), (400, &json!("unknown")));
            let desc = answer["statusDesc"].as_str().unwrap();
            assert!(
                desc.starts_with("BAD_REQUEST: Failed to decode request: "),
                "{desc}"
            );
            assert!(desc.contains(text), "{desc}");
        }
    }
    let more = r#"{"requestId": "1", "extraField": 1}"#;
    let all = "/filter/v2/subscriptions/all";
    assert_eq!(fake.ask("DELETE", all, more).await.0, 400);
    assert!(fake.asked().is_empty());
}

#[tokio::test]
async fn failures_have_the_statuses_of_nwaku_and_keep_nothing() {
    let peer: libp2p::PeerId = PEER.parse().unwrap();
    let refused = |status, description: &str| ServiceFailure::Refused {
        status,
        description: description.into(),
    };
    for (failure, status, text) in [
        (
            ServiceFailure::NoPeer { service: "filter" },
            503,
            "SERVICE_UNAVAILABLE: No suitable service peer & none discovered",
        ),
        (
            ServiceFailure::Dial {
                peer,
                reason: "refused".into(),
            },
            504,
            PEER,
        ),
        (refused(400, "bad"), 400, "bad"),
        (
            refused(404, "peer has no subscriptions"),
            404,
            "peer has no subscriptions",
        ),
        (refused(429, "slow down"), 429, "slow down"),
        (refused(503, "full"), 503, "full"),
        (refused(300, "odd"), 500, "odd"),
        (
            ServiceFailure::Topic("which topic?".into()),
            400,
            "BAD_REQUEST: which topic?",
        ),
        (
            ServiceFailure::Stopped(Stopped),
            503,
            "SERVICE_UNAVAILABLE: the node is shutting down",
        ),
    ] {
        let fake = answering(Err(failure.clone()));
        let answer = fake.ask("POST", PATH, &request()).await;
        assert_eq!(answer, told(status, "7", text), "{failure:?}");
        assert_eq!(fake.get(MESSAGES).await.0, 400, "{failure:?}");
        let answer = fake.get(&format!("{PATH}/8")).await;
        assert_eq!(answer, told(status, "8", text), "{failure:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_is_silent_is_not_waited_for() {
    let mut unanswered = Vec::new();
    let fake = Fake::new(MountedServices::default(), move |call| {
        unanswered.push(call);
        String::new()
    });
    let late = |id, text: &str| told(503, id, &format!("SERVICE_UNAVAILABLE: {text}"));
    let answer = fake.ask("POST", PATH, &request()).await;
    assert_eq!(answer, late("7", "Subscription request timed out"));
    let answer = fake.get(&format!("{PATH}/8")).await;
    assert_eq!(answer, late("8", "Ping timed out"));
    let answer = fake.ask("DELETE", PATH, &request()).await;
    let text = "Failed to unsubscribe from contentFilters due to timeout!";
    assert_eq!(answer, late("7", text));
}

#[tokio::test]
async fn subscribers_of_this_node_are_listed_for_admins() {
    let subscriber = FilterSubscriber {
        peer: PEER.parse().unwrap(),
        criteria: vec![FilterCriterion {
            pubsub_topic: "/waku/2/rs/66/0".into(),
            content_topic: TOPIC.into(),
        }],
    };
    for (subscribers, expected) in [
        (
            Some(vec![subscriber]),
            (
                200,
                json!([{"peerId": PEER, "filterCriteria":
                [{"pubsubTopic": "/waku/2/rs/66/0", "contentTopic": TOPIC}]}]),
            ),
        ),
        (
            None,
            (
                400,
                json!("Error: Filter Protocol is not mounted to the node"),
            ),
        ),
    ] {
        let fake = Fake::new(MountedServices::default(), move |call| match call {
            ServiceCall::Subscribers { reply } => {
                let _ = reply.send(subscribers.clone());
                String::new()
            }
            other => panic!("{other:?}"),
        });
        assert_eq!(fake.get("/admin/v1/filter/subscriptions").await, expected);
    }
}
