//! The host in virtual time.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::*;
use crate::history::HistoryPage;
use crate::peer_exchange::{PeerExchangeCodecLimits, PeerExchangeResponse};
use crate::rendezvous::{RendezvousRequest, RendezvousStatus};

mod bench;

use RequestProtocol::{Filter, LegacyLightpush, Lightpush, PeerExchange, Rendezvous, Store};
use bench::{Bench, TOO_MANY, machines, message, request};

const ALICE: PeerNo = PeerNo(1);
const BOB: PeerNo = PeerNo(2);

#[test]
fn each_protocol_is_answered_by_its_service_on_the_stream_that_asked() {
    for protocol in RequestProtocol::ALL {
        let mut bench = Bench::new();
        bench.ask(ALICE, "stream", protocol);
        assert_eq!(bench.answer(protocol), ("stream", 200), "{protocol:?}");
        let totals = bench.totals(protocol.id());
        assert_eq!((totals.served, totals.rejected), (1, 0), "{protocol:?}");
        assert_eq!(totals.received_bytes, request(protocol).len() as u64);
        assert!(totals.sent_bytes > 0, "{protocol:?}");
        assert_eq!(bench.host.totals().len(), 1, "{protocol:?}");
    }
}

#[test]
fn a_request_beyond_the_limit_is_refused_in_the_words_of_its_protocol_and_counted() {
    for protocol in RequestProtocol::ALL {
        let mut bench = Bench::with_limits("1/1h;filter:1/1h;rendezvous:1/1h");
        let refused = match protocol {
            Rendezvous => RendezvousStatus::UNAVAILABLE.0,
            _ => TOO_MANY,
        };
        assert_eq!(bench.ask_again(ALICE, protocol), 200, "{protocol:?}");
        assert_eq!(bench.ask_again(ALICE, protocol), refused, "{protocol:?}");
        let totals = bench.totals(protocol.id());
        assert_eq!((totals.served, totals.rejected), (1, 1), "{protocol:?}");
        assert_eq!(totals.received_bytes, 2 * request(protocol).len() as u64);
    }
}

#[test]
fn clients_of_filter_and_rendezvous_have_limits_of_their_own_and_those_of_other_services_share_one()
{
    for protocol in RequestProtocol::ALL {
        let mut bench = Bench::with_limits("1/1h;filter:1/1h;rendezvous:1/1h");
        bench.ask_again(ALICE, protocol);
        let expected = match protocol {
            Filter | Rendezvous => 200,
            _ => TOO_MANY,
        };
        assert_eq!(bench.ask_again(BOB, protocol), expected, "{protocol:?}");
    }
}

#[test]
fn both_versions_of_lightpush_share_a_limit_and_are_counted_apart() {
    let mut bench = Bench::with_limits("lightpush:1/1h");
    assert_eq!(bench.ask_again(ALICE, Lightpush), 200);
    assert_eq!(bench.ask_again(ALICE, LegacyLightpush), TOO_MANY);
    assert_eq!(bench.totals(Lightpush.id()).served, 1);
    assert_eq!(bench.totals(LegacyLightpush.id()).rejected, 1);
}

#[test]
fn outputs_come_service_by_service_whatever_the_order_of_the_requests() {
    let mut bench = Bench::new();
    bench.ask(ALICE, "lightpush", Lightpush);
    bench.ask(ALICE, "rendezvous", Rendezvous);
    bench.ask(ALICE, "peer exchange", PeerExchange);
    bench.ask(ALICE, "filter", Filter);
    bench.ask(ALICE, "store", Store);
    let outputs = bench.outputs();
    let order = outputs.iter().map(|output| match output {
        Output::Respond { to, .. } => *to,
        Output::Query { .. } => "query",
        Output::Publish { .. } => "publish",
        other => panic!("{other:?}"),
    });
    let expected = ["query", "filter", "peer exchange", "rendezvous", "publish"];
    assert!(order.eq(expected), "{outputs:?}");
}

