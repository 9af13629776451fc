use proptest::prelude::*;
use undertone_message::{DecodeError, WireError};

use super::*;
use crate::rpc::tests::{JS_REQUEST_ID, TOPIC, golden, js_message};

fn limits() -> FilterCodecLimits {
    FilterCodecLimits::default()
}

fn request(kind: SubscribeKind, topic: Option<&str>, content: &[&str]) -> SubscribeRequest {
    SubscribeRequest {
        request_id: JS_REQUEST_ID.to_owned(),
        kind,
        pubsub_topic: topic.map(Into::into),
        content_topics: content.iter().map(|&topic| topic.into()).collect(),
    }
}

#[test]
fn requests_of_js_waku_are_read_and_written_as_js_waku_does() {
    let topics = ["/my-app/1/chat/proto", "/my-app/1/news/proto"];
    for (name, kind, topics) in [
        ("filter-subscribe", SubscribeKind::Subscribe, &topics[..]),
        ("filter-unsubscribe", SubscribeKind::Unsubscribe, &topics),
        ("filter-unsubscribe-all", SubscribeKind::UnsubscribeAll, &[]),
    ] {
        let expected = request(kind, Some(TOPIC), topics);
        let frame = golden(name);
        assert_eq!(
            SubscribeRequest::decode(&frame, &limits()),
            Ok(expected.clone())
        );
        assert_eq!(expected.encode(), frame, "{name}");
    }
}

#[test]
fn a_ping_of_js_waku_has_an_empty_topic_and_no_kind() {
    let ping = SubscribeRequest::decode(&golden("filter-ping"), &limits()).unwrap();
    assert_eq!(ping, request(SubscribeKind::Ping, None, &[]));
}

#[test]
fn a_ping_is_written_with_its_kind() {
    let ping = SubscribeRequest {
        request_id: "r".to_owned(),
        ..SubscribeRequest::default()
    };
    assert_eq!(hex::encode(ping.encode()), "0a01721000");
}

#[test]
fn responses_of_js_waku_are_read_and_written_as_js_waku_does() {
    let expected = SubscribeResponse {
        request_id: JS_REQUEST_ID.to_owned(),
        status: FilterStatus::NOT_FOUND,
        status_desc: Some("NOT_FOUND: peer has no subscriptions".to_owned()),
    };
    let frame = golden("filter-response");
    assert_eq!(
        SubscribeResponse::decode(&frame, &limits()),
        Ok(expected.clone())
    );
    assert_eq!(expected.encode(), frame);
}

#[test]
fn a_response_is_written_in_full_even_when_empty_for_nwaku() {
    let response = SubscribeResponse {
        request_id: String::new(),
        status: FilterStatus(0),
        status_desc: None,
    };
    assert_eq!(hex::encode(response.encode()), "0a005000");
}

#[test]
fn pushes_of_js_waku_are_read_and_written_as_js_waku_does() {
    let expected = MessagePush {
        message: js_message(),
        pubsub_topic: Some(TOPIC.into()),
    };
    let frame = golden("filter-push");
    assert_eq!(MessagePush::decode(&frame, &limits()), Ok(expected.clone()));
    assert_eq!(expected.encode(), frame);
}

#[test]
fn a_push_without_topic_is_written_with_an_empty_one_for_nwaku() {
    let push = MessagePush {
        message: WakuMessage::new("", ""),
        pubsub_topic: None,
    };
    let frame = push.encode();
    assert_eq!(hex::encode(&frame), "0a040a0012001200");
    assert_eq!(MessagePush::decode(&frame, &limits()), Ok(push));
}

#[test]
fn more_content_topics_than_allowed_are_refused() {
    let topics = vec!["/a/1/b/c"; 100];
    let at_limit = request(SubscribeKind::Subscribe, None, &topics);
    assert_eq!(
        SubscribeRequest::decode(&at_limit.encode(), &limits()),
        Ok(at_limit)
    );
    let topics = vec!["/a/1/b/c"; 101];
    let above = request(SubscribeKind::Subscribe, None, &topics);
    assert_eq!(
        SubscribeRequest::decode(&above.encode(), &limits()),
        Err(RpcFrameError::TooManyContentTopics { max: 100 })
    );
}

