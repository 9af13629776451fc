use serde_json::json;
use undertone_message::WakuMessage;
use undertone_services::history::{HistoryCriteria, HistoryQuery};

use super::super::tests::{TOPIC, answering, data, message, page};
use super::*;

const PATH: &str = "/store/v1/messages";

#[tokio::test]
async fn a_page_has_the_shape_of_the_legacy_store() {
    let proved = WakuMessage {
        rate_limit_proof: Some(vec![1].into()),
        ..message("hi", 5)
    };
    let last = data(message("ho", 6));
    let hash = last.hash;
    let fake = answering(Ok(page(vec![data(proved), last], Some(hash))));
    let (status, body) = fake.get(PATH).await;
    assert_eq!(status, 200);
    let shape = |payload: &str, timestamp: i64| json!({"payload": payload, "contentTopic": TOPIC, "version": 0, "timestamp": timestamp, "ephemeral": false});
    let expected = json!({
        "messages": [shape("aGk=", 5), shape("aG8=", 6)],
        "cursor": {
            "pubsubTopic": "/waku/2/rs/66/0",
            "senderTime": 6,
            "storeTime": 6,
            "digest": {"data": STANDARD.encode(hash.0)},
        },
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn the_last_page_has_no_cursor() {
    let fake = answering(Ok(page(vec![data(message("hi", 5))], None)));
    let (_, body) = fake.get(PATH).await;
    assert!(body.get("cursor").is_none(), "{body}");
}

#[tokio::test]
async fn every_parameter_reaches_the_store() {
    let fake = answering(Ok(page(Vec::new(), None)));
    let query = "pubsubTopic=%2Fwaku%2F2%2Frs%2F66%2F0&contentTopics=%2Fa,%2Fb&startTime=5&endTime=9&ascending=false&pageSize=7";
    // Base64 with a plus sign, a slash and padding: percent-encoded twice, once, and not at all.
    let hash = MessageHash([0xfb; 32]);
    let base64 = STANDARD.encode(hash.0);
    let once = base64
        .replace('+', "%2B")
        .replace('/', "%2F")
        .replace('=', "%3D");
    let twice = once.replace('%', "%25");
    let cursor = "senderTime=6&storeTime=6&digest=";
    for digest in [&twice, &once, &base64] {
        let (status, body) = fake.get(&format!("{PATH}?{query}&{cursor}{digest}")).await;
        assert_eq!(status, 200, "{digest}: {body}");
    }
    let expected = HistoryQuery {
        include_data: true,
        criteria: HistoryCriteria::Content(ContentCriteria {
            pubsub_topic: Some("/waku/2/rs/66/0".into()),
            content_topics: vec!["/a".into(), "/b".into()],
            start_ns: Some(5),
            end_ns: Some(9),
        }),
        cursor: Some(hash),
        direction: PageDirection::Backward,
        limit: 7,
    };
    assert_eq!(fake.asked(), [(); 3].map(|()| format!("None {expected:?}")));
}

#[tokio::test]
async fn what_cannot_be_read_is_named() {
    let fake = answering(Ok(page(Vec::new(), None)));
    for (query, text) in [
        ("startTime=x", "Problem parsing time [invalid integer: x]"),
        ("senderTime=x", "Problem parsing time [invalid integer: x]"),
        (
            "pageSize=-1",
            "Problem parsing page size [invalid integer: -1]",
        ),
        (
            "digest=AAAA",
            "Problem parsing digest [not 32 bytes in base64: AAAA]",
        ),
        (
            "ascending=null",
            "ascending parsing error: cannot interpret as a bool: null",
        ),
    ] {
        let answer = fake.get(&format!("{PATH}?{query}")).await;
        assert_eq!(answer, (400, json!(text)), "{query}");
    }
    assert!(fake.asked().is_empty());
}
