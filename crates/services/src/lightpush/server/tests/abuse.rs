//! Peers that flood, send garbage and come back.

use super::*;

fn check(server: &LightpushServer, limits: &LightpushLimits) {
    let usage = server.usage();
    assert!(usage.publishing <= limits.max_publishing, "{usage:?}");
    assert!(usage.peers <= usage.publishing, "{usage:?}");
    assert!(
        usage.publishing_bytes <= limits.max_publishing_bytes,
        "{usage:?}"
    );
}

#[test]
fn garbage_is_answered_under_its_id_if_it_has_one() {
    let mut bench = Bench::new(LightpushLimits::default());
    let (status, text) = v3(&bench.frame(1, PushVersion::V3, vec![0xff; 50]));
    assert_eq!(status, 400);
    assert!(text.unwrap().starts_with("decode_rpc_failure: "));
    let empty = vec![0x0a, 2, b'i', b'd'];
    let outputs = bench.frame(1, PushVersion::V3, empty.clone());
    let [Output::Respond { bytes, .. }] = &outputs[..] else {
        panic!("{outputs:?}");
    };
    let response = LightpushResponse::decode(bytes, &LightpushCodecLimits::default()).unwrap();
    assert_eq!((&*response.request_id, response.status.0), ("id", 400));
    let outputs = bench.frame(1, PushVersion::V2, empty);
    assert_eq!(
        v2(&outputs),
        (false, Some("empty_request_body_failure".to_owned()))
    );
    let outputs = bench.frame(1, PushVersion::V3, vec![0; 2_000_000]);
    assert_eq!(v3(&outputs).0, 400);
    assert_eq!(bench.server.usage(), LightpushUsage::default());
}

#[test]
fn a_flooding_peer_is_held_back_and_an_honest_one_is_served() {
    let limits = LightpushLimits::default();
    let mut bench = Bench::new(limits);
    for number in 0..100 {
        let outputs = bench.push(1, PushVersion::V3, Some(TOPIC), message());
        if number < 16 {
            publish(&outputs);
        } else {
            assert_eq!(v3(&outputs).0, 429);
        }
        check(&bench.server, &limits);
    }
    publish(&bench.push(2, PushVersion::V3, Some(TOPIC), message()));
}

#[test]
fn reconnecting_does_not_lift_the_bounds() {
    let limits = LightpushLimits {
        max_publishing: 20,
        ..LightpushLimits::default()
    };
    let mut bench = Bench::new(limits);
    for peer in 0..50 {
        for _ in 0..20 {
            bench.push(peer % 25, PushVersion::V3, Some(TOPIC), message());
        }
        bench.handle(Input::PeerGone(PeerNo(peer % 25)));
        check(&bench.server, &limits);
    }
    assert_eq!(
        v3(&bench.push(99, PushVersion::V3, Some(TOPIC), message())).0,
        503
    );
    bench.now = Time::ZERO.after(Duration::from_secs(30));
    assert_eq!(bench.handle(Input::Tick), [], "nobody is left to answer");
    publish(&bench.push(99, PushVersion::V3, Some(TOPIC), message()));
    assert_eq!(bench.server.usage().publishing, 1);
}

#[test]
fn large_messages_stay_within_memory() {
    let limits = LightpushLimits {
        max_publishing_bytes: 500_000,
        ..LightpushLimits::default()
    };
    let mut bench = Bench::new(limits);
    for peer in 0..20 {
        let large = WakuMessage::new(vec![0; 140_000], CONTENT_TOPIC);
        let outputs = bench.push(peer, PushVersion::V3, Some(TOPIC), large);
        if peer >= 3 {
            assert_eq!(v3(&outputs).0, 503);
        }
        check(&bench.server, &limits);
    }
}

#[test]
fn a_small_message_in_a_padded_frame_keeps_only_its_own_bytes() {
    let mut bench = Bench::new(LightpushLimits::default());
    let request = LightpushRequest {
        request_id: "id".to_owned(),
        pubsub_topic: Some(TOPIC.into()),
        message: message(),
    };
    let mut frame = request.encode();
    undertone_wire::put_bytes_field(&mut frame, 500, &vec![0; 1_000_000]);
    let frame = Bytes::from(frame);
    let outputs = bench.frame(1, PushVersion::V3, frame.clone());
    let [Output::Publish { message, .. }] = &outputs[..] else {
        panic!("{outputs:?}");
    };
    assert!(!frame.as_ptr_range().contains(&message.payload.as_ptr()));

    let mut padded = super::message().encode();
    undertone_wire::put_bytes_field(&mut padded, 500, &vec![0; 153_600]);
    let mut frame = Vec::new();
    undertone_wire::put_bytes_field(&mut frame, 21, &padded);
    assert_eq!(
        v3(&bench.frame(1, PushVersion::V3, frame)).0,
        413,
        "padding counts"
    );
}

#[test]
fn reports_on_unknown_messages_are_ignored() {
    let mut bench = Bench::new(LightpushLimits::default());
    assert_eq!(bench.published(RequestNo(5), Ok(1)), []);
    let number = publish(&bench.push(1, PushVersion::V3, Some(TOPIC), message())).0;
    assert_eq!(bench.published(number, Ok(1)).len(), 1);
    assert_eq!(bench.published(number, Ok(1)), [], "reported twice");
    assert_eq!(bench.server.usage(), LightpushUsage::default());
}

proptest! {
    #[test]
    fn every_request_gets_one_answer_and_no_bound_breaks(
        steps in proptest::collection::vec((0_u8..6, 0_u64..5), 0..150),
    ) {
        let limits = LightpushLimits { max_publishing: 6, max_publishing_per_peer: 3, ..LightpushLimits::default() };
        let mut bench = Bench::new(limits);
        let mut answers = BTreeMap::new();
        for (kind, number) in steps {
            let outputs = match kind {
                0 | 1 => bench.push(number, PushVersion::V3, Some(TOPIC), message()),
                2 => bench.push(number, PushVersion::V2, Some(TOPIC), message()),
                3 => bench.frame(number, PushVersion::V3, JS_REQUEST_ID.as_bytes().to_vec()),
                4 => bench.published(RequestNo(bench.server.next_publish.saturating_sub(number)), Ok(1)),
                _ => {
                    bench.now = bench.now.after(Duration::from_secs(number * 5));
                    bench.handle(Input::Tick)
                }
            };
            for output in outputs {
                if let Output::Respond { request, .. } = output {
                    *answers.entry(request.0).or_insert(0) += 1;
                }
            }
            check(&bench.server, &limits);
        }
        bench.now = bench.now.after(Duration::from_secs(30));
        for output in bench.handle(Input::Tick) {
            if let Output::Respond { request, .. } = output {
                *answers.entry(request.0).or_insert(0) += 1;
            }
        }
        prop_assert_eq!(answers.len() as u64, bench.next_request);
        prop_assert!(answers.values().all(|&count| count == 1), "{:?}", answers);
        prop_assert_eq!(bench.server.usage(), LightpushUsage::default());
    }
}
