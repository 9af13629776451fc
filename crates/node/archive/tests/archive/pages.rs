//! Pages, cursors and criteria.

use undertone_archive::QueryError;
use undertone_message::MessageHash;
use undertone_services::history::{ContentCriteria, HistoryError, PageDirection};

use crate::fixture::{
    both, by, by_hashes, everything, hashes, message, on, pages, payloads, topics,
};

both! {
    async fn pages_follow_each_other_in_both_directions(place: Place) {
        let archive = place.open("none").await;
        let mut batch: Vec<_> = (0..25).map(|n| message(n / 4, &n.to_string())).collect();
        archive.insert(batch.clone()).await.unwrap();
        batch.sort_by_key(|m| (m.message.timestamp_ns(), m.hash));
        let order: Vec<_> = batch.iter().map(|m| m.hash).collect();
        for all in [everything(), by_hashes(order.iter().rev().copied().collect())] {
            let mut query = all;
            query.limit = 10;
            let found = pages(&archive, query.clone()).await;
            assert_eq!(found.iter().map(hashes).collect::<Vec<_>>(), [&order[..10], &order[10..20], &order[20..]]);
            assert_eq!(found[0].next, Some(order[9]));
            query.direction = PageDirection::Backward;
            let found = pages(&archive, query).await;
            assert_eq!(found.iter().map(hashes).collect::<Vec<_>>(), [&order[15..], &order[5..15], &order[..5]]);
            assert_eq!(found[0].next, Some(order[15]));
        }
    }

    async fn the_last_page_has_no_cursor_even_if_it_is_full(place: Place) {
        let archive = place.open("none").await;
        archive.insert((0..10).map(|n| message(n, "x")).collect()).await.unwrap();
        let mut query = everything();
        query.limit = 5;
        assert_eq!(pages(&archive, query.clone()).await.len(), 2);
        query.limit = 10;
        assert_eq!(pages(&archive, query).await.len(), 1);
    }

    async fn a_page_has_at_least_one_message_and_at_most_a_hundred(place: Place) {
        let archive = place.open("none").await;
        archive.insert((0..150).map(|n| message(n, "x")).collect()).await.unwrap();
        for (limit, length) in [(0, 1), (1, 1), (37, 37), (100, 100), (u32::MAX, 100)] {
            let mut query = everything();
            query.limit = limit;
            assert_eq!(archive.query(query).await.unwrap().entries.len(), length);
        }
    }

    async fn criteria_are_all_met(place: Place) {
        let archive = place.open("none").await;
        archive.insert(vec![
            on("/p/0", "/a", 1, "0a1"), on("/p/0", "/b", 2, "0b2"), on("/p/1", "/a", 3, "1a3"),
            on("/p/1", "/c", 4, "1c4"), on("/p/0", "/a", 5, "0a5"),
        ]).await.unwrap();
        let found = async |criteria| payloads(&archive, by(criteria)).await;
        assert_eq!(found(topics(None, &["/a"])).await, ["0a1", "1a3", "0a5"]);
        assert_eq!(found(topics(Some("/p/0"), &[])).await, ["0a1", "0b2", "0a5"]);
        assert_eq!(found(topics(Some("/p/0"), &["/a"])).await, ["0a1", "0a5"]);
        assert_eq!(found(topics(None, &["/c", "/b", "/c", "/x"])).await, ["0b2", "1c4"]);
        assert_eq!(found(topics(Some("/p/2"), &["/a"])).await, [""; 0]);
        assert_eq!(found(topics(Some("/p/2"), &[])).await, [""; 0]);
        let range = ContentCriteria { start_ns: Some(2), end_ns: Some(4), ..topics(None, &["/a", "/b"]) };
        assert_eq!(found(range).await, ["0b2", "1a3"]);
        let none = ContentCriteria { start_ns: Some(4), end_ns: Some(2), ..ContentCriteria::default() };
        assert_eq!(found(none).await, [""; 0]);
    }

    async fn a_topic_is_read_page_by_page(place: Place) {
        let archive = place.open("none").await;
        let text = |n: i64| format!("{n:03}");
        let batch = (0..90).map(|n| on(&format!("/p/{}", n % 2), &format!("/{}", n % 3), n, &text(n))).collect();
        archive.insert(batch).await.unwrap();
        for direction in [PageDirection::Forward, PageDirection::Backward] {
            let mut query = by(topics(None, &["/0", "/2"]));
            query.limit = 7;
            query.direction = direction;
            let mut found = payloads(&archive, query).await;
            found.sort();
            assert_eq!(found, (0..90).filter(|n| n % 3 != 1).map(text).collect::<Vec<_>>());
        }
    }

    async fn a_cursor_need_not_meet_the_criteria_but_has_to_be_there(place: Place) {
        let archive = place.open("none").await;
        let other = on("/p", "/other", 3, "other");
        archive.insert(vec![message(1, "1"), other.clone(), message(5, "5")]).await.unwrap();
        let mut query = by(topics(None, &["/test/1/a/proto"]));
        query.cursor = Some(other.hash);
        assert_eq!(payloads(&archive, query.clone()).await, ["5"]);
        query.direction = PageDirection::Backward;
        assert_eq!(payloads(&archive, query.clone()).await, ["1"]);
        for mut query in [query, by_hashes(vec![other.hash])] {
            query.cursor = Some(MessageHash([9; 32]));
            let error = archive.query(query).await.unwrap_err();
            assert!(matches!(error, QueryError::UnknownCursor));
            assert_eq!(HistoryError::from(error), HistoryError::UnknownCursor);
        }
    }

    async fn hashes_are_found_once_each(place: Place) {
        let archive = place.open("none").await;
        let batch: Vec<_> = (0..5).map(|n| message(n, &n.to_string())).collect();
        archive.insert(batch.clone()).await.unwrap();
        let asked = vec![batch[3].hash, batch[1].hash, batch[3].hash, MessageHash([1; 32])];
        assert_eq!(payloads(&archive, by_hashes(asked)).await, ["1", "3"]);
        assert_eq!(payloads(&archive, by_hashes(Vec::new())).await, [""; 0]);
    }
}
