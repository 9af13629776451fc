use proptest::prelude::*;
use undertone_message::WakuMessage;

use super::*;
use crate::history::{ContentCriteria, HistoryPage, StoredMessage};

const TOPIC: &str = "/waku/2/rs/1/0";
const HEART: &str = "/heart/1/beat/proto";
const CHAT: &str = "/chat/1/room/proto";

fn stored(time_ns: i64, content_topic: &str, payload: u8) -> StoredMessage {
    let message = WakuMessage {
        timestamp: Some(time_ns),
        ..WakuMessage::new(vec![payload], content_topic)
    };
    StoredMessage::new(TOPIC, message)
}

/// Messages of distinct payloads in the order of an archive, which here has every timestamp twice.
fn archive(count: u8) -> Vec<StoredMessage> {
    let topic = |i: u8| if i.is_multiple_of(3) { HEART } else { CHAT };
    let make = |i: u8| stored(1000 + i64::from(i / 2), topic(i), i);
    let mut all: Vec<_> = (0..count).map(make).collect();
    all.sort_by_key(|stored| (stored.message.timestamp_ns(), stored.hash));
    all
}

fn entry(stored: &StoredMessage) -> HistoryEntry {
    HistoryEntry {
        hash: stored.hash,
        data: Some(HistoryData {
            pubsub_topic: stored.pubsub_topic.clone(),
            message: stored.message.clone(),
        }),
    }
}

fn entries(messages: &[StoredMessage]) -> Vec<HistoryEntry> {
    messages.iter().map(entry).collect()
}

fn query(direction: PageDirection, limit: u32, content: ContentCriteria) -> HistoryQuery {
    HistoryQuery {
        include_data: true,
        criteria: HistoryCriteria::Content(content),
        cursor: None,
        direction,
        limit,
    }
}

fn forward(limit: u32) -> HistoryReader {
    let query = query(PageDirection::Forward, limit, ContentCriteria::default());
    HistoryReader::new(query, ReaderLimits::default())
}

/// Messages that an honest server has for a query, without regard to pages.
fn matching<'a>(archive: &'a [StoredMessage], query: &HistoryQuery) -> Vec<&'a StoredMessage> {
    let matches = |stored: &&StoredMessage| match &query.criteria {
        HistoryCriteria::Hashes(hashes) => hashes.contains(&stored.hash),
        HistoryCriteria::Content(content) => {
            let data = entry(stored).data.unwrap();
            content.is_met_by(&data)
        }
    };
    archive.iter().filter(matches).collect()
}

/// Page of an honest server.
fn page(archive: &[StoredMessage], query: &HistoryQuery) -> Option<HistoryPage> {
    let mut found = matching(archive, query);
    if query.direction == PageDirection::Backward {
        found.reverse();
    }
    let begin = match query.cursor {
        Some(cursor) => found.iter().position(|stored| stored.hash == cursor)? + 1,
        None => 0,
    };
    let rest = &found[begin..];
    let taken = &rest[..rest.len().min(query.limit as usize)];
    let next = taken.last().filter(|_| taken.len() < rest.len());
    let mut entries: Vec<_> = taken.iter().map(|stored| entry(stored)).collect();
    if query.direction == PageDirection::Backward {
        entries.reverse();
    }
    if !query.include_data {
        entries.iter_mut().for_each(|entry| entry.data = None);
    }
    let next = next.map(|stored| stored.hash);
    Some(HistoryPage { entries, next })
}

fn bytes(page: HistoryPage) -> Bytes {
    let response = StoreResponse {
        page,
        ..StoreResponse::refusal("id", StoreStatus::Ok, "OK")
    };
    response.encode().into()
}

/// Lets an honest server answer the reader's next request.
fn step(
    reader: &mut HistoryReader,
    archive: &[StoredMessage],
) -> Result<ReadPage, HistoryReadError> {
    let request = reader.request("id").expect("the walk has not ended");
    let answer = match page(archive, &request.query) {
        Some(page) => bytes(page),
        None => refusal(300),
    };
    reader.take("id", &answer)
}

