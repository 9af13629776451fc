use proptest::prelude::*;

use super::*;
use crate::rpc::tests::{JS_REQUEST_ID, TOPIC, golden, js_message};

fn limits() -> LightpushCodecLimits {
    LightpushCodecLimits::default()
}

fn response(is_success: bool, info: &str) -> LegacyResponse {
    LegacyResponse {
        request_id: JS_REQUEST_ID.to_owned(),
        is_success,
        info: Some(info.to_owned()),
    }
}

#[test]
fn requests_of_js_waku_are_read_and_written_as_js_waku_does() {
    let expected = LegacyRequest {
        request_id: JS_REQUEST_ID.to_owned(),
        pubsub_topic: Some(TOPIC.into()),
        message: js_message(),
    };
    let frame = golden("lightpush-v2-request");
    assert_eq!(
        LegacyRequest::decode(&frame, &limits()),
        Ok(expected.clone())
    );
    assert_eq!(expected.encode(), frame);
}

#[test]
fn responses_of_js_waku_are_read() {
    let decode = |name| LegacyResponse::decode(&golden(name), &limits());
    let accepted = response(true, "OK");
    assert_eq!(decode("lightpush-v2-response"), Ok(accepted.clone()));
    assert_eq!(accepted.encode(), golden("lightpush-v2-response"));
    assert_eq!(
        decode("lightpush-v2-refusal"),
        Ok(response(false, "no peers"))
    );
}

#[test]
fn a_refusal_is_written_with_its_false_for_nwaku() {
    let refusal = LegacyResponse {
        request_id: String::new(),
        is_success: false,
        info: None,
    };
    assert_eq!(hex::encode(refusal.encode()), "0a001a020800");
}

#[test]
fn a_request_without_topic_is_written_with_an_empty_one_for_nwaku() {
    let request = LegacyRequest {
        request_id: "r".to_owned(),
        pubsub_topic: None,
        message: WakuMessage::new("", ""),
    };
    let frame = request.encode();
    assert_eq!(hex::encode(&frame), "0a017212080a0012040a001200");
    assert_eq!(LegacyRequest::decode(&frame, &limits()), Ok(request));
}

#[test]
fn a_request_is_not_a_response() {
    assert_eq!(
        LegacyResponse::decode(&golden("lightpush-v2-request"), &limits()),
        Err(RpcFrameError::Missing { field: "response" })
    );
    assert_eq!(
        LegacyRequest::decode(&golden("lightpush-v2-response"), &limits()),
        Err(RpcFrameError::Missing { field: "request" })
    );
}

proptest! {
    #[test]
    fn garbage_never_panics(frame: Vec<u8>) {
        let _ = LegacyRequest::decode(&frame, &limits());
        let _ = LegacyResponse::decode(&frame, &limits());
    }
}