#[test]
fn long_texts_and_frames_are_refused() {
    let long = "x".repeat(1025);
    let with_long = request(SubscribeKind::Subscribe, None, &[&long]);
    assert_eq!(
        SubscribeRequest::decode(&with_long.encode(), &limits()),
        Err(RpcFrameError::TextTooLong {
            field: "content_topic",
            size_bytes: 1025,
            max_bytes: 1024
        })
    );
    let with_long = request(SubscribeKind::Subscribe, Some(&long), &[]);
    assert_eq!(
        SubscribeRequest::decode(&with_long.encode(), &limits()),
        Err(RpcFrameError::TextTooLong {
            field: "pubsub_topic",
            size_bytes: 1025,
            max_bytes: 256
        })
    );
    let frame = vec![0; 131_073];
    assert_eq!(
        SubscribeRequest::decode(&frame, &limits()),
        Err(RpcFrameError::TooLarge {
            size_bytes: 131_073,
            max_bytes: 131_072
        })
    );
    assert!(matches!(
        SubscribeResponse::decode(&frame, &limits()),
        Err(RpcFrameError::TooLarge { .. })
    ));
    let frame = vec![0; limits().max_push_bytes + 1];
    assert!(matches!(
        MessagePush::decode(&frame, &limits()),
        Err(RpcFrameError::TooLarge { .. })
    ));
}

#[test]
fn malformed_frames_are_refused_with_the_fault() {
    assert_eq!(
        SubscribeRequest::decode(&[0x10, 4], &limits()),
        Err(RpcFrameError::UnknownKind { value: 4 })
    );
    assert_eq!(
        SubscribeRequest::decode(&[0x0a, 1, 0xff], &limits()),
        Err(RpcFrameError::NotUtf8 {
            field: "request_id"
        })
    );
    assert_eq!(
        SubscribeRequest::decode(&[0x0a, 2, 1], &limits()),
        Err(RpcFrameError::Wire(WireError::Truncated { offset: 2 }))
    );
    assert_eq!(
        SubscribeResponse::decode(&[], &limits()),
        Err(RpcFrameError::Missing {
            field: "status_code"
        })
    );
    assert_eq!(
        MessagePush::decode(&[], &limits()),
        Err(RpcFrameError::Missing {
            field: "waku_message"
        })
    );
    assert_eq!(
        MessagePush::decode(&[0x0a, 0], &limits()),
        Err(RpcFrameError::Message(DecodeError::MissingPayload))
    );
}

#[test]
fn unknown_fields_are_skipped() {
    let mut frame = golden("filter-subscribe").to_vec();
    put_varint_field(&mut frame, 99, 7);
    put_bytes_field(&mut frame, 100, b"future");
    assert_eq!(
        SubscribeRequest::decode(&frame, &limits())
            .unwrap()
            .content_topics
            .len(),
        2
    );
}

proptest! {
    #[test]
    fn any_request_survives_the_wire(
        request_id in ".{0,40}",
        kind in 0_usize..4,
        topic in proptest::option::of(".{1,40}"),
        content in proptest::collection::vec(".{0,40}", 0..100),
    ) {
        let request = SubscribeRequest {
            request_id,
            kind: SubscribeKind::ALL[kind],
            pubsub_topic: topic.map(Into::into),
            content_topics: content.into_iter().map(Into::into).collect(),
        };
        prop_assert_eq!(SubscribeRequest::decode(&request.encode(), &limits()), Ok(request));
    }

    #[test]
    fn garbage_never_panics(frame: Vec<u8>) {
        let _ = SubscribeRequest::decode(&frame, &limits());
        let _ = SubscribeResponse::decode(&frame, &limits());
        let _ = MessagePush::decode(&frame, &limits());
    }
}
