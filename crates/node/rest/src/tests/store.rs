use serde_json::json;
use undertone_message::{WakuMessage, message_hash};
use undertone_network::handle::Stopped;
use undertone_services::history::{HistoryData, HistoryPage};

use super::*;
use crate::fake::{Fake, ServiceCall};
use undertone_provider::services::MountedServices;

const PATH: &str = "/store/v3/messages";
pub(super) const TOPIC: &str = "/app/1/chat/proto";

const STORE: MountedServices = MountedServices {
    store: true,
    filter: false,
    lightpush: false,
    lightpush_proofs: false,
    peer_exchange: false,
    rendezvous: false,
};

pub(super) fn message(payload: &'static str, timestamp: i64) -> WakuMessage {
    WakuMessage {
        timestamp: Some(timestamp),
        ..WakuMessage::new(payload, TOPIC)
    }
}

pub(super) fn data(message: WakuMessage) -> HistoryEntry {
    HistoryEntry {
        hash: message_hash("/waku/2/rs/66/0", &message),
        data: Some(HistoryData {
            pubsub_topic: "/waku/2/rs/66/0".into(),
            message,
        }),
    }
}

pub(super) fn answering(outcome: Result<StoreAnswer, ServiceFailure>) -> Fake {
    Fake::new(STORE, move |call| match call {
        ServiceCall::Query { peer, query, reply } => {
            let _ = reply.send(outcome.clone());
            format!("{peer:?} {query:?}")
        }
        other => panic!("{other:?}"),
    })
}

pub(super) fn page(entries: Vec<HistoryEntry>, next: Option<MessageHash>) -> StoreAnswer {
    StoreAnswer {
        request_id: String::new(),
        page: HistoryPage { entries, next },
    }
}

