use std::time::Duration;

use undertone_message::{MessageHash, WakuMessage};

use super::*;
use crate::history::{
    ContentCriteria, HistoryCriteria, HistoryData, HistoryEntry, PAGE_MAX, StoredMessage,
};
use crate::store::StoreLimits;

mod turns;

const ALICE: PeerNo = PeerNo(1);
const BOB: PeerNo = PeerNo(2);

fn second(seconds: u64) -> Time {
    Time::from_millis(seconds * 1000)
}

fn server() -> StoreServer {
    StoreServer::new(ServerLimits {
        max_queries_per_peer: 2,
        max_queries: 3,
        // More than may be unanswered: these tests are about the other limits.
        max_asked: 4,
        max_response_bytes: 1000,
        query_timeout: Duration::from_secs(10),
        ..ServerLimits::default()
    })
}

fn query(direction: PageDirection) -> HistoryQuery {
    HistoryQuery {
        include_data: true,
        criteria: HistoryCriteria::Content(ContentCriteria::default()),
        cursor: None,
        direction,
        limit: PAGE_MAX,
    }
}

fn ask(server: &mut StoreServer, now: Time, peer: PeerNo, number: u64, direction: PageDirection) {
    let asked = StoreRequest {
        request_id: format!("request {number}").into(),
        query: query(direction),
    };
    let bytes = asked.encode().into();
    let request = RequestNo(number);
    let input = Input::Request {
        peer,
        request,
        bytes,
    };
    server.handle(now, input);
}

/// Asks for history forward and returns the number of the query that the archive gets.
fn ask_archive(server: &mut StoreServer, now: Time, peer: PeerNo, number: u64) -> RequestNo {
    ask(server, now, peer, number, PageDirection::Forward);
    match server.poll() {
        Some(Output::Query { query, .. }) => query,
        other => panic!("expected a query, not {other:?}"),
    }
}

/// Response that the server gives next.
fn response(server: &mut StoreServer) -> Option<(u64, StoreResponse)> {
    match server.poll()? {
        Output::Respond { request, bytes } => {
            let response = StoreResponse::decode(&bytes, &StoreLimits::default());
            Some((request.0, response.unwrap()))
        }
        Output::Query { .. } => panic!("expected a response"),
    }
}

/// Number, request id, status and description of the response that the server gives next.
fn answer(server: &mut StoreServer) -> Option<(u64, String, u32, String)> {
    let (number, response) = response(server)?;
    let code = response.status.code();
    let texts = [response.request_id, response.description].map(|text| text.to_string());
    let [id, description] = texts;
    Some((number, id, code, description))
}

fn words(number: u64, id: &str, code: u32, text: &str) -> Option<(u64, String, u32, String)> {
    Some((number, id.into(), code, text.into()))
}

/// Messages of `payload_bytes` each, the oldest first.
fn history(count: usize, payload_bytes: usize) -> Vec<HistoryEntry> {
    let entry = |time| {
        let message = WakuMessage {
            timestamp: Some(time),
            ..WakuMessage::new(vec![1; payload_bytes], "/a/1/b/c")
        };
        let stored = StoredMessage::new("/waku/2/rs/1/0", message);
        let (pubsub_topic, message) = (stored.pubsub_topic, stored.message);
        HistoryEntry {
            hash: stored.hash,
            data: Some(HistoryData {
                pubsub_topic,
                message,
            }),
        }
    };
    (1..=count as i64).map(entry).collect()
}

fn page(entries: Vec<HistoryEntry>, next: Option<MessageHash>) -> HistoryPage {
    HistoryPage { entries, next }
}

#[test]
fn a_request_becomes_a_query_and_the_page_its_response() {
    let mut server = server();
    ask(&mut server, second(0), ALICE, 7, PageDirection::Backward);
    let number = RequestNo(0);
    let content = query(PageDirection::Backward);
    assert_eq!(
        server.poll(),
        Some(Output::Query {
            query: number,
            content
        })
    );
    assert_eq!(server.poll(), None);

    let page = page(history(3, 10), Some(MessageHash([5; 32])));
    let result = Ok(page.clone());
    server.handle(
        second(1),
        Input::Page {
            query: number,
            result,
        },
    );
    let (request, response) = response(&mut server).unwrap();
    assert_eq!((request, &*response.request_id), (7, "request 7"));
    assert_eq!(
        (response.status, &*response.description),
        (StoreStatus::Ok, "OK")
    );
    assert_eq!(response.page, page);
    assert_eq!(server.poll(), None);
    assert_eq!(server.next_timeout(), None);
}

#[test]
fn refusals_have_the_statuses_and_texts_of_nwaku() {
    let mut server = server();
    let cursor = "BAD_RESPONSE: archive error: DRIVER_ERROR: cursor not found";
    for (error, code, text) in [
        (HistoryError::UnknownCursor, 300, cursor),
        (HistoryError::Unavailable, 503, "SERVICE_UNAVAILABLE"),
    ] {
        let query = ask_archive(&mut server, second(0), ALICE, 1);
        let result = Err(error);
        server.handle(second(0), Input::Page { query, result });
        assert_eq!(answer(&mut server), words(1, "request 1", code, text));
    }
    let request = RequestNo(2);
    server.handle(second(0), Input::TooMany { request });
    assert_eq!(
        answer(&mut server),
        words(2, "N/A", 429, "TOO_MANY_REQUESTS")
    );
}

