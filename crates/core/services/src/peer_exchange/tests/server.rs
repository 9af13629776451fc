use std::collections::BTreeSet;

use proptest::prelude::*;
use rand_core::SeedableRng;

use super::*;
use crate::rpc::tests::golden;

fn enr(number: usize) -> Bytes {
    Bytes::from(format!("enr {number}"))
}

fn server(known: usize) -> PeerExchangeServer {
    let mut server = PeerExchangeServer::new(
        ChaCha8Rng::from_seed([7; 32]),
        PeerExchangeLimits::default(),
    );
    let enrs = (0..known).map(enr).collect();
    server.handle(Time::ZERO, Input::Known { enrs });
    server
}

fn answer(server: &mut PeerExchangeServer, input: Input) -> PeerExchangeResponse {
    server.handle(Time::ZERO, input);
    let outputs: Vec<_> = std::iter::from_fn(|| server.poll()).collect();
    let [
        Output::Respond {
            request: RequestNo(9),
            bytes,
        },
    ] = &outputs[..]
    else {
        panic!("{outputs:?}");
    };
    PeerExchangeResponse::decode(bytes, &PeerExchangeCodecLimits::default()).unwrap()
}

fn send(server: &mut PeerExchangeServer, bytes: impl Into<Bytes>) -> PeerExchangeResponse {
    let (request, bytes) = (RequestNo(9), bytes.into());
    answer(server, Input::Request { request, bytes })
}

fn ask(server: &mut PeerExchangeServer, num_peers: Option<u64>) -> PeerExchangeResponse {
    send(server, PeerExchangeRequest { num_peers }.encode())
}

#[test]
fn a_client_gets_as_many_different_records_as_it_wants_up_to_sixty() {
    let mut server = server(100);
    for (wanted, given) in [
        (Some(7), 7),
        (None, 5),
        (Some(0), 0),
        (Some(60), 60),
        (Some(u64::MAX), 60),
    ] {
        let response = ask(&mut server, wanted);
        assert_eq!(response.status, PeerExchangeStatus::OK);
        let different: BTreeSet<_> = response.enrs.iter().collect();
        assert_eq!(different.len(), given, "{wanted:?}");
        assert_eq!(response.skipped, 0, "{wanted:?}");
    }
    assert_eq!(
        send(&mut server, golden("peer-exchange-request"))
            .enrs
            .len(),
        7
    );
}

#[test]
fn a_server_that_knows_few_gives_all_of_them_and_one_that_knows_none_says_so() {
    assert_eq!(ask(&mut server(3), Some(5)).enrs.len(), 3);
    let response = ask(&mut server(0), Some(5));
    assert_eq!(
        (response.enrs.len(), response.status),
        (0, PeerExchangeStatus::OK)
    );
}

#[test]
fn every_record_is_given_about_as_often() {
    let mut server = server(20);
    let mut given = [0_u32; 20];
    for _ in 0..2000 {
        for record in ask(&mut server, Some(5)).enrs {
            let number = (0..20).find(|&number| enr(number) == record).unwrap();
            given[number] += 1;
        }
    }
    // Expected 500 each, standard deviation 19; the seed is fixed.
    assert!(
        given.iter().all(|&count| (420..580).contains(&count)),
        "{given:?}"
    );
}

#[test]
fn the_same_seed_gives_the_same_records() {
    let (mut one, mut two) = (server(100), server(100));
    for _ in 0..10 {
        assert_eq!(ask(&mut one, Some(5)), ask(&mut two, Some(5)));
    }
}

#[test]
fn refusals_have_their_status() {
    let mut server = server(10);
    let request = RequestNo(9);
    let response = answer(&mut server, Input::TooMany { request });
    assert_eq!(
        (response.status, response.status_desc),
        (PeerExchangeStatus::TOO_MANY_REQUESTS, None)
    );
    let response = send(&mut server, vec![0xff; 100]);
    assert_eq!(response.status, PeerExchangeStatus::BAD_REQUEST);
    assert!(response.status_desc.is_some());
    let response = send(&mut server, vec![0; 100_000]);
    assert_eq!(response.status, PeerExchangeStatus::BAD_REQUEST);
    let stats = server.stats();
    assert_eq!((stats.served, stats.refused), (0, 3));
}

#[test]
fn new_records_replace_old_ones_within_bounds() {
    let mut server = server(10);
    let long = Bytes::from(vec![1; 301]);
    let mut enrs = vec![Bytes::new(), long];
    enrs.extend((0..5000).map(enr));
    server.handle(Time::ZERO, Input::Known { enrs });
    assert_eq!(server.known(), 1000);
    server.handle(
        Time::ZERO,
        Input::Known {
            enrs: vec![enr(77)],
        },
    );
    assert_eq!(ask(&mut server, Some(5)).enrs, [enr(77)]);
}

#[test]
fn the_largest_response_fits_the_frame_that_clients_accept() {
    let mut server = server(0);
    let enrs = (0..60)
        .map(|number| Bytes::from(vec![number; 300]))
        .collect();
    server.handle(Time::ZERO, Input::Known { enrs });
    assert_eq!(ask(&mut server, Some(60)).enrs.len(), 60);
}

proptest! {
    #[test]
    fn garbage_gets_one_answer_each(frames in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..20)) {
        let mut server = server(10);
        for frame in frames {
            let response = send(&mut server, frame);
            prop_assert!(response.enrs.len() <= 10);
        }
    }
}
