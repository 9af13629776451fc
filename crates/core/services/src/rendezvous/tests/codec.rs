use bytes::Bytes;
use proptest::prelude::*;
use undertone_message::WireError;

use super::*;
use crate::rendezvous::tests::golden;

fn limits() -> RendezvousCodecLimits {
    RendezvousCodecLimits::default()
}

fn registered(status: u32, text: &str, ttl_s: Option<u64>) -> RegisterResponse {
    RegisterResponse {
        status: RendezvousStatus(status),
        text: Some(text.to_owned()),
        ttl_s,
    }
}

fn discovered(found: Vec<FoundRegistration>) -> DiscoverResponse {
    DiscoverResponse {
        found,
        cookie: Some(Bytes::from_static(b"cookie")),
        status: RendezvousStatus::OK,
        text: None,
        skipped: 0,
    }
}

fn found(record: &[u8]) -> FoundRegistration {
    FoundRegistration {
        namespace: Bytes::from_static(b"rs/1/3"),
        record: Bytes::copy_from_slice(record),
        ttl_s: Some(60),
    }
}

#[test]
fn a_registration_is_written_as_the_specification_has_it() {
    let envelope = golden("envelope");
    let request = RendezvousRequest::Register {
        namespace: b"rs/1/3",
        record: &envelope,
        ttl_s: Some(60),
    };
    let frame = golden("register");
    assert_eq!(request.encode(), frame);
    assert_eq!(RendezvousRequest::decode(&frame, &limits()), Ok(request));
}

#[test]
fn requests_of_py_libp2p_are_read() {
    let discover = RendezvousRequest::Discover {
        namespace: Some(b"rs/1/3"),
        limit: Some(12),
        cookie: Some(b"cookie"),
    };
    let frame = golden("discover");
    assert_eq!(RendezvousRequest::decode(&frame, &limits()), Ok(discover));
    assert_eq!(discover.encode(), frame);
    // It names the peer too, as an older specification had it.
    let unregister = RendezvousRequest::Unregister {
        namespace: b"rs/1/3",
    };
    let frame = golden("unregister");
    assert_eq!(RendezvousRequest::decode(&frame, &limits()), Ok(unregister));
    assert_eq!(hex::encode(unregister.encode()), "080222080a0672732f312f33");
}

#[test]
fn responses_of_py_libp2p_are_read_although_they_leave_out_a_status_of_zero() {
    let decode = |name| RegisterResponse::decode(&golden(name), &limits());
    assert_eq!(decode("registered"), Ok(registered(0, "fine", Some(60))));
    assert_eq!(decode("refused"), Ok(registered(200, "no", None)));
    let none = DiscoverResponse::decode(&golden("discovered-none"), &limits());
    assert_eq!(none, Ok(discovered(Vec::new())));
}

#[test]
fn responses_say_their_status_also_when_it_is_zero() {
    assert_eq!(
        hex::encode(registered(0, "fine", Some(60)).encode()),
        "08011a0a0800120466696e65183c"
    );
    let frame = golden("discovered");
    let response = discovered(vec![found(&golden("envelope"))]);
    assert_eq!(response.encode(), frame);
    assert_eq!(DiscoverResponse::decode(&frame, &limits()), Ok(response));
}

#[test]
fn a_message_without_type_is_a_registration() {
    let frame = golden("register").slice(2..);
    let request = RendezvousRequest::decode(&frame, &limits()).unwrap();
    assert!(matches!(
        request,
        RendezvousRequest::Register {
            namespace: b"rs/1/3",
            ..
        }
    ));
}

#[test]
fn registrations_that_are_incomplete_too_long_or_too_many_are_skipped_and_the_rest_is_kept() {
    let decode = |found: Vec<FoundRegistration>| {
        DiscoverResponse::decode(&discovered(found).encode(), &limits()).unwrap()
    };
    let long_name = FoundRegistration {
        namespace: vec![b'a'; 256].into(),
        ..found(&[1])
    };
    let all = vec![
        found(&[7; 4096]),
        found(&[7; 4097]),
        found(&[]),
        long_name,
        found(&[1]),
    ];
    let decoded = decode(all);
    assert_eq!((decoded.found.len(), decoded.skipped), (2, 3));
    let decoded = decode(vec![found(&[1]); 20]);
    assert_eq!((decoded.found.len(), decoded.skipped), (12, 8));
}

