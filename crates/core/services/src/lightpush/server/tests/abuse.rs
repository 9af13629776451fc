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

/// Numbers of the messages that the relay gets.
fn handed(outputs: &[Output]) -> Vec<RequestNo> {
    let numbers = outputs.iter().filter_map(|output| match output {
        Output::Publish { publish, .. } => Some(*publish),
        Output::Respond { .. } => None,
    });
    numbers.collect()
}

/// Sixteen strangers push sixteen messages each; returns the numbers of those that the relay has.
fn sixteen_strangers(bench: &mut Bench) -> Vec<RequestNo> {
    let mut in_relay = Vec::new();
    for number in 0..256 {
        let outputs = bench.push(number % 16, PushVersion::V3, Some(TOPIC), message());
        in_relay.extend(handed(&outputs));
    }
    in_relay
}

#[test]
fn the_relay_has_a_part_of_the_messages_at_a_time_and_the_rest_of_its_places_is_for_its_own() {
    let limits = LightpushLimits::default();
    let mut bench = Bench::new(limits);
    let mut in_relay = sixteen_strangers(&mut bench);
    for _ in 0..256 {
        assert!(in_relay.len() <= limits.max_in_relay);
        let next = in_relay.remove(0);
        in_relay.extend(handed(&bench.published(next, Ok(1))));
    }
    assert!(in_relay.is_empty());
    assert_eq!(bench.server.stats().published, 256);
}

#[test]
fn an_honest_client_has_its_turn_before_the_rest_of_sixteen_that_fill_every_place() {
    let mut bench = Bench::new(LightpushLimits::default());
    let mut in_relay = sixteen_strangers(&mut bench);
    let outputs = bench.push(99, PushVersion::V3, Some(TOPIC), message());
    assert_eq!(v3(&outputs).0, 503, "the greediest loses its last message");
    let honest = RequestNo(bench.server.next_publish);
    for _ in 0..17 {
        let next = in_relay.remove(0);
        in_relay.extend(handed(&bench.published(next, Ok(1))));
    }
    assert!(in_relay.contains(&honest), "within one turn of each");
    let answer = bench.published(honest, Ok(1));
    assert!(answer.iter().any(|output| matches!(
        output,
        Output::Respond { request, .. } if *request == RequestNo(257)
    )));
}

#[test]
fn whoever_sends_a_forged_proof_comes_behind_all_others_one_at_a_time_for_a_minute() {
    let mut bench = Bench::new(LightpushLimits::default());
    let mut in_relay = sixteen_strangers(&mut bench);
    let forged = Err(PublishRefusal::ForgedProof);
    while in_relay.len() > 1 {
        let next = in_relay.remove(0);
        let outputs = bench.published(next, forged);
        let answers = outputs
            .iter()
            .filter(|o| matches!(o, Output::Respond { .. }));
        assert_eq!(answers.count(), 1);
        in_relay.extend(handed(&outputs));
    }
    assert!(bench.server.usage().publishing > 200, "they wait");
    // An honest client does not wait for any of them.
    let (honest, _) = {
        let outputs = bench.push(99, PushVersion::V3, Some(TOPIC), message());
        let outputs: Vec<_> = outputs
            .into_iter()
            .filter(|output| matches!(output, Output::Publish { .. }))
            .collect();
        publish(&outputs)
    };
    assert_eq!(handed(&bench.published(honest, Ok(1))), []);
    // A minute later they are as good as anybody.
    bench.now = bench.now.after(Duration::from_secs(60));
    bench.handle(Input::Tick);
    for _ in 0..2 {
        publish(&bench.push(3, PushVersion::V3, Some(TOPIC), message()));
    }
}

#[test]
fn a_proof_that_is_only_out_of_date_is_no_reason_for_blame() {
    let mut bench = Bench::new(LightpushLimits::default());
    let first = publish(&bench.push(1, PushVersion::V3, Some(TOPIC), message())).0;
    bench.published(first, Err(PublishRefusal::InvalidProof));
    for _ in 0..2 {
        publish(&bench.push(1, PushVersion::V3, Some(TOPIC), message()));
    }
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