#[test]
fn a_peer_that_is_gone_gets_no_answer_and_others_do() {
    let mut bench = Bench::new();
    let query_of = |bench: &mut Bench, peer, to| {
        bench.ask(peer, to, Store);
        let Output::Query { query, .. } = bench.output() else {
            panic!("the archive is asked");
        };
        query
    };
    let of_alice = query_of(&mut bench, ALICE, "of alice");
    let of_bob = query_of(&mut bench, BOB, "of bob");
    bench.give(Input::PeerGone(ALICE));
    for query in [of_alice, of_bob] {
        let result = Ok(HistoryPage::default());
        bench.give(Input::Page { query, result });
    }
    assert_eq!(bench.answer(Store), ("of bob", 200));
    assert!(!bench.host.is_bound(bench.now, ALICE));
}

#[test]
fn an_answer_that_was_made_before_its_peer_went_is_not_given() {
    let mut bench = Bench::new();
    bench.ask(ALICE, "stream", PeerExchange);
    bench.give(Input::PeerGone(ALICE));
    assert_eq!(bench.outputs(), []);
    assert_eq!(bench.totals(PeerExchange.id()).sent_bytes, 0);
}

#[test]
fn the_earliest_timer_of_all_services_is_that_of_the_host() {
    let mut bench = Bench::new();
    let timer = |bench: &Bench| {
        bench
            .host
            .next_timeout()
            .map(|at| at.as_nanos() / 1_000_000_000)
    };
    assert_eq!(timer(&bench), None);
    bench.ask(ALICE, "subscription", Filter);
    assert_eq!(timer(&bench), Some(60), "filter looks for what has expired");
    bench.ask(ALICE, "publication", Lightpush);
    assert_eq!(timer(&bench), Some(30), "the relay has 30 s");
    bench.ask(ALICE, "query", Store);
    assert_eq!(timer(&bench), Some(10), "the archive has 10 s");
    bench.outputs();
    bench.at(10);
    bench.give(Input::Tick);
    assert_eq!(bench.answer(Store), ("query", 503));
    assert_eq!(timer(&bench), Some(30));
    bench.at(30);
    bench.give(Input::Tick);
    assert_eq!(bench.answer(Lightpush), ("publication", 503));
    assert_eq!(timer(&bench), Some(60));
}

#[test]
fn a_message_is_pushed_to_its_subscribers_and_its_bytes_are_counted() {
    let mut bench = Bench::new();
    assert_eq!(bench.ask_again(ALICE, Filter), 200);
    bench.give(Input::Message(message()));
    let Output::Push { peer: ALICE, bytes } = bench.output() else {
        panic!("alice is subscribed");
    };
    let pushed = bench.totals(filter::PUSH_PROTOCOL_ID);
    assert_eq!(pushed.sent_bytes, bytes.len() as u64);
    assert_eq!((pushed.served, pushed.received_bytes), (0, 0));
    let (peer, delivered) = (ALICE, true);
    bench.give(Input::Pushed { peer, delivered });
    let stats = bench.host.machines().filter.as_ref().unwrap().stats();
    assert_eq!(stats.delivered, 1);
}

#[test]
fn a_registration_is_kept_once_the_driver_has_checked_its_record() {
    let mut bench = Bench::new();
    let registration = RendezvousRequest::Register {
        namespace: b"rs/1/mix",
        record: b"signed",
        ttl_s: None,
    };
    bench.send(ALICE, "register", Rendezvous, registration.encode());
    let Output::CheckRecord {
        check,
        peer: ALICE,
        record,
    } = bench.output()
    else {
        panic!("the record is new");
    };
    assert_eq!(record, b"signed"[..]);
    let is_valid = true;
    bench.give(Input::RecordChecked { check, is_valid });
    let Output::Respond { to: "register", .. } = bench.output() else {
        panic!("the registration is kept");
    };
    assert!(bench.host.is_bound(bench.now, ALICE));

    let end = RendezvousRequest::Unregister {
        namespace: b"rs/1/mix",
    };
    bench.send(ALICE, "unregister", Rendezvous, end.encode());
    assert_eq!(bench.output(), Output::Close { to: "unregister" });
}

