//! Peers that lie, and peers that ask for more than their share.

use proptest::prelude::*;

use super::*;

#[test]
fn a_record_that_is_not_the_peer_s_own_is_refused() {
    let mut bench = Bench::new();
    for forged in [record(2), b"nobody has signed this".to_vec()] {
        let status = bench.register_as(1, b"rs/1/0", &forged, None).status;
        assert_eq!(status, RendezvousStatus::INVALID_SIGNED_PEER_RECORD);
    }
    // It does not help either that the record's owner has registered it.
    bench.register(2, "rs/1/0");
    let status = bench.register_as(1, b"rs/1/0", &record(2), None).status;
    assert_eq!(status, RendezvousStatus::INVALID_SIGNED_PEER_RECORD);
    assert_eq!(bench.records("rs/1/0"), records([2]));
}

#[test]
fn a_forged_record_does_not_end_the_registration_that_is_there() {
    let mut bench = Bench::new();
    bench.register(1, "rs/1/0");
    bench.register_as(1, b"rs/1/0", &record(2), None);
    assert_eq!(bench.records("rs/1/0"), records([1]));
}

#[test]
fn a_record_that_is_empty_or_too_long_is_refused_unchecked() {
    let mut bench = Bench::new();
    let mut long = record(1);
    long.resize(2049, b' ');
    for bad in [&[][..], &long] {
        let status = bench.register_as(1, b"rs/1/0", bad, None).status;
        assert_eq!(status, RendezvousStatus::INVALID_SIGNED_PEER_RECORD);
    }
    assert_eq!(bench.checks, 0);
    let status = bench.register_as(1, b"rs/1/0", &long[..2048], None).status;
    assert_eq!(status, RendezvousStatus::OK);
}

#[test]
fn namespaces_of_other_clusters_and_those_that_are_none_are_refused() {
    let mut bench = Bench::new();
    let long = format!("rs/1/{}", "0".repeat(251));
    let bad: [&[u8]; 7] = [
        b"",
        b"rs/2/0",
        b"rs/11/0",
        b"rs/1",
        b"chat",
        b"rs/1/\xff",
        long.as_bytes(),
    ];
    for namespace in bad {
        let response = bench.register_as(1, namespace, &record(1), None);
        assert_eq!(response.status, RendezvousStatus::INVALID_NAMESPACE);
    }
    assert_eq!((bench.checks, bench.server.registrations()), (0, 0));
    assert_eq!(bench.records("rs/2/0"), records([]));
    let response = bench.discover(Some(&long), None, None);
    assert_eq!(response.status, RendezvousStatus::INVALID_NAMESPACE);
    let status = bench.register(1, &long[..255]);
    assert_eq!(status, RendezvousStatus::OK);
}

#[test]
fn a_peer_has_no_more_than_its_share() {
    let mut bench = Bench::new();
    let mut refused = 0;
    for number in 0..1000 {
        match bench.register(1, &format!("rs/1/{number}")) {
            RendezvousStatus::OK => {}
            RendezvousStatus::NOT_AUTHORIZED => refused += 1,
            status => panic!("{status}"),
        }
    }
    assert_eq!((bench.server.registrations(), refused), (64, 936));
    assert_eq!(bench.register(1, "rs/1/3"), RendezvousStatus::OK, "renewed");
    assert_eq!(bench.register(2, "rs/1/3"), RendezvousStatus::OK);
}

#[test]
fn those_who_have_left_give_way_to_those_who_come_and_those_who_stay_do_not() {
    let mut limits = RendezvousLimits::default();
    limits.registrations.max_per_namespace = 3;
    let mut bench = Bench::with(limits, 7);
    for peer in 1..=3 {
        bench.register(peer, "rs/1/0");
    }
    assert_eq!(bench.register(4, "rs/1/0"), RendezvousStatus::UNAVAILABLE);
    bench.gone(3);
    bench.gone(2);
    // The peer is back before its slot is needed.
    bench.register(3, "rs/1/0");
    assert_eq!(bench.register(4, "rs/1/0"), RendezvousStatus::OK);
    assert_eq!(bench.records("rs/1/0"), records([1, 3, 4]));
    assert_eq!(bench.register(2, "rs/1/0"), RendezvousStatus::UNAVAILABLE);
    assert_eq!(bench.register(2, "rs/1/1"), RendezvousStatus::OK);
}

