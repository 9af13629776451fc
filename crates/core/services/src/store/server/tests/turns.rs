//! Peers that send more queries than the archive can answer.

use super::*;

const CAROL: PeerNo = PeerNo(3);

/// Server whose archive is asked one query at a time.
fn busy_server() -> StoreServer {
    StoreServer::new(ServerLimits {
        max_queries_per_peer: 8,
        max_queries: 8,
        max_asked: 1,
        ..ServerLimits::default()
    })
}

/// Returns the next query sent to the archive, if any.
fn asked(server: &mut StoreServer) -> Option<RequestNo> {
    match server.poll()? {
        Output::Query { query, .. } => Some(query),
        other => panic!("expected a query, not {other:?}"),
    }
}

/// Lets the archive answer a query with an empty page, and returns the request answered with it.
fn answered(server: &mut StoreServer, query: RequestNo) -> u64 {
    let result = Ok(HistoryPage::default());
    server.handle(second(1), Input::Page { query, result });
    let (number, _, code, _) = answer(server).unwrap();
    assert_eq!(code, 200);
    number
}

#[test]
fn peers_have_their_turns_however_much_one_of_them_asks() {
    let mut server = busy_server();
    for number in 0..5 {
        ask(
            &mut server,
            second(0),
            ALICE,
            number,
            PageDirection::Forward,
        );
    }
    ask(&mut server, second(0), BOB, 10, PageDirection::Forward);
    ask(&mut server, second(0), CAROL, 20, PageDirection::Forward);
    let mut order = Vec::new();
    while let Some(query) = asked(&mut server) {
        order.push(answered(&mut server, query));
    }
    assert_eq!(order, [0, 1, 10, 20, 2, 3, 4]);
}

#[test]
fn a_peer_with_many_waiting_queries_gives_way_to_a_newcomer() {
    let mut server = busy_server();
    for number in 0..8 {
        ask(
            &mut server,
            second(0),
            ALICE,
            number,
            PageDirection::Forward,
        );
    }
    let first = asked(&mut server).unwrap();
    ask(&mut server, second(0), BOB, 10, PageDirection::Forward);
    assert_eq!(
        answer(&mut server),
        words(7, "request 7", 503, "SERVICE_UNAVAILABLE")
    );
    assert_eq!(answered(&mut server, first), 0);
    let next = asked(&mut server).unwrap();
    assert_eq!(answered(&mut server, next), 1);
    let next = asked(&mut server).unwrap();
    assert_eq!(answered(&mut server, next), 10);
}

#[test]
fn peers_that_ask_and_leave_do_not_pile_up_work_for_the_archive() {
    let mut server = busy_server();
    let mut at_work = Vec::new();
    for peer in 0..100 {
        for number in 0..8 {
            let number = peer * 8 + number;
            ask(
                &mut server,
                second(0),
                PeerNo(peer),
                number,
                PageDirection::Forward,
            );
        }
        at_work.extend(asked(&mut server));
        server.handle(second(0), Input::PeerGone(PeerNo(peer)));
        assert_eq!(server.poll(), None);
    }
    assert_eq!(
        at_work.len(),
        1,
        "the archive is at work on the first query only"
    );
    ask(&mut server, second(1), BOB, 1000, PageDirection::Forward);
    assert_eq!(server.poll(), None);
    let (query, result) = (at_work[0], Ok(HistoryPage::default()));
    server.handle(second(1), Input::Page { query, result });
    let query = asked(&mut server).unwrap();
    assert_eq!(answered(&mut server, query), 1000);
}

#[test]
fn an_archive_that_never_answers_is_asked_again_after_a_minute() {
    let mut server = busy_server();
    ask(&mut server, second(0), ALICE, 1, PageDirection::Forward);
    assert!(asked(&mut server).is_some());
    ask(&mut server, second(5), BOB, 2, PageDirection::Forward);
    server.handle(second(10), Input::Tick);
    assert_eq!(answer(&mut server).map(|(number, ..)| number), Some(1));
    assert_eq!(server.next_timeout(), Some(second(15)));
    server.handle(second(15), Input::Tick);
    assert_eq!(answer(&mut server).map(|(number, ..)| number), Some(2));
    ask(&mut server, second(69), BOB, 3, PageDirection::Forward);
    assert_eq!(server.poll(), None);
    server.handle(second(70), Input::Tick);
    assert!(asked(&mut server).is_some());
}