#[test]
fn a_malformed_request_is_answered_400_with_its_id_if_it_has_one() {
    let mut server = server();
    for (bytes, id) in [(&[0x0a, 1, b'q', 0xff][..], "q"), (&[0xff], "")] {
        let input = Input::Request {
            peer: ALICE,
            request: RequestNo(3),
            bytes: Bytes::copy_from_slice(bytes),
        };
        server.handle(second(0), input);
        let (number, request_id, code, text) = answer(&mut server).unwrap();
        assert_eq!((number, &*request_id, code), (3, id, 400));
        assert!(text.starts_with("decoding rpc failed: "), "{text}");
    }
    assert_eq!(server.next_timeout(), None, "nothing is outstanding");
}

#[test]
fn one_peer_cannot_take_every_place() {
    let mut server = server();
    let first = ask_archive(&mut server, second(0), ALICE, 1);
    ask_archive(&mut server, second(0), ALICE, 2);
    ask(&mut server, second(0), ALICE, 3, PageDirection::Forward);
    assert_eq!(
        answer(&mut server),
        words(3, "N/A", 429, "TOO_MANY_REQUESTS")
    );

    ask_archive(&mut server, second(0), BOB, 4);
    ask(&mut server, second(0), BOB, 5, PageDirection::Forward);
    assert_eq!(
        answer(&mut server),
        words(5, "N/A", 503, "SERVICE_UNAVAILABLE")
    );

    let result = Ok(HistoryPage::default());
    let query = first;
    server.handle(second(1), Input::Page { query, result });
    assert_eq!(answer(&mut server), words(1, "request 1", 200, "OK"));
    ask_archive(&mut server, second(1), ALICE, 6);
}

#[test]
fn a_peer_that_leaves_frees_its_places_and_gets_no_response() {
    let mut server = server();
    let query = ask_archive(&mut server, second(0), ALICE, 1);
    ask_archive(&mut server, second(0), ALICE, 2);
    server.handle(second(1), Input::PeerGone(ALICE));
    assert_eq!(server.next_timeout(), None);
    let result = Ok(HistoryPage::default());
    server.handle(second(1), Input::Page { query, result });
    assert_eq!(server.poll(), None);
    ask_archive(&mut server, second(1), ALICE, 3);
    ask_archive(&mut server, second(1), ALICE, 4);
}

#[test]
fn a_query_that_the_archive_forgets_is_answered_in_the_end() {
    let mut server = server();
    let query = ask_archive(&mut server, second(1), ALICE, 1);
    ask_archive(&mut server, second(5), BOB, 2);
    assert_eq!(server.next_timeout(), Some(second(11)));
    server.handle(second(11), Input::Tick);
    assert_eq!(
        answer(&mut server),
        words(1, "request 1", 503, "SERVICE_UNAVAILABLE")
    );
    assert_eq!(server.poll(), None);
    assert_eq!(server.next_timeout(), Some(second(15)));
    let result = Ok(HistoryPage::default());
    server.handle(second(12), Input::Page { query, result });
    assert_eq!(server.poll(), None, "one request, one response");
}

#[test]
fn a_page_of_large_messages_is_cut_where_its_cursor_continues() {
    let history = history(10, 150);
    for (direction, kept) in [
        (PageDirection::Forward, 0..4),
        (PageDirection::Backward, 6..10),
    ] {
        let mut server = server();
        ask(&mut server, second(0), ALICE, 1, direction);
        let _ = server.poll();
        let query = RequestNo(0);
        let result = Ok(page(history.clone(), None));
        server.handle(second(0), Input::Page { query, result });
        let (_, response) = response(&mut server).unwrap();
        assert!(response.encode().len() <= 1000);
        assert_eq!(response.page.entries, history[kept.clone()]);
        let cursor = match direction {
            PageDirection::Forward => history[kept.end - 1].hash,
            PageDirection::Backward => history[kept.start].hash,
        };
        assert_eq!(response.page.next, Some(cursor));
    }
}

#[test]
fn no_page_exceeds_the_limit_on_responses() {
    for payload_bytes in 0..300 {
        let mut server = server();
        let query = ask_archive(&mut server, second(0), ALICE, 1);
        let result = Ok(page(history(20, payload_bytes), None));
        server.handle(second(0), Input::Page { query, result });
        let Some(Output::Respond { bytes, .. }) = server.poll() else {
            panic!("expected a response");
        };
        let len = bytes.len();
        let next_one = 200 + payload_bytes;
        assert!(
            len <= 1000 && len + next_one > 1000,
            "{payload_bytes}: {len}"
        );
    }
}

#[test]
fn a_message_larger_than_a_response_is_sent_alone() {
    let history = history(2, 2000);
    let cut = cut_page(page(history.clone(), None), PageDirection::Forward, 1000);
    assert_eq!(cut.entries, history[..1]);
    assert_eq!(cut.next, Some(history[0].hash));
    let alone = page(history[..1].to_vec(), None);
    assert_eq!(cut_page(alone.clone(), PageDirection::Forward, 1000), alone);
}

#[test]
fn an_empty_page_stays_empty() {
    let empty = HistoryPage::default();
    for direction in [PageDirection::Forward, PageDirection::Backward] {
        assert_eq!(cut_page(empty.clone(), direction, 0), empty);
    }
}