fn refusal(code: u32) -> Bytes {
    let status = StoreStatus::from_code(code);
    StoreResponse::refusal("", status, "no").encode().into()
}

fn walk(reader: &mut HistoryReader, archive: &[StoredMessage]) -> Vec<MessageHash> {
    let mut found = Vec::new();
    while !reader.is_ended() {
        let page = step(reader, archive).unwrap();
        let hashes = page.entries.iter().map(|entry| entry.hash);
        match reader.query.direction {
            PageDirection::Forward => found.extend(hashes),
            PageDirection::Backward => found.extend(hashes.rev()),
        }
    }
    assert_eq!(reader.request("id"), None);
    found
}

/// Lets a server answer with entries and a cursor, and returns the fault that the reader finds.
fn fault(
    reader: &mut HistoryReader,
    entries: Vec<HistoryEntry>,
    next: Option<MessageHash>,
) -> ServerFault {
    let before = reader.request("id");
    let error = reader.take("id", &bytes(HistoryPage { entries, next }));
    assert_eq!(reader.request("id"), before, "a fault moves nothing");
    match error {
        Err(HistoryReadError::Server(fault)) => fault,
        other => panic!("expected a fault, not {other:?}"),
    }
}

#[test]
fn a_walk_continues_at_another_server_behind_the_last_good_page() {
    let archive = archive(10);
    let mut reader = forward(4);
    assert_eq!(
        step(&mut reader, &archive).unwrap().entries,
        entries(&archive[..4])
    );
    assert_eq!(reader.cursor(), Some(archive[3].hash));

    let mut forged = entries(&archive[4..8]);
    forged[2].hash = MessageHash([1; 32]);
    let hash = MessageHash([1; 32]);
    assert_eq!(
        fault(&mut reader, forged, None),
        ServerFault::WrongHash { hash }
    );
    assert_eq!(
        step(&mut reader, &archive).unwrap().entries,
        entries(&archive[4..8])
    );
    let last = step(&mut reader, &archive).unwrap();
    assert_eq!((last.entries, last.ended), (entries(&archive[8..]), true));
}

#[test]
fn the_walk_ends_at_an_empty_page_even_with_a_cursor() {
    let mut reader = forward(4);
    let next = Some(MessageHash([1; 32]));
    let entries = vec![];
    let answer = bytes(HistoryPage { entries, next });
    assert!(reader.take("id", &answer).unwrap().ended);
    assert_eq!(reader.request("id"), None);
}

#[test]
fn a_server_cannot_repeat_messages() {
    let archive = archive(8);
    let mut reader = forward(4);
    step(&mut reader, &archive).unwrap();
    // The third and fourth messages have the same timestamp, so that order alone does not tell.
    let hash = archive[3].hash;
    let again = entries(&archive[3..5]);
    assert_eq!(
        fault(&mut reader, again, None),
        ServerFault::Repeated { hash }
    );
    let hash = archive[4].hash;
    let twice = vec![entry(&archive[4]); 2];
    assert_eq!(
        fault(&mut reader, twice, None),
        ServerFault::Repeated { hash }
    );
}

#[test]
fn a_server_cannot_send_messages_out_of_order() {
    let archive = archive(8);
    let hash = archive[2].hash;
    let swapped = entries(&[archive[4].clone(), archive[2].clone()]);
    assert_eq!(
        fault(&mut forward(4), swapped, None),
        ServerFault::Order { hash }
    );

    let mut reader = forward(4);
    step(&mut reader, &archive[2..]).unwrap();
    let hash = archive[0].hash;
    let older = entries(&archive[..1]);
    assert_eq!(fault(&mut reader, older, None), ServerFault::Order { hash });
}

