//! What the log keeps, and for how many clients.

use proptest::prelude::*;

use super::*;
use crate::events::log::EventLookup;

#[tokio::test(start_paused = true)]
async fn nothing_is_kept_before_the_first_client_but_all_is_numbered() {
    let log = Arc::new(EventLog::new(limits(3), 0));
    deliver_numbered(&log, 1..=4);
    assert_eq!((log.newest(), log.oldest()), (4, None));
    assert_eq!(log.kept_bytes(), 0);
    let mut client = Client::new(&log, EventFilter::default(), None);
    deliver_numbered(&log, [5]);
    assert_eq!(client.payloads(1).await, [5]);
    assert!(client.cursor.contains("-5-"), "{}", client.cursor);
    // It is kept for others that come back, although no client is there.
    let cursor = client.cursor.clone();
    drop(client);
    deliver_numbered(&log, 6..=9);
    let mut again = Client::new(&log, EventFilter::default(), Some(&cursor));
    assert_eq!(again.event().await.data.unwrap()["lostAtMost"], 1, "6");
    assert_eq!(again.payloads(3).await, [7, 8, 9]);
}

proptest! {
    /// The ring holds the longest run of newest messages within its bounds, whatever their lengths.
    #[test]
    fn the_ring_is_bounded_by_number_and_bytes(
        lengths in prop::collection::vec(0usize..3000, 1..60),
        events_max in 1usize..20,
        bytes_max in 1usize..20_000,
    ) {
        let log = log(EventLimits { events_max, bytes_max, ..limits(1) });
        // As the ring estimates it: text around the message, and base64.
        let cost = |length: &usize| 768 + length / 3 * 4 + TOPIC.len() * 7;
        for (i, length) in lengths.iter().enumerate() {
            deliver(&log, TOPIC, vec![0; *length]);
            let mut expected = 0;
            let mut bytes = 0;
            for length in lengths[..=i].iter().rev() {
                bytes += cost(length);
                if expected == events_max || bytes > bytes_max {
                    break;
                }
                expected += 1;
            }
            let newest = i as u64 + 1;
            let oldest = log.oldest().map(|(number, _)| number);
            let first = newest + 1 - expected as u64;
            prop_assert_eq!(oldest, (expected > 0).then_some(first));
        }
    }

    /// The estimate of an event's bytes is not below what its text takes.
    #[test]
    fn the_estimate_covers_the_text(length in 0usize..5000, topic in "\\PC{0,300}|[\u{1}-\u{8}]{0,300}") {
        let log = log(EventLimits::default());
        deliver(&log, &topic, vec![0; length]);
        let cost = log.kept_bytes();
        let EventLookup::Event(event) = log.find(0, |_| true) else {
            panic!("it is the first");
        };
        let text = log.encoded(&event).len();
        prop_assert!(text <= cost, "{} > {}", text, cost);
    }
}

#[test]
fn a_process_that_may_open_few_files_serves_fewer_clients() {
    let limits = EventLimits::default();
    assert_eq!(limits.within_files(1 << 20), limits);
    assert_eq!(limits.within_files(1_024).clients_max, 409);
    assert_eq!(limits.within_files(1).clients_max, 1);
}