#[tokio::test]
async fn a_page_has_the_shape_of_nwaku() {
    let proved = WakuMessage {
        rate_limit_proof: Some(vec![1].into()),
        ..message("hi", 5)
    };
    let bare = HistoryEntry {
        hash: MessageHash([7; 32]),
        data: None,
    };
    let entries = vec![data(proved.clone()), data(message("ho", 6)), bare];
    let fake = answering(Ok(page(entries, Some(MessageHash([9; 32])))));
    let (status, body) = fake.get(&format!("{PATH}?includeData=true")).await;
    let hash = |message: &WakuMessage| message_hash("/waku/2/rs/66/0", message).to_string();
    assert_eq!(status, 200);
    let expected = json!({
        "requestId": "",
        "statusCode": 200,
        "statusDesc": "OK",
        "messages": [
            {
                "messageHash": hash(&proved),
                "message": {"payload": "aGk=", "contentTopic": TOPIC, "version": 0, "timestamp": 5,
                    "ephemeral": false, "proof": "AQ=="},
                "pubsubTopic": "/waku/2/rs/66/0",
            },
            {
                "messageHash": hash(&message("ho", 6)),
                "message": {"payload": "aG8=", "contentTopic": TOPIC, "version": 0, "timestamp": 6,
                    "ephemeral": false},
                "pubsubTopic": "/waku/2/rs/66/0",
            },
            {"messageHash": format!("0x{}", "07".repeat(32))},
        ],
        "paginationCursor": format!("0x{}", "09".repeat(32)),
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn every_parameter_reaches_the_store() {
    let fake = answering(Ok(page(Vec::new(), None)));
    let cursor = "ab".repeat(32);
    let peer = "%2Fip4%2F127.0.0.1%2Ftcp%2F60001";
    let query = format!(
        "peerAddr={peer}&includeData=true&pubsubTopic=%2Fwaku%2F2%2Frs%2F66%2F0&contentTopics=%2Fa,%2Fb\
         &startTime=5&endTime=9&cursor=0x{cursor}&ascending=false&pageSize=7"
    );
    assert_eq!(fake.get(&format!("{PATH}?{query}")).await.0, 200);
    let expected = HistoryQuery {
        include_data: true,
        criteria: HistoryCriteria::Content(ContentCriteria {
            pubsub_topic: Some("/waku/2/rs/66/0".into()),
            content_topics: vec!["/a".into(), "/b".into()],
            start_ns: Some(5),
            end_ns: Some(9),
        }),
        cursor: Some(MessageHash([0xab; 32])),
        direction: PageDirection::Backward,
        limit: 7,
    };
    let address: Multiaddr = "/ip4/127.0.0.1/tcp/60001".parse().unwrap();
    assert_eq!(fake.asked(), [format!("{:?} {expected:?}", Some(address))]);
}

#[tokio::test]
async fn missing_parameters_have_nwakus_values() {
    let fake = answering(Ok(page(Vec::new(), None)));
    let nothing = HistoryQuery {
        include_data: false,
        criteria: HistoryCriteria::Content(ContentCriteria::default()),
        cursor: None,
        direction: PageDirection::Forward,
        limit: 20,
    };
    let (_, body) = fake.get(PATH).await;
    assert!(body.get("paginationCursor").is_none(), "{body}");
    fake.get(&format!(
        "{PATH}?startTime=-1&endTime=0&contentTopics=&cursor=&pageSize=0"
    ))
    .await;
    assert_eq!(fake.asked(), [(); 2].map(|()| format!("None {nothing:?}")));
    fake.get(&format!("{PATH}?pageSize=101")).await;
    fake.get(&format!("{PATH}?pageSize=99999999999")).await;
    for asked in &fake.asked()[2..] {
        assert!(asked.ends_with("limit: 100 }"), "{asked}");
    }
}

#[tokio::test]
async fn hashes_with_other_conditions_must_meet_both() {
    let late = message("late", 50);
    let entries = vec![data(message("hi", 5)), data(late.clone())];
    let fake = answering(Ok(page(entries, None)));
    let hashes = format!("0x{},{}", "01".repeat(32), "02".repeat(32));
    let path = format!("{PATH}?hashes={hashes}&startTime=10&contentTopics={TOPIC}");
    let (_, body) = fake.get(&path).await;
    let expected = json!([{"messageHash": data(late).hash.to_string()}]);
    assert_eq!(
        body["messages"], expected,
        "without data, which was not asked for"
    );
    let asked = &fake.asked()[0];
    let by_hash = HistoryCriteria::Hashes(vec![MessageHash([1; 32]), MessageHash([2; 32])]);
    assert!(
        asked.contains(&format!("include_data: true, criteria: {by_hash:?}")),
        "{asked}"
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_named() {
    let fake = answering(Ok(page(Vec::new(), None)));
    let not_hex = "zz".repeat(32);
    for (query, text) in [
        (
            "ascending=null",
            "ascending parsing error: cannot interpret as a bool: null",
        ),
        (
            "includeData=maybe",
            "include data parsing error: cannot interpret as a bool: maybe",
        ),
        ("startTime=x", "time parsing error: invalid integer: x"),
        ("endTime=x", "time parsing error: invalid integer: x"),
        ("pageSize=x", "page size parsing error: invalid integer: x"),
        ("pageSize=-1", "page size parsing error: -1 is negative"),
        (
            "hashes=0xabcd",
            "waku message hash parsing error: invalid hash length: 2",
        ),
        (
            "cursor=0x",
            "waku message hash parsing error: invalid hash length: 0",
        ),
        (
            "cursor=abc",
            "Exception converting hex string to bytes: hex string must have even length",
        ),
        (
            &format!("cursor={not_hex}"),
            "Exception converting hex string to bytes: z is not a hexadecimal character",
        ),
    ] {
        let answer = fake.get(&format!("{PATH}?{query}")).await;
        assert_eq!(answer, (400, json!(text)), "{query}");
    }
    let (status, text) = fake.get(&format!("{PATH}?peerAddr=x")).await;
    assert_eq!(status, 400);
    let text = text.as_str().unwrap();
    assert!(
        text.starts_with("Failed parsing remote peer info: "),
        "{text}"
    );
    assert!(fake.asked().is_empty());
}

#[tokio::test]
async fn failures_have_the_statuses_of_nwaku() {
    let peer: libp2p::PeerId = "16Uiu2HAmCzWcYBCw3xKW8De16X9wtcbQrqD8x7CRRv4xpsFJ4oN8"
        .parse()
        .unwrap();
    let refused = |status, description: &str| ServiceFailure::Refused {
        status,
        description: description.into(),
    };
    let read = |text: &str| format!("Error occurred in queryFut.read() [{text}]");
    let own = "error in handleSelfStoreRequest: BAD_RESPONSE: archive error: ";
    for (failure, status, text) in [
        (
            ServiceFailure::NoPeer { service: "store" },
            412,
            "No suitable service peer & none discovered".into(),
        ),
        (
            ServiceFailure::TimedOut { peer, timeout_s: 5 },
            500,
            "No history response received (timeout)".into(),
        ),
        (
            refused(429, "slow down"),
            429,
            "Request rate limit reached".into(),
        ),
        (refused(400, "bad"), 500, read("BAD_REQUEST: bad")),
        (refused(7, "odd"), 500, read("UNKNOWN")),
        (
            ServiceFailure::Dial {
                peer,
                reason: "refused".into(),
            },
            500,
            read(&format!("PEER_DIAL_FAILURE: {peer}")),
        ),
        (
            ServiceFailure::BadAnswer {
                peer,
                reason: "cut off".into(),
            },
            500,
            read("BAD_RESPONSE: cut off"),
        ),
        (
            HistoryError::UnknownCursor.into(),
            400,
            format!("{own}cursor not found"),
        ),
        (
            HistoryError::Unavailable.into(),
            500,
            format!("{own}the archive cannot be read"),
        ),
        (
            ServiceFailure::Stopped(Stopped),
            503,
            "the node is shutting down".into(),
        ),
    ] {
        let fake = answering(Err(failure.clone()));
        assert_eq!(fake.get(PATH).await, (status, json!(text)), "{failure:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_silent_is_not_waited_for() {
    let mut unanswered = Vec::new();
    let fake = Fake::new(STORE, move |call| {
        unanswered.push(call);
        String::new()
    });
    let answer = fake.get(PATH).await;
    assert_eq!(
        answer,
        (500, json!("No history response received (timeout)"))
    );
}