#[test]
fn a_server_cannot_send_what_was_not_asked_for() {
    let wanted = ContentCriteria {
        pubsub_topic: Some(TOPIC.into()),
        content_topics: vec![HEART.into()],
        start_ns: Some(100),
        end_ns: Some(200),
    };
    let elsewhere = stored(150, HEART, 1).message;
    let elsewhere = StoredMessage::new("/waku/2/rs/1/1", elsewhere);
    for other in [
        stored(99, HEART, 1),
        stored(201, HEART, 1),
        stored(150, CHAT, 1),
        elsewhere,
    ] {
        let query = query(PageDirection::Forward, 4, wanted.clone());
        let mut reader = HistoryReader::new(query, ReaderLimits::default());
        let hash = other.hash;
        assert_eq!(
            fault(&mut reader, vec![entry(&other)], None),
            ServerFault::NotAskedFor { hash }
        );
        for bound in [100, 200] {
            let mut reader = reader.clone();
            let good = bytes(HistoryPage {
                entries: vec![entry(&stored(bound, HEART, 1))],
                next: None,
            });
            assert!(reader.take("id", &good).is_ok());
        }
    }
    let archive = archive(3);
    let mut query = query(PageDirection::Forward, 4, ContentCriteria::default());
    query.criteria = HistoryCriteria::Hashes(vec![archive[0].hash, archive[2].hash]);
    let mut reader = HistoryReader::new(query, ReaderLimits::default());
    let hash = archive[1].hash;
    assert_eq!(
        fault(&mut reader, entries(&archive), None),
        ServerFault::NotAskedFor { hash }
    );
    assert_eq!(step(&mut reader, &archive).unwrap().entries.len(), 2);
}

#[test]
fn a_cursor_must_be_the_last_message() {
    let archive = archive(8);
    for cursor in [archive[0].hash, archive[7].hash] {
        let page = entries(&archive[..4]);
        assert_eq!(
            fault(&mut forward(4), page, Some(cursor)),
            ServerFault::Cursor { cursor }
        );
    }
}

#[test]
fn a_page_has_no_more_messages_than_asked_for() {
    let page = entries(&archive(5));
    let (count, limit) = (5, 4);
    assert_eq!(
        fault(&mut forward(4), page, None),
        ServerFault::PageTooLong { count, limit }
    );
}

#[test]
fn refusals_tell_who_may_be_asked_again() {
    let mut reader = forward(4);
    for code in [429, 503] {
        let status = StoreStatus::from_code(code);
        assert_eq!(
            reader.take("id", &refusal(code)),
            Err(HistoryReadError::Busy { status })
        );
    }
    for code in [300, 400, 999] {
        let status = StoreStatus::from_code(code);
        let description = "no".into();
        let refused = HistoryReadError::Refused {
            status,
            description,
        };
        assert_eq!(reader.take("id", &refusal(code)), Err(refused));
    }
    let page = bytes(HistoryPage::default());
    let error = reader.take("another id", &page);
    assert_eq!(error, Err(ServerFault::RequestId.into()));
    let error = reader.take("id", &Bytes::from_static(&[0xff]));
    assert!(matches!(
        error,
        Err(HistoryReadError::Server(ServerFault::Malformed(_)))
    ));
    assert!(!reader.is_ended());
}

#[test]
fn a_walk_is_bounded_in_messages_and_pages() {
    let archive = archive(9);
    let limited = |max_messages, max_pages| {
        let limits = ReaderLimits {
            max_messages,
            max_pages,
            ..ReaderLimits::default()
        };
        let query = query(PageDirection::Forward, 3, ContentCriteria::default());
        HistoryReader::new(query, limits)
    };
    for mut reader in [limited(8, 100), limited(100, 2)] {
        step(&mut reader, &archive).unwrap();
        step(&mut reader, &archive).unwrap();
        assert_eq!(step(&mut reader, &archive), Err(HistoryReadError::TooLong));
    }
    assert_eq!(walk(&mut limited(9, 3), &archive).len(), 9);
}

