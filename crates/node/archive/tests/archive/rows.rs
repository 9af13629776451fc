//! Messages as they go in and come out.

use bytes::Bytes;
use undertone_archive::InsertReport;
use undertone_message::{MessageHash, WakuMessage};
use undertone_services::history::StoredMessage;

use crate::fixture::{HOUR_NS, both, by_hashes, everything, hashes, message, on, pages, stored};

both! {
    /// Present and absent fields remain distinct in history, and the proof is included.
    async fn what_comes_out_is_what_went_in(place: Place) {
        let archive = place.open("none").await;
        let long = "/".repeat(9000);
        let mut batch = Vec::new();
        for (index, content) in ["", "/a\0b/1/c/proto", long.as_str(), "/ü/1/ß/proto"].iter().enumerate() {
            for filled in [false, true] {
                batch.push(StoredMessage::new("/waku/2/rs/1/0", WakuMessage {
                    payload: Bytes::from(vec![index as u8; index * 5000]),
                    content_topic: (*content).into(),
                    version: filled.then_some(u32::MAX),
                    timestamp: filled.then_some(-5),
                    meta: filled.then(Bytes::new),
                    rate_limit_proof: filled.then(|| Bytes::from(vec![7; 300])),
                    ephemeral: filled.then_some(false),
                }));
            }
        }
        batch.push(message(i64::MIN, "first"));
        batch.push(message(i64::MAX, "last"));
        let report = archive.insert(batch.clone()).await.unwrap();
        assert_eq!(report.inserted, batch.len());
        drop(archive);
        let archive = place.open("none").await;
        batch.sort_by_key(|stored| (stored.message.timestamp_ns(), stored.hash));
        let found = archive.query(everything()).await.unwrap();
        assert_eq!(found.entries.into_iter().map(stored).collect::<Vec<_>>(), batch);
        assert_eq!(found.next, None);
    }

    async fn the_report_counts_what_became_of_each_message(place: Place) {
        let archive = place.open("none").await;
        let mut ephemeral = message(1, "ephemeral");
        ephemeral.message.ephemeral = Some(true);
        let batch = vec![message(1, "a"), message(1, "b"), message(1, "a"), ephemeral.clone()];
        let report = archive.insert(batch.clone()).await.unwrap();
        assert_eq!(report, InsertReport { inserted: 2, duplicates: 1, ephemeral: 1, out_of_range: 0 });
        let again = archive.insert(batch).await.unwrap();
        assert_eq!(again, InsertReport { inserted: 0, duplicates: 3, ephemeral: 1, out_of_range: 0 });
        assert_eq!(archive.contains(&[ephemeral.hash]).await.unwrap(), [false]);
        assert_eq!(archive.insert(Vec::new()).await.unwrap(), InsertReport::default());
        assert_eq!(archive.stats().await.unwrap().messages, 2);
    }

    /// The hash does not mark where a topic ends, so that two messages can share one.
    async fn of_messages_with_one_hash_the_first_stays(place: Place) {
        let archive = place.open("none").await;
        let first = on("/topic", "/c", 5, "end-payload");
        let second = on("/topicend", "/c", 5, "-payload");
        assert_eq!(first.hash, second.hash);
        archive.insert(vec![first.clone()]).await.unwrap();
        assert_eq!(archive.insert(vec![second]).await.unwrap().duplicates, 1);
        let found = archive.query(everything()).await.unwrap();
        assert_eq!(found.entries.into_iter().map(stored).collect::<Vec<_>>(), [first]);
    }

    async fn hashes_between_two_timestamps_are_listed_up_to_a_limit(place: Place) {
        let archive = place.open("none").await;
        let batch: Vec<_> = (0..30).map(|n| on(&format!("/p{}", n % 3), "/c", n / 2, "x")).collect();
        archive.insert(batch.clone()).await.unwrap();
        let mut expected: Vec<_> =
            batch.iter().map(|m| (m.message.timestamp_ns(), m.hash)).filter(|(t, _)| (3..=9).contains(t)).collect();
        expected.sort_unstable();
        assert_eq!(expected.len(), 14);
        assert_eq!(archive.hashes(3, 9, 100).await.unwrap(), expected);
        assert_eq!(archive.hashes(3, 9, 5).await.unwrap(), expected[..5]);
        assert_eq!(archive.hashes(9, 3, 5).await.unwrap(), []);
        let asked = [batch[7].hash, MessageHash([0; 32]), batch[0].hash];
        assert_eq!(archive.contains(&asked).await.unwrap(), [true, false, true]);
    }

    async fn headers_between_two_timestamps_are_listed_the_newest_first(place: Place) {
        let archive = place.open("time:1d").await;
        // Several slots of time, and several topics in each.
        let batch: Vec<_> = (0..40)
            .map(|n| on(&format!("/p{}", n % 2), &format!("/c{}", n % 3), n / 2 * HOUR_NS, "x"))
            .collect();
        archive.insert(batch.clone()).await.unwrap();
        let mut expected: Vec<_> = batch
            .iter()
            .map(|m| (m.message.timestamp_ns(), m.hash, m.pubsub_topic.to_string(), m.message.content_topic.to_string()))
            .filter(|(t, ..)| (3 * HOUR_NS..=12 * HOUR_NS).contains(t))
            .collect();
        expected.sort_unstable();
        expected.reverse();
        assert_eq!(expected.len(), 20);
        for limit in [100, 20, 7, 0] {
            let found = archive.headers(3 * HOUR_NS, 12 * HOUR_NS, limit).await.unwrap();
            let found: Vec<_> = found
                .into_iter()
                .map(|h| (h.timestamp_ns, h.hash, h.pubsub_topic.to_string(), h.content_topic.to_string()))
                .collect();
            assert_eq!(found, expected[..limit.min(20)]);
        }
    }

    async fn many_callers_insert_at_the_same_time(place: Place) {
        let archive = place.open("none").await;
        let tasks: Vec<_> = (0..40_i64).map(|task| {
            let archive = archive.clone();
            tokio::spawn(async move {
                // Each message is in two batches.
                let batch: Vec<_> = (0..20).map(|n| message((task / 2) * 20 + n, "x")).collect();
                archive.insert(batch).await.unwrap().inserted
            })
        }).collect();
        let mut inserted = 0;
        for task in tasks {
            inserted += task.await.unwrap();
        }
        assert_eq!(inserted, 400);
        assert_eq!(archive.stats().await.unwrap().messages, 400);
        let found: usize = pages(&archive, everything()).await.iter().map(|page| page.entries.len()).sum();
        assert_eq!(found, 400);
    }

    async fn stats_and_health_tell_what_happened(place: Place) {
        let archive = place.open("none").await;
        let empty = archive.stats().await.unwrap();
        assert_eq!((empty.messages, empty.oldest_ns, empty.newest_ns), (0, None, None));
        assert!(archive.health().last_write.is_none());
        archive.insert(vec![message(9, "b"), message(-4, "a")]).await.unwrap();
        drop(archive);
        let archive = place.open("none").await;
        let stats = archive.stats().await.unwrap();
        assert_eq!((stats.messages, stats.oldest_ns, stats.newest_ns), (2, Some(-4), Some(9)));
        assert!(stats.bytes > 0);
        let sizes = archive.sizes().await.unwrap();
        assert!(sizes.data_bytes > 0 && sizes.index_bytes > 0);
        archive.insert(vec![message(11, "c")]).await.unwrap();
        let health = archive.health();
        assert!(health.last_write.is_some() && health.last_error.is_none() && !health.failing);
        assert_eq!(archive.stats().await.unwrap().newest_ns, Some(11));
    }

    async fn a_query_without_data_has_hashes_alone(place: Place) {
        let archive = place.open("none").await;
        let one = message(1, "a");
        archive.insert(vec![one.clone()]).await.unwrap();
        for mut query in [everything(), by_hashes(vec![one.hash])] {
            query.include_data = false;
            let page = archive.query(query).await.unwrap();
            assert_eq!(hashes(&page), [one.hash]);
            assert!(page.entries[0].data.is_none());
        }
    }
}