#[test]
fn a_cookie_that_is_too_long_is_dropped() {
    let mut response = discovered(vec![found(&[1])]);
    response.cookie = Some(vec![1; 1001].into());
    let decoded = DiscoverResponse::decode(&response.encode(), &limits()).unwrap();
    assert_eq!((decoded.found.len(), decoded.cookie), (1, None));
}

#[test]
fn malformed_frames_are_refused_with_the_fault() {
    let decode = |frame: &[u8]| RendezvousRequest::decode(frame, &limits()).unwrap_err();
    let missing = |field| RpcFrameError::Missing { field };
    assert_eq!(decode(&[]), missing("register"));
    assert_eq!(decode(&[8, 3]), missing("discover"));
    assert_eq!(decode(&[8, 0, 0x12, 0]), missing("ns"));
    assert_eq!(decode(&[8, 2, 0x22, 0]), missing("ns"));
    let no_record = [8, 0, 0x12, 3, 0x0a, 1, b'a'];
    assert_eq!(decode(&no_record), missing("signedPeerRecord"));
    let unexpected = |value| RpcFrameError::UnexpectedType { value };
    assert_eq!(decode(&[8, 9]), unexpected(9));
    assert_eq!(decode(&golden("registered")), unexpected(1));
    assert_eq!(decode(&golden("discovered")), unexpected(4));
    assert_eq!(
        decode(&[8, 3, 0x2a, 9, 1]),
        RpcFrameError::Wire(WireError::Truncated { offset: 4 })
    );
    assert!(matches!(
        decode(&[0; 4097]),
        RpcFrameError::TooLarge {
            max_bytes: 4096,
            ..
        }
    ));
    let response = RegisterResponse::decode(&golden("discovered"), &limits());
    assert_eq!(response, Err(unexpected(4)));
    let response = DiscoverResponse::decode(&golden("registered"), &limits());
    assert_eq!(response, Err(unexpected(1)));
}

fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 1..max)
}

proptest! {
    #[test]
    fn any_request_survives_the_wire(
        namespace in bytes(300),
        record in bytes(2048),
        ttl_s: Option<u64>,
        cookie in proptest::option::of(bytes(300)),
        kind in 0..3,
    ) {
        let request = match kind {
            0 => RendezvousRequest::Register { namespace: &namespace, record: &record, ttl_s },
            1 => RendezvousRequest::Unregister { namespace: &namespace },
            _ => RendezvousRequest::Discover {
                namespace: ttl_s.is_some().then_some(&namespace[..]),
                limit: ttl_s,
                cookie: cookie.as_deref(),
            },
        };
        let frame = request.encode();
        prop_assert_eq!(RendezvousRequest::decode(&frame, &limits()), Ok(request));
        let is_question = matches!(request, RendezvousRequest::Discover { .. });
        prop_assert_eq!(RendezvousRequest::is_discover(&frame), is_question);
    }

    #[test]
    fn any_response_survives_the_wire(
        all in proptest::collection::vec((bytes(256), bytes(4097), any::<Option<u64>>()), 0..=12),
        cookie in proptest::option::of(bytes(1000)),
        status: u32,
        text in proptest::option::of(".{0,40}"),
    ) {
        let found = |(namespace, record, ttl_s): (Vec<u8>, Vec<u8>, _)| FoundRegistration {
            namespace: namespace.into(),
            record: record.into(),
            ttl_s,
        };
        let response = DiscoverResponse {
            found: all.into_iter().map(found).collect(),
            cookie: cookie.map(Bytes::from),
            status: RendezvousStatus(status),
            text: text.clone(),
            skipped: 0,
        };
        prop_assert_eq!(DiscoverResponse::decode(&response.encode(), &limits()), Ok(response));
        let response = RegisterResponse { status: RendezvousStatus(status), text, ttl_s: Some(7) };
        prop_assert_eq!(RegisterResponse::decode(&response.encode(), &limits()), Ok(response));
    }

    #[test]
    fn garbage_never_panics(frame: Vec<u8>) {
        let _ = RendezvousRequest::decode(&frame, &limits());
        let _ = RendezvousRequest::is_discover(&frame);
        let _ = RegisterResponse::decode(&frame, &limits());
        let _ = DiscoverResponse::decode(&frame, &limits());
    }
}
