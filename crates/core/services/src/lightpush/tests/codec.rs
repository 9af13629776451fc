use proptest::prelude::*;
use undertone_message::DecodeError;

use super::*;
use crate::rpc::tests::{JS_REQUEST_ID, TOPIC, golden, js_message};

fn limits() -> LightpushCodecLimits {
    LightpushCodecLimits::default()
}

fn response(status: LightpushStatus, desc: Option<&str>, peers: Option<u32>) -> LightpushResponse {
    LightpushResponse {
        request_id: JS_REQUEST_ID.to_owned(),
        status,
        status_desc: desc.map(str::to_owned),
        relay_peer_count: peers,
    }
}

#[test]
fn requests_of_js_waku_are_read_and_written_as_js_waku_does() {
    for (name, topic) in [
        ("lightpush-v3-request", Some(TOPIC)),
        ("lightpush-v3-request-without-topic", None),
    ] {
        let expected = LightpushRequest {
            request_id: JS_REQUEST_ID.to_owned(),
            pubsub_topic: topic.map(Into::into),
            message: js_message(),
        };
        let frame = golden(name);
        assert_eq!(
            LightpushRequest::decode(&frame, &limits()),
            Ok(expected.clone())
        );
        assert_eq!(expected.encode(), frame, "{name}");
    }
}

#[test]
fn responses_of_js_waku_are_read_and_written_as_js_waku_does() {
    for (name, expected) in [
        (
            "lightpush-v3-response",
            response(LightpushStatus::OK, None, Some(5)),
        ),
        (
            "lightpush-v3-refusal",
            response(LightpushStatus::NO_PEERS_TO_RELAY, Some("no peers"), None),
        ),
    ] {
        let frame = golden(name);
        assert_eq!(
            LightpushResponse::decode(&frame, &limits()),
            Ok(expected.clone())
        );
        assert_eq!(expected.encode(), frame, "{name}");
    }
}

#[test]
fn a_response_is_written_in_full_even_when_empty_for_nwaku() {
    let response = LightpushResponse {
        request_id: String::new(),
        ..response(LightpushStatus(0), None, Some(0))
    };
    assert_eq!(hex::encode(response.encode()), "0a0050006000");
}

#[test]
fn malformed_frames_are_refused_with_the_fault() {
    let decode = |bytes: &'static [u8]| LightpushRequest::decode(bytes, &limits());
    assert_eq!(
        decode(&[]),
        Err(RpcFrameError::Missing { field: "message" })
    );
    assert_eq!(
        decode(&[0xaa, 0x01, 0]),
        Err(RpcFrameError::Message(DecodeError::MissingPayload))
    );
    assert_eq!(
        LightpushResponse::decode(&[0x0a, 0], &limits()),
        Err(RpcFrameError::Missing {
            field: "status_code"
        })
    );
    assert_eq!(
        LightpushResponse::decode(&[0x50, 0xff, 0xff, 0xff, 0xff, 0x1f], &limits()),
        Err(RpcFrameError::Exceeds32Bits {
            field: "status_code",
            value: 0x1_ffff_ffff
        })
    );
    let large = vec![0; limits().max_request_bytes + 1];
    assert!(matches!(
        LightpushRequest::decode(&large, &limits()),
        Err(RpcFrameError::TooLarge { .. })
    ));
}

proptest! {
    #[test]
    fn any_request_survives_the_wire(id in ".{0,40}", topic in proptest::option::of(".{1,40}"), payload: Vec<u8>) {
        let request = LightpushRequest {
            request_id: id,
            pubsub_topic: topic.map(Into::into),
            message: WakuMessage::new(payload, "/a/1/b/c"),
        };
        prop_assert_eq!(LightpushRequest::decode(&request.encode(), &limits()), Ok(request));
    }

    #[test]
    fn garbage_never_panics(frame: Vec<u8>) {
        let _ = LightpushRequest::decode(&frame, &limits());
        let _ = LightpushResponse::decode(&frame, &limits());
    }
}
