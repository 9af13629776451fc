//! Requests under `/messaging/v1` before a sender that answers as told.

use serde_json::json;
use undertone_message::MessageHash;
use undertone_network::handle::Stopped;

use super::*;
use crate::fake::{Fake, shard};
use undertone_provider::services::{FailReason, MountedServices, Unconfirmed};

const MESSAGE: &str = r#"{"payload":"aGk=","contentTopic":"/my-app/1/chat/proto"}"#;

fn report(id: u64, step: SendStep, at_ns: u64) -> SendReport {
    SendReport {
        number: at_ns,
        id: SendId(id),
        step,
        hash: (step != SendStep::Queued).then_some(MessageHash([7; 32])),
        at_ns,
    }
}

fn api() -> Fake {
    Fake::new(MountedServices::default(), |_| String::new())
}

#[tokio::test]
async fn a_message_is_accepted_with_the_id_that_its_events_have() {
    let api = api();
    api.accepts(|message| {
        assert_eq!(&message.payload[..], b"hi");
        assert_eq!(message.timestamp, None, "the sender chooses it");
        Ok(SendId(0x2a))
    });
    let (status, body) = api.ask("POST", "/messaging/v1/messages", MESSAGE).await;
    assert_eq!(
        (status, body),
        (200, json!({"requestId": "000000000000002a"}))
    );
}