#[test]
fn peer_exchange_gives_the_records_that_the_driver_knows() {
    let mut bench = Bench::new();
    let enr = Bytes::from_static(b"record");
    bench.give(Input::Known(vec![enr.clone()]));
    bench.ask(ALICE, "stream", PeerExchange);
    let Output::Respond { bytes, .. } = bench.output() else {
        panic!("it is answered at once");
    };
    let limits = PeerExchangeCodecLimits::default();
    let response = PeerExchangeResponse::decode(&bytes, &limits).unwrap();
    assert_eq!(response.enrs, [enr]);
}

#[test]
fn a_request_to_a_service_that_is_not_mounted_is_dropped() {
    for protocol in RequestProtocol::ALL {
        let mut host = ServiceHost::new(Machines::default(), RateLimits::default());
        let stream = Rc::new(());
        let input = Input::Request {
            peer: ALICE,
            to: stream.clone(),
            protocol,
            bytes: request(protocol).into(),
        };
        host.handle(Time::ZERO, input);
        assert_eq!(host.poll(), None, "{protocol:?}");
        assert_eq!(Rc::strong_count(&stream), 1, "nothing waits");
        assert!(host.totals().is_empty(), "nothing is counted");
        assert_eq!(host.next_timeout(), None);
    }
}

#[test]
fn a_service_is_mounted_without_the_others() {
    let mut bench = Bench::new();
    let store = machines().store;
    bench.host.replace(Machines {
        store,
        ..Machines::default()
    });
    bench.give(Input::Message(message()));
    bench.give(Input::Tick);
    bench.give(Input::PeerGone(BOB));
    assert_eq!(bench.ask_again(ALICE, Store), 200);
}

#[test]
fn a_number_is_bound_as_long_as_something_refers_to_it() {
    let mut bench = Bench::new();
    let is_bound = |bench: &Bench| bench.host.is_bound(bench.now, ALICE);
    assert!(!is_bound(&bench));
    bench.ask(ALICE, "stream", Store);
    assert!(is_bound(&bench), "alice waits for an answer");
    assert_eq!(bench.answer(Store), ("stream", 200));
    assert!(!is_bound(&bench));
    bench.ask(ALICE, "stream", Store);
    bench.host.replace(machines());
    assert!(!is_bound(&bench), "nothing waits for the new machines");

    let mut bench = Bench::with_limits("store:10/1h");
    assert_eq!(bench.ask_again(ALICE, Store), 200);
    assert!(is_bound(&bench), "the limit counts what alice has asked");
    assert!(!bench.host.is_subscribed(bench.now, ALICE));

    let mut bench = Bench::with_limits("filter:0/1h");
    assert_eq!(bench.ask_again(ALICE, Filter), 200);
    assert!(is_bound(&bench), "alice is subscribed");
    assert!(bench.host.is_subscribed(bench.now, ALICE));
    bench.at(301);
    assert!(!is_bound(&bench), "the subscription has expired");
}

#[test]
fn new_machines_begin_with_the_old_limits_and_totals_and_without_what_waited() {
    let mut bench = Bench::with_limits("store:1/1h");
    bench.ask(ALICE, "stream", Store);
    let Output::Query { query, .. } = bench.output() else {
        panic!("the archive is asked");
    };
    let old = bench.host.replace(machines());
    assert!(old.store.is_some());
    let result = Ok(HistoryPage::default());
    bench.give(Input::Page { query, result });
    assert_eq!(bench.outputs(), []);
    assert_eq!(bench.host.next_timeout(), None);
    assert_eq!(bench.ask_again(ALICE, Store), TOO_MANY);
    let totals = bench.totals(Store.id());
    assert_eq!((totals.served, totals.rejected), (1, 1));
}

#[test]
fn each_service_has_protocols_and_each_protocol_an_identifier_of_its_own() {
    let ids: BTreeSet<_> = RequestProtocol::ALL.map(RequestProtocol::id).into();
    assert_eq!(ids.len(), RequestProtocol::ALL.len());
    let services: BTreeSet<_> = RequestProtocol::ALL.map(RequestProtocol::service).into();
    assert_eq!(services, Machines::ORDER.into());
}