#[test]
fn a_walk_goes_on_by_time_where_a_server_lacks_the_cursor() {
    for direction in [PageDirection::Forward, PageDirection::Backward] {
        let archive = archive(12);
        let query = query(direction, 5, ContentCriteria::default());
        let mut reader = HistoryReader::new(query, ReaderLimits::default());
        assert!(!reader.restart_by_time(), "there is no time to restart at");
        let mut found = BTreeSet::new();
        let first = step(&mut reader, &archive).unwrap();
        found.extend(first.entries.into_iter().map(|entry| entry.hash));

        let cursor = reader.cursor().unwrap();
        let without: Vec<_> = archive
            .iter()
            .filter(|m| m.hash != cursor)
            .cloned()
            .collect();
        let error = step(&mut reader, &without);
        assert!(matches!(error, Err(HistoryReadError::Refused { .. })));
        assert!(reader.restart_by_time());
        let rest = walk(&mut reader, &without);
        for hash in rest {
            assert!(found.insert(hash), "no message is given twice");
        }
        assert_eq!(found.len(), 12);
    }
}

#[test]
fn after_a_restart_each_message_is_repeated_once_at_most() {
    let archive = archive(8);
    let mut reader = forward(4);
    step(&mut reader, &archive).unwrap();
    reader.restart_by_time();
    let (entries, hash) = (entries(&archive[3..4]), archive[3].hash);
    let answer = bytes(HistoryPage {
        entries: entries.clone(),
        next: Some(hash),
    });
    assert_eq!(reader.take("id", &answer).unwrap(), ReadPage::default());
    assert_eq!(
        fault(&mut reader, entries, Some(hash)),
        ServerFault::Repeated { hash }
    );
}

#[test]
fn hashes_without_readable_messages_are_named_as_such() {
    let archive = archive(3);
    let mut page = entries(&archive);
    page[1].data = None;
    let answer = bytes(HistoryPage {
        entries: page,
        next: None,
    });
    let read = forward(4).take("id", &answer).unwrap();
    assert_eq!(read.unreadable, [archive[1].hash]);
    assert_eq!(
        read.entries,
        entries(&[archive[0].clone(), archive[2].clone()])
    );
}

proptest! {
    #[test]
    fn every_walk_finds_what_the_archive_has(
        count in 0u8..40,
        limit in 1u32..8,
        backward: bool,
        include_data: bool,
        by_hash: bool,
        topics in 0usize..3,
        start in prop::option::of(990i64..1030),
        end in prop::option::of(990i64..1030),
    ) {
        let archive = archive(count);
        let content = ContentCriteria {
            pubsub_topic: Some(TOPIC.into()),
            content_topics: [HEART, CHAT][..topics].iter().map(|&topic| topic.into()).collect(),
            start_ns: start,
            end_ns: end,
        };
        let direction = if backward { PageDirection::Backward } else { PageDirection::Forward };
        let mut query = query(direction, limit, content);
        query.include_data = include_data;
        if by_hash {
            let every_other = archive.iter().step_by(2).map(|stored| stored.hash);
            query.criteria = HistoryCriteria::Hashes(every_other.collect());
        }
        let mut expected: Vec<_> = matching(&archive, &query).iter().map(|m| m.hash).collect();
        if backward {
            expected.reverse();
        }
        let mut reader = HistoryReader::new(query, ReaderLimits::default());
        prop_assert_eq!(walk(&mut reader, &archive), expected);
    }

    #[test]
    fn mutated_pages_never_panic_and_never_pass_a_changed_message(
        at: prop::sample::Index,
        byte: u8,
    ) {
        let archive = archive(6);
        let mut mutated = bytes(HistoryPage { entries: entries(&archive), next: None }).to_vec();
        let at = at.index(mutated.len());
        mutated[at] = byte;
        if let Ok(page) = forward(6).take("id", &mutated.into()) {
            for found in page.entries {
                let known = archive.iter().find(|stored| stored.hash == found.hash).unwrap();
                let data = found.data.unwrap();
                prop_assert_eq!(message_hash(&data.pubsub_topic, &data.message), known.hash);
            }
        }
    }
}
