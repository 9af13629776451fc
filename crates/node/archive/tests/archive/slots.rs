//! Slots of time, and retention.

use std::time::Duration;

use undertone_archive::{ArchiveOptions, RetentionClock};

use crate::fixture::{HOUR_NS, both, everything, message, payloads};

both! {
    async fn age_drops_slots_and_their_disk_space(place: Place) {
        let archive = place.open("time:24h").await;
        let start_ns = 1_000_000 * HOUR_NS;
        for hour in 0..30 {
            let batch = (0..20).map(|n| message(start_ns + hour * HOUR_NS + n, &format!("{hour}-{n}{}", "x".repeat(3000))));
            archive.insert(batch.collect()).await.unwrap();
        }
        let before = archive.stats().await.unwrap();
        assert_eq!((before.slots, before.messages), (30, 600));
        // The slot of hour 4 ended 24 hours ago, that of hour 5 has one nanosecond left.
        let report = archive.maintain(start_ns + 29 * HOUR_NS).await.unwrap();
        assert_eq!((report.dropped_slots, report.dropped_messages), (5, 100));
        let after = archive.stats().await.unwrap();
        assert_eq!((after.slots, after.messages), (25, 500));
        assert_eq!(after.oldest_ns, Some(start_ns + 5 * HOUR_NS));
        assert!(after.bytes < before.bytes * 9 / 10, "{} of {}", after.bytes, before.bytes);
        assert_eq!(payloads(&archive, everything()).await.len(), 500);
        let nothing = archive.maintain(start_ns + 29 * HOUR_NS).await.unwrap();
        assert_eq!(nothing.dropped_slots, 0);
        // A message that is too old comes back only if it is inserted again, and is dropped again.
        archive.insert(vec![message(start_ns, "old")]).await.unwrap();
        assert_eq!(archive.maintain(start_ns + 29 * HOUR_NS).await.unwrap().dropped_messages, 1);
        drop(archive);
        assert_eq!(place.open("time:24h").await.stats().await.unwrap().messages, 500);
    }

    async fn a_clock_that_jumps_ahead_drops_nothing_until_it_has_held(place: Place) {
        let archive = place.open("time:24h").await;
        let start_ns = 1_000_000 * HOUR_NS;
        archive.insert((0..20).map(|n| message(start_ns + n, &n.to_string())).collect()).await.unwrap();
        let mut clock = RetentionClock::new(archive.stats().await.unwrap().newest_ns);
        let jump_ns = 72 * HOUR_NS;
        let mut dropped = Vec::new();
        for (ahead_ns, monotonic_s) in [(0, 0), (jump_ns, 30), (jump_ns, 60), (0, 90), (jump_ns, 120), (jump_ns, 719), (jump_ns, 720)] {
            let monotonic = Duration::from_secs(monotonic_s);
            let wall_ns = start_ns + ahead_ns + i64::try_from(monotonic.as_nanos()).unwrap();
            let report = archive.maintain(clock.time_ns(wall_ns, monotonic)).await.unwrap();
            dropped.push(report.dropped_messages);
        }
        assert_eq!(dropped, [0, 0, 0, 0, 0, 0, 20]);
    }

    /// Regardless of the rate and the batches.
    async fn a_small_number_is_kept_too(place: Place) {
        let archive = place.open("capacity:200").await;
        for batch in 0..3 {
            archive.insert((0..1_000).map(|n| message(batch * 1_000 + n, "x")).collect()).await.unwrap();
            let kept = archive.stats().await.unwrap().messages;
            assert!((170..=200).contains(&kept), "{kept}");
        }
        let newest = archive.hashes(0, i64::MAX, 5000).await.unwrap();
        assert_eq!(newest.last().unwrap().0, 2_999);
    }

    async fn a_small_age_is_kept_too(place: Place) {
        let archive = place.open("time:900").await;
        let minute_ns = HOUR_NS / 60;
        let start_ns = 1_000_000 * HOUR_NS;
        for minute in 0..40 {
            archive.insert(vec![message(start_ns + minute * minute_ns, "x")]).await.unwrap();
            archive.maintain(start_ns + minute * minute_ns).await.unwrap();
        }
        let stats = archive.stats().await.unwrap();
        assert_eq!(stats.messages, 16);
        assert_eq!(stats.oldest_ns, Some(start_ns + 24 * minute_ns));
    }

    /// With less than an hour's messages in all.
    async fn number_is_kept_within_a_sixteenth(place: Place) {
        let archive = place.open("capacity:1600").await;
        let mut kept_least = u64::MAX;
        for step in 0..60_i64 {
            let now_ns = step * 1_000_000_000;
            archive.insert((0..50).map(|n| message(now_ns + n, "x")).collect()).await.unwrap();
            let report = archive.maintain(now_ns + 100).await.unwrap();
            let kept = archive.stats().await.unwrap().messages;
            assert!(kept <= 1600 && !report.above_limit);
            if step > 40 {
                kept_least = kept_least.min(kept);
            }
        }
        assert!(kept_least >= 1600 * 14 / 16, "{kept_least}");
        let newest = archive.hashes(0, i64::MAX, 5000).await.unwrap();
        assert_eq!(newest.last().unwrap().0, 59_000_000_049);
        assert_eq!(newest.len() as u64, archive.stats().await.unwrap().messages);
    }

    async fn size_is_kept(place: Place) {
        let archive = place.open("size:6MB").await;
        let mut rng = 1_u64;
        for step in 0..60_i64 {
            let now_ns = step * 1_000_000_000;
            let batch = (0..50).map(|n| {
                // What PostgreSQL cannot compress.
                let payload: String = (0..4000).map(|_| {
                    rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    char::from(b' ' + (rng >> 58) as u8)
                }).collect();
                message(now_ns + n, &payload)
            });
            archive.insert(batch.collect()).await.unwrap();
            archive.maintain(now_ns + 100).await.unwrap();
        }
        let stats = archive.stats().await.unwrap();
        assert!(stats.bytes <= 6_500_000, "{stats:?}");
        assert!(stats.bytes >= 4_000_000 && stats.messages >= 700, "{stats:?}");
    }

    async fn closed_slots_take_late_messages(place: Place) {
        let archive = place.open("capacity:160").await;
        archive.insert((0..11).map(|n| message(10 + 2 * n, &n.to_string())).collect()).await.unwrap();
        archive.insert(vec![message(29, "late"), message(31, "new")]).await.unwrap();
        assert_eq!(archive.stats().await.unwrap().slots, 2);
        drop(archive);
        let archive = place.open("capacity:160").await;
        let found = payloads(&archive, everything()).await;
        assert_eq!(found, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "late", "10", "new"]);
    }

    async fn timestamps_from_anywhere_make_no_more_slots_than_allowed(place: Place) {
        let archive = place.open_with(ArchiveOptions::default().with_max_slots(8)).await;
        let batch = (-10..10).map(|n| message(n * (i64::MAX / 10), "x")).collect();
        let report = archive.insert(batch).await.unwrap();
        assert_eq!((report.inserted, report.out_of_range), (8, 12));
        let stats = archive.stats().await.unwrap();
        assert_eq!((stats.slots, stats.messages), (8, 8));
        assert_eq!(payloads(&archive, everything()).await.len(), 8);
    }
}