#[test]
fn those_whose_leaving_was_not_noticed_give_way_once_they_have_not_renewed_for_long() {
    let mut limits = RendezvousLimits::default();
    limits.registrations.max_per_namespace = 3;
    let mut bench = Bench::with(limits, 7);
    for peer in 1..=3 {
        bench.register_as(peer, b"rs/1/0", &record(peer), Some(259_200));
    }
    bench.now_s = 299;
    assert_eq!(bench.register(4, "rs/1/0"), RendezvousStatus::UNAVAILABLE);
    bench.register(1, "rs/1/0");
    bench.now_s = 300;
    assert_eq!(bench.register(4, "rs/1/0"), RendezvousStatus::OK);
    assert_eq!(bench.records("rs/1/0"), records([1, 3, 4]));
}

#[test]
fn a_thousand_identities_that_come_and_go_leave_room_for_the_next() {
    let mut limits = RendezvousLimits::default();
    limits.registrations.max_total = 100;
    let mut bench = Bench::with(limits, 7);
    bench.register(5000, "rs/1/0");
    for peer in 0..1000 {
        let status = bench.register_as(peer, b"rs/1/0", &record(peer), Some(259_200));
        assert_eq!(status.status, RendezvousStatus::OK);
        bench.gone(peer);
    }
    assert_eq!(bench.server.registrations(), 100);
    assert!(bench.records("rs/1/0").contains(&record(5000)));
    assert_eq!(bench.register(6000, "rs/1/0"), RendezvousStatus::OK);
}

#[test]
fn bytes_are_bounded_too() {
    let mut limits = RendezvousLimits::default();
    limits.registrations.max_bytes = 10_000;
    let mut bench = Bench::with(limits, 7);
    let mut kept = 0;
    for peer in 0..20 {
        let mut record = record(peer);
        record.resize(2000, b'.');
        let response = bench.register_as(peer, b"rs/1/0", &record, None);
        kept += usize::from(response.status == RendezvousStatus::OK);
    }
    assert_eq!(kept, 4);
}

#[test]
fn an_answer_stays_within_what_clients_read() {
    let mut bench = Bench::new();
    for peer in 0..200 {
        let mut record = record(peer);
        record.resize(2048, b'.');
        bench.register_as(peer, b"rs/1/0", &record, None);
    }
    let namespace = format!("rs/1/{}", "0".repeat(250));
    for limit in [None, Some(1000), Some(u64::MAX)] {
        let response = bench.discover(Some("rs/1/0"), limit, None);
        assert_eq!(response.found.len(), 27);
    }
    for peer in 0..200 {
        bench.register(peer, &namespace);
    }
    let response = bench.discover(Some(&namespace), None, None);
    assert_eq!(response.found.len(), 100);
    assert_eq!(response.skipped, 0);
}

#[test]
fn requests_beyond_the_rate_get_an_answer_of_their_kind() {
    let mut bench = Bench::new();
    let mut too_many = |request: RendezvousRequest<'_>| {
        let input = Input::TooMany {
            request: RequestNo(9),
            bytes: request.encode().into(),
        };
        bench.answer(input).expect("an answer")
    };
    let namespace = b"rs/1/0";
    let register = RendezvousRequest::Register {
        namespace,
        record: &record(1),
        ttl_s: None,
    };
    let status = read_registered(too_many(register)).status;
    assert_eq!(status, RendezvousStatus::UNAVAILABLE);
    let discover = RendezvousRequest::Discover {
        namespace: Some(namespace),
        limit: None,
        cookie: None,
    };
    let status = read_discovered(too_many(discover)).status;
    assert_eq!(status, RendezvousStatus::UNAVAILABLE);
    assert_eq!(bench.server.stats().refused, 2);
    assert_eq!(bench.server.registrations(), 0);
}

#[test]
fn checks_that_nobody_answers_are_bounded_and_forgotten_with_their_peer() {
    let mut bench = Bench::new();
    let request = |peer, number| Input::Request {
        peer: PeerNo(peer),
        request: RequestNo(number),
        bytes: RendezvousRequest::Register {
            namespace: b"rs/1/0",
            record: &record(peer),
            ttl_s: None,
        }
        .encode()
        .into(),
    };
    for number in 0..200 {
        bench.server.handle(Time::ZERO, request(number, number));
    }
    assert_eq!(bench.server.unchecked.len(), 64);
    for peer in 0..64 {
        bench
            .server
            .handle(Time::ZERO, Input::PeerGone(PeerNo(peer)));
    }
    assert_eq!(bench.server.unchecked.len(), 0);
    let late = Input::RecordChecked {
        request: RequestNo(5),
        is_valid: true,
    };
    bench.server.handle(Time::ZERO, late);
    assert_eq!(bench.server.registrations(), 0);
}

proptest! {
    #[test]
    fn garbage_gets_one_answer_each(frames in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..30), 0..20)) {
        let mut bench = Bench::new();
        for frame in frames {
            bench.ask(1, frame);
        }
        prop_assert!(bench.server.registrations() <= 1);
    }
}
