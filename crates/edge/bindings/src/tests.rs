//! Tests of what needs no node; those with nodes are programs in other languages (`tests/bindings.rs`).

mod inbox;

use undertone_node::command::PublishFailure;
use undertone_node::services::ServiceFailure;
use undertone_services::history::{HistoryCriteria, HistoryError, PageDirection};

use crate::configuration;
use crate::error::NodeError;
use crate::history::StoreQuery;
use crate::messages::{hash_text, read_hash};
use crate::topics::NetworkTopics;

fn argument_of(error: &NodeError) -> &str {
    match error {
        NodeError::Argument { argument, .. } => argument,
        other => panic!("not about an argument: {other:?}"),
    }
}

#[test]
fn a_hash_is_read_as_it_is_written() {
    let text = format!("0x{}", "0a".repeat(32));
    let hash = read_hash("cursor", &text).unwrap();
    assert_eq!(hash_text(&hash), text);
    assert_eq!(read_hash("cursor", &text[2..]).unwrap(), hash);
    for bad in ["", "0x", "0x0a", &"é".repeat(32), &"+a".repeat(32)] {
        let error = read_hash("cursor", bad).unwrap_err();
        assert_eq!(argument_of(&error), "cursor", "{bad}");
    }
}

#[test]
fn an_empty_query_asks_for_the_first_page_of_everything() {
    let query = StoreQuery::default().check().unwrap();
    assert_eq!((query.limit, query.cursor), (20, None));
    assert_eq!(query.direction, PageDirection::Forward);
    assert!(matches!(query.criteria, HistoryCriteria::Content(_)));
}

#[test]
fn a_query_by_hashes_has_no_other_condition() {
    let by_hash = StoreQuery {
        hashes: vec!["0b".repeat(32)],
        newest_first: true,
        ..StoreQuery::default()
    };
    let query = by_hash.check().unwrap();
    assert!(matches!(query.criteria, HistoryCriteria::Hashes(hashes) if hashes.len() == 1));
    let both = StoreQuery {
        start_ns: Some(0),
        ..by_hash
    };
    assert_eq!(argument_of(&both.check().unwrap_err()), "hashes");
}

#[test]
fn a_page_has_a_hundred_messages_at_most() {
    for limit in [0, 101, u32::MAX] {
        let query = StoreQuery {
            limit: Some(limit),
            ..StoreQuery::default()
        };
        assert_eq!(argument_of(&query.check().unwrap_err()), "limit");
    }
}

#[test]
fn topics_are_derived_named_or_refused() {
    let config = configuration::load(String::new(), [].into()).unwrap();
    let topics = NetworkTopics::new(&config);
    let content = "/app/1/name/proto";
    let derived = topics.one(None, content).unwrap();
    assert_eq!(derived.shard().map(|shard| shard.cluster), Some(66));
    let named = topics.one(Some("/waku/2/rs/66/3"), content).unwrap();
    assert_eq!(named.to_string(), "/waku/2/rs/66/3");
    let wanted = topics.wanted(&[content.to_owned()], None).unwrap();
    assert_eq!(wanted, [(derived, Some(content.into()))]);
    assert_eq!(
        topics.wanted(&[], Some("/waku/2/rs/66/3")).unwrap(),
        [(named, None)]
    );
    assert_eq!(
        argument_of(&topics.wanted(&[], None).unwrap_err()),
        "content_topics"
    );
    assert_eq!(
        argument_of(&topics.one(None, "app").unwrap_err()),
        "content_topic"
    );
    let error = topics.one(Some("/waku/2/rs/66"), content).unwrap_err();
    assert_eq!(argument_of(&error), "pubsub_topic");
}

#[test]
fn settings_override_the_text() {
    let settings = [("tcp-port".to_owned(), "1".to_owned())];
    let config = configuration::load("tcp-port = 2".to_owned(), settings.into()).unwrap();
    assert_eq!(config.tcp_port, 1);
}

#[test]
fn failures_tell_who_is_at_fault() {
    let limit = PublishFailure::RateLimit {
        limit: 1,
        resets_in_s: 7,
    };
    assert!(matches!(
        limit.into(),
        NodeError::RateLimit { resets_in_s: 7, .. }
    ));
    assert_eq!(
        NodeError::from(PublishFailure::Stopped(undertone_node::handle::Stopped)),
        NodeError::Stopped
    );
    let cursor = ServiceFailure::Archive(HistoryError::UnknownCursor);
    assert_eq!(argument_of(&cursor.into()), "cursor");
    let archive = ServiceFailure::Archive(HistoryError::Unavailable);
    assert!(matches!(archive.into(), NodeError::Unavailable { .. }));
    let nobody = ServiceFailure::NoPeer { service: "store" };
    assert!(matches!(nobody.into(), NodeError::NoPeers { .. }));
}
