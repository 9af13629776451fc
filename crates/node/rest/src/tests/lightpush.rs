use serde_json::json;

use super::*;
use crate::fake::{Fake, ServiceCall, shard};
use undertone_provider::services::MountedServices;

const V1: &str = "/lightpush/v1/message";
const V3: &str = "/lightpush/v3/message";
const BODY: &str = r#"{"pubsubTopic": "/waku/2/rs/66/1",
    "message": {"payload": "aGk=", "contentTopic": "/app/1/chat/proto", "timestamp": 5}}"#;
const PEER: &str = "16Uiu2HAmCzWcYBCw3xKW8De16X9wtcbQrqD8x7CRRv4xpsFJ4oN8";

fn answering(outcome: Result<u32, ServiceFailure>) -> Fake {
    Fake::new(MountedServices::default(), move |call| match call {
        ServiceCall::Push {
            version,
            pubsub_topic,
            message,
            reply,
        } => {
            let _ = reply.send(outcome.clone());
            format!("{version:?} {pubsub_topic:?} {message:?}")
        }
        other => panic!("{other:?}"),
    })
}

fn message() -> WakuMessage {
    WakuMessage {
        timestamp: Some(5),
        version: Some(0),
        ephemeral: Some(false),
        ..WakuMessage::new("hi", "/app/1/chat/proto")
    }
}

#[tokio::test]
async fn a_message_goes_to_the_peer_and_the_answer_has_the_count() {
    let fake = answering(Ok(4));
    assert_eq!(fake.ask("POST", V1, BODY).await, (200, json!("OK")));
    let answer = fake.ask("POST", V3, BODY).await;
    assert_eq!(answer, (200, json!({"relayPeerCount": 4})));
    let topic = Some(shard(1));
    let expected = ["V2", "V3"].map(|version| format!("{version} {topic:?} {:?}", message()));
    assert_eq!(fake.asked(), expected);
}

#[tokio::test]
async fn the_topic_may_be_missing_or_empty() {
    let fake = answering(Ok(1));
    for topic in ["", r#""pubsubTopic": "","#] {
        let body = format!(
            r#"{{{topic} "message": {{"payload": "aGk=", "contentTopic": "/app/1/chat/proto", "timestamp": 5}}}}"#
        );
        assert_eq!(fake.ask("POST", V3, &body).await.0, 200);
    }
    let expected = format!("V3 None {:?}", message());
    assert_eq!(fake.asked(), [expected.clone(), expected]);
}

#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    let fake = answering(Ok(1));
    for body in ["", "{}", "[]", r#"{"message": {"payload": "aGk="}}"#] {
        let (status, answer) = fake.ask("POST", V3, body).await;
        let text = answer["statusDesc"].as_str().unwrap();
        assert_eq!(status, 400, "{body}");
        assert!(text.starts_with("Invalid push request! "), "{text}");
        let (status, text) = fake.ask("POST", V1, body).await;
        assert_eq!(status, 400, "{body}");
        let text = text.as_str().unwrap();
        assert!(
            text == "Missing content body" || text.starts_with("Invalid content body"),
            "{text}"
        );
    }
    let bad_payload = r#"{"message": {"payload": "!", "contentTopic": "/a/1/b/c"}}"#;
    let (status, answer) = fake.ask("POST", V3, bad_payload).await;
    let text = "Invalid message! Incorrect base64 string";
    assert_eq!((status, answer), (400, json!({"statusDesc": text})));
    let (status, answer) = fake.ask("POST", V1, bad_payload).await;
    let text = "Invalid message: Incorrect base64 string";
    assert_eq!((status, answer), (400, json!(text)));
    let long = format!(r#"{{"message": "{}"}}"#, "a".repeat(3_000_000));
    assert_eq!(fake.ask("POST", V3, &long).await.0, 413);
    let (status, text) = fake.ask("POST", V1, &long).await;
    assert_eq!(status, 400);
    let text = text.as_str().unwrap();
    assert!(
        text.starts_with("Failed to publish: Message size exceeded"),
        "{text}"
    );
    assert!(fake.asked().is_empty());
}

#[tokio::test]
async fn failures_have_the_statuses_of_nwaku() {
    let peer: libp2p::PeerId = PEER.parse().unwrap();
    let refused = |status, description: &str| ServiceFailure::Refused {
        status,
        description: description.into(),
    };
    let failed = |reason: &str| format!("Failed to request a message push: {reason}");
    for (failure, v1, v3) in [
        (
            refused(421, "unknown topic"),
            (503, failed("unknown topic")),
            (421, "unknown topic".to_owned()),
        ),
        (
            refused(429, "slow down"),
            (429, "Request rate limmit reached".into()),
            (429, "slow down".into()),
        ),
        (refused(200, "no"), (503, failed("no")), (500, "no".into())),
        (
            refused(4_000_000, "no"),
            (503, failed("no")),
            (500, "no".into()),
        ),
        (
            ServiceFailure::NoPeer {
                service: "lightpush",
            },
            (503, NO_PEER.into()),
            (503, NO_PEER.into()),
        ),
        (
            ServiceFailure::TimedOut { peer, timeout_s: 5 },
            (503, TIMED_OUT.into()),
            (503, TIMED_OUT.into()),
        ),
        (
            ServiceFailure::Dial {
                peer,
                reason: "refused".into(),
            },
            (503, failed("dial_failure")),
            (505, format!("dial_failure: {PEER} is not accessible")),
        ),
        (
            ServiceFailure::Topic("which topic?".into()),
            (400, "which topic?".into()),
            (400, "which topic?".into()),
        ),
    ] {
        let fake = answering(Err(failure.clone()));
        let (status, text) = v1;
        assert_eq!(
            fake.ask("POST", V1, BODY).await,
            (status, json!(text)),
            "{failure:?}"
        );
        let (status, text) = v3;
        let answer = fake.ask("POST", V3, BODY).await;
        assert_eq!(answer, (status, json!({"statusDesc": text})), "{failure:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_is_silent_is_not_waited_for() {
    let mut unanswered = Vec::new();
    let fake = Fake::new(MountedServices::default(), move |call| {
        unanswered.push(call);
        String::new()
    });
    assert_eq!(fake.ask("POST", V1, BODY).await, (503, json!(TIMED_OUT)));
    let answer = fake.ask("POST", V3, BODY).await;
    assert_eq!(answer, (503, json!({"statusDesc": TIMED_OUT})));
}