#[tokio::test]
async fn what_cannot_be_accepted_is_refused_with_the_reason() {
    let api = api();
    let post = async |body: &str| api.ask("POST", "/messaging/v1/messages", body).await;
    api.accepts(|_| Err(SendError::QueueFull { max: 1000 }.into()));
    let full = "Send queue full, retry later: the send queue holds 1000 messages, its most";
    assert_eq!(post(MESSAGE).await, (429, json!(full)));
    api.accepts(|_| Err(SendFailure::Stopped(Stopped)));
    let stopped = "Send failed: the node is shutting down";
    assert_eq!(post(MESSAGE).await, (503, json!(stopped)));
    for (body, text) in [
        (
            r#"{"payload":"?","contentTopic":"/a/1/b/c"}"#,
            "Invalid message: Incorrect base64 string",
        ),
        (
            r#"{"payload":"aGk=","contentTopic":"nonsense"}"#,
            "Invalid message: invalid content topic: 'nonsense'",
        ),
        (
            r#"{"payload":"","contentTopic":"/a/1/b/c"}"#,
            "Invalid content body",
        ),
        (r#"{"payload":"aGk="}"#, "Invalid content body"),
        (
            r#"{"payload":"aGk=","contentTopic":"/a/1/b/c","timestamp":1}"#,
            "Invalid content body",
        ),
        (
            r#"{"payload":"aGk=","contentTopic":"/a/1/b/c","meta":null}"#,
            "Invalid content body",
        ),
    ] {
        let (status, said) = post(body).await;
        let said = said.as_str().unwrap().to_owned();
        assert!(
            status == 400 && said.starts_with(text),
            "{body}: {status} {said}"
        );
    }
}

#[tokio::test]
async fn events_are_grouped_by_message_and_gone_after_they_are_fetched() {
    let api = api();
    api.reports(vec![
        report(1, SendStep::Queued, 10),
        report(2, SendStep::Queued, 11),
        report(1, SendStep::Sent, 12),
        report(1, SendStep::Propagated, 13),
        report(1, SendStep::Stored, 14),
        report(2, SendStep::Failed(FailReason::Refused), 15),
        report(3, SendStep::PropagatedOnly(Unconfirmed::NoStore), 16),
    ]);
    let hash = MessageHash([7; 32]).to_string();
    let one = json!({"requestId": "0000000000000002", "events": [
        {"kind": "queued", "messageHash": "", "timestamp": 11, "isEnd": false},
        {"kind": "error", "messageHash": hash, "error": "the message was refused as invalid or too large",
         "timestamp": 15, "isEnd": true},
    ]});
    let path = "/messaging/v1/events/send/0000000000000002";
    assert_eq!(api.get(path).await, (200, one));
    let gone = "No send events for requestId: 0000000000000002";
    assert_eq!(api.get(path).await, (404, json!(gone)));
    let nonsense = "No send events for requestId: nonsense";
    assert_eq!(
        api.get("/messaging/v1/events/send/nonsense").await,
        (404, json!(nonsense))
    );
    let all = json!([
        {"requestId": "0000000000000001", "events": [
            {"kind": "queued", "messageHash": "", "timestamp": 10, "isEnd": false},
            {"kind": "propagated", "messageHash": hash, "timestamp": 13, "isEnd": false},
            {"kind": "sent", "messageHash": hash, "timestamp": 14, "isEnd": true},
        ]},
        {"requestId": "0000000000000003", "events": [
            {"kind": "propagated", "messageHash": hash, "error": "not confirmed by a store: none is known",
             "timestamp": 16, "isEnd": true},
        ]},
    ]);
    assert_eq!(api.get("/messaging/v1/events/send").await, (200, all));
    assert_eq!(api.get("/messaging/v1/events/send").await, (200, json!([])));
}

#[tokio::test]
async fn received_messages_are_kept_once_up_to_the_capacity_and_given_once() {
    let messages = ReceivedMessages::new(2);
    let subscribed = messages.subscribe("/a/1/b/c", shard(1));
    assert_eq!(subscribed, Ok(true));
    assert!(messages.wants(&shard(1)) && !messages.wants(&shard(2)));
    let deliver = |text: &str, carrier: u16, topic: &str| {
        let message = WakuMessage::new(text.as_bytes().to_vec(), topic);
        let now = std::time::Instant::now();
        messages.keep(&std::sync::Arc::new(undertone_network::handle::Delivery {
            pubsub_topic: shard(carrier),
            message,
            id: undertone_gossip::MessageId([0; 32]),
            from: None,
            received: now,
            validated: now,
        }));
    };
    deliver("elsewhere", 2, "/a/1/b/c");
    deliver("other", 1, "/a/1/other/c");
    for text in ["one", "two", "two", "three"] {
        deliver(text, 1, "/a/1/b/c");
    }
    let texts = || {
        let taken = messages.take().into_iter();
        let text =
            |one: ReceivedEntry| String::from_utf8(one.delivery.message.payload.to_vec()).unwrap();
        taken.map(text).collect::<Vec<_>>()
    };
    assert_eq!(texts(), ["two", "three"]);
    assert_eq!(texts(), [""; 0]);
    assert!(messages.unsubscribe("/a/1/b/c"));
    deliver("late", 1, "/a/1/b/c");
    assert_eq!(texts(), [""; 0]);
}

#[tokio::test]
async fn steps_are_streamed_from_the_cursor_on_without_a_miss() {
    use futures::StreamExt as _;

    let api = api();
    api.reports(vec![
        report(1, SendStep::Queued, 10),
        report(1, SendStep::Propagated, 13),
    ]);
    let response = api.open("/events/v1/sent?cursor=10").await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut pieces = response.into_body().into_data_stream();
    let mut next = async || {
        let piece = pieces.next().await.unwrap().unwrap();
        String::from_utf8(piece.to_vec()).unwrap()
    };
    assert_eq!(next().await, "retry: 1000\nid: 10\n\n");
    let hash = MessageHash([7; 32]);
    let event = |kind: &str, number: u64, is_end: bool| {
        format!(
            "id: {number}\ndata: {{\"requestId\":\"0000000000000001\",\"kind\":\"{kind}\",\"messageHash\":\"{hash}\",\
             \"timestamp\":{number},\"isEnd\":{is_end}}}\n\n"
        )
    };
    assert_eq!(next().await, event("propagated", 13, false));
    // A step that was read already, one that is not told, and one that is.
    api.tell(report(1, SendStep::Propagated, 13));
    api.tell(report(1, SendStep::Sent, 14));
    api.tell(report(1, SendStep::Stored, 15));
    assert_eq!(next().await, event("sent", 15, true));

    let fresh = api.open("/events/v1/sent").await;
    let mut pieces = fresh.into_body().into_data_stream();
    let greeting = pieces.next().await.unwrap().unwrap();
    assert_eq!(&greeting[..], b"retry: 1000\nid: 13\n\n");
    let (status, said) = api.get("/events/v1/sent?cursor=nonsense").await;
    let text = "Invalid cursor: \"nonsense\" is not the id of an event";
    assert_eq!((status, said), (400, json!(text)));
}
