use undertone_message::WakuMessage;

use super::*;
use crate::history::{ContentCriteria, HistoryData, StoredMessage};

fn entry(time_ns: i64) -> HistoryEntry {
    let message = WakuMessage {
        timestamp: Some(time_ns),
        ..WakuMessage::new(b"hello".to_vec(), "/app/1/name/proto")
    };
    let stored = StoredMessage::new("/waku/2/rs/1/0", message);
    HistoryEntry {
        hash: stored.hash,
        data: Some(HistoryData {
            pubsub_topic: stored.pubsub_topic,
            message: stored.message,
        }),
    }
}

fn page(times_ns: &[i64], next: Option<i64>) -> HistoryPage {
    HistoryPage {
        entries: times_ns.iter().copied().map(entry).collect(),
        next: next.map(|time_ns| entry(time_ns).hash),
    }
}

fn query(direction: PageDirection, limit: u32) -> HistoryQuery {
    HistoryQuery {
        include_data: true,
        criteria: HistoryCriteria::Content(ContentCriteria::default()),
        cursor: None,
        direction,
        limit,
    }
}

/// Returns the timestamps of the union and of its cursor, with a second store that returns whatever is
/// requested.
fn union(query: HistoryQuery, leader: HistoryPage, listed: HistoryPage) -> (Vec<i64>, Option<i64>) {
    let comparison = PageComparison::new(query, leader);
    let missing = comparison.missing(&listed);
    let found = match missing.map(|query| query.criteria) {
        Some(HistoryCriteria::Hashes(hashes)) => {
            let mut entries = listed.entries.clone();
            entries.retain(|entry| hashes.contains(&entry.hash));
            entries
        }
        _ => Vec::new(),
    };
    let union = comparison.union(&listed, found);
    let time = |entry: &HistoryEntry| place(entry).unwrap().0;
    let next = union.next.map(|next| {
        let named = union.entries.iter().find(|entry| entry.hash == next);
        named.map_or(-1, time)
    });
    (union.entries.iter().map(time).collect(), next)
}

#[test]
fn an_empty_history_hides_nothing_that_a_second_store_has() {
    for direction in [PageDirection::Forward, PageDirection::Backward] {
        let union = union(
            query(direction, 20),
            page(&[], None),
            page(&[1, 2, 3], None),
        );
        assert_eq!(union, (vec![1, 2, 3], None));
    }
}

#[test]
fn the_page_of_the_leader_stays_as_it_is_where_the_second_store_has_no_more() {
    let forward = || query(PageDirection::Forward, 3);
    for listed in [page(&[1, 2, 3], Some(3)), page(&[2], None), page(&[], None)] {
        let union = union(forward(), page(&[1, 2, 3], Some(3)), listed);
        assert_eq!(union, (vec![1, 2, 3], Some(3)));
    }
}

#[test]
fn what_lies_beyond_the_page_of_the_leader_is_left_for_the_next_one() {
    let forward = query(PageDirection::Forward, 5);
    let listed = page(&[1, 2, 3, 4, 5], None);
    let leader = page(&[1, 3], Some(3));
    assert_eq!(union(forward, leader, listed), (vec![1, 2, 3], Some(3)));
    let backward = query(PageDirection::Backward, 5);
    let listed = page(&[3, 4, 5, 6, 7], None);
    let leader = page(&[5, 7], Some(5));
    assert_eq!(union(backward, leader, listed), (vec![5, 6, 7], Some(5)));
}

#[test]
fn a_page_is_never_longer_than_asked_for_and_goes_on_where_it_was_cut() {
    let forward = query(PageDirection::Forward, 3);
    let listed = page(&[1, 2, 3], Some(3));
    let leader = page(&[2, 4, 6], Some(6));
    assert_eq!(union(forward, leader, listed), (vec![1, 2, 3], Some(3)));
    let backward = query(PageDirection::Backward, 3);
    let listed = page(&[7, 8, 9], Some(7));
    let leader = page(&[4, 6, 8], Some(4));
    assert_eq!(union(backward, leader, listed), (vec![7, 8, 9], Some(7)));
}

#[test]
fn a_history_that_ends_too_early_goes_on_with_the_second_store() {
    let forward = query(PageDirection::Forward, 4);
    let listed = page(&[1, 2, 3], Some(3));
    let leader = page(&[1, 9], None);
    assert_eq!(union(forward, leader, listed), (vec![1, 2, 3], Some(3)));
}

#[test]
fn hashes_without_messages_and_messages_that_were_not_asked_for_are_not_believed() {
    let mut asked = query(PageDirection::Forward, 20);
    asked.criteria = HistoryCriteria::Content(ContentCriteria {
        start_ns: Some(10),
        ..ContentCriteria::default()
    });
    let comparison = PageComparison::new(asked, page(&[11], None));
    let listed = page(&[5, 12], Some(12));
    let nothing = HistoryEntry {
        hash: entry(12).hash,
        data: None,
    };
    let union = comparison.union(&listed, vec![entry(5), nothing]);
    assert_eq!(union, page(&[11], None));
}

#[test]
fn a_store_without_the_message_of_the_cursor_lists_by_time() {
    let mut asked = query(PageDirection::Forward, 20);
    let comparison = PageComparison::new(asked.clone(), page(&[5, 6], None));
    assert_eq!(comparison.listing_by_time(), None, "no cursor");
    asked.cursor = Some(entry(4).hash);
    let comparison = PageComparison::new(asked.clone(), page(&[5, 6], None));
    let listing = comparison.listing_by_time().unwrap();
    let from = ContentCriteria {
        start_ns: Some(5),
        ..ContentCriteria::default()
    };
    assert_eq!(listing.criteria, HistoryCriteria::Content(from));
    assert_eq!((listing.cursor, listing.include_data), (None, false));
}

#[test]
fn stores_agree_that_have_the_same_messages_and_some() {
    let comparison = PageComparison::new(query(PageDirection::Forward, 20), page(&[1, 2], None));
    assert!(comparison.agrees(&page(&[1, 2], None)));
    assert!(!comparison.agrees(&page(&[1], None)));
    let comparison = PageComparison::new(query(PageDirection::Forward, 20), page(&[], None));
    assert!(!comparison.agrees(&page(&[], None)));
}
