//! The fluid model compared with packets served one by one.

use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;
const MBIT_100: u64 = 12_500_000;
const LONG: QueueDiscipline = QueueDiscipline::Fifo {
    max_bytes: u64::MAX >> 1,
};

fn link(discipline: QueueDiscipline) -> Downlink {
    Downlink::new(&LinkRate::new(MBIT_100, 0, 0), discipline)
}

#[test]
fn a_burst_at_the_links_own_rate_does_not_wait() {
    let mut link = link(LONG);
    link.begin(0, 1, 125_000, 10 * MS);
    assert_eq!(link.end(10 * MS, 1), (10 * MS, 0));
}

#[test]
fn two_bursts_at_once_take_twice_as_long() {
    let mut link = link(LONG);
    link.begin(0, 1, 125_000, 10 * MS);
    link.begin(0, 2, 125_000, 10 * MS);
    let (first, _) = link.end(10 * MS, 1);
    let (second, _) = link.end(10 * MS, 2);
    assert!(first.abs_diff(20 * MS) <= 1 && second.abs_diff(20 * MS) <= 1);
}

#[test]
fn what_does_not_fit_is_dropped_from_those_who_are_sending() {
    let room = 50_000;
    let mut link = link(QueueDiscipline::Fifo { max_bytes: room });
    link.begin(0, 1, 125_000, 10 * MS);
    link.begin(0, 2, 125_000, 10 * MS);
    let (passed, first) = link.end(10 * MS, 1);
    let (_, second) = link.end(10 * MS, 2);
    assert_eq!(passed, 14 * MS, "the room is what is left to wait for");
    assert_eq!((first, second), (25, 25), "75 000 bytes in packets of 1500");
}

#[test]
fn codel_tolerates_a_short_queue_and_drops_from_a_standing_one() {
    let codel = QueueDiscipline::CoDel {
        target_ns: 10 * MS,
        interval_ns: 100 * MS,
    };
    let mut short = link(codel);
    for burst in 0..8 {
        short.begin(0, burst, 25_000, 2 * MS);
    }
    let dropped: u32 = (0..8).map(|burst| short.end(2 * MS, burst).1).sum();
    assert_eq!(dropped, 0, "14 ms of queue, but not for 100 ms");
    let mut standing = link(codel);
    for burst in 0..7 {
        standing.begin(0, burst, 500_000, 40 * MS);
    }
    let dropped: u32 = (0..7).map(|burst| standing.end(40 * MS, burst).1).sum();
    assert_eq!(dropped, 0, "not yet above for an interval");
    standing.begin(50 * MS, 9, 2_000_000, 160 * MS);
    assert!(standing.end(210 * MS, 9).1 > 0);
}

proptest! {
    /// Compares the model with packets of 100 bytes, served in the order in which they arrive.
    #[test]
    fn agrees_with_a_queue_of_packets(
        bursts in prop::collection::vec((0u64..30, 1u64..400, 1u64..20), 1..8)
    ) {
        const PACKET: u64 = 100;
        let mut packets = Vec::new();
        for (i, (start, count, lasts)) in bursts.iter().enumerate() {
            let gap = *lasts as f64 * MS as f64 / *count as f64;
            for n in 0..*count {
                let at = (start * MS) as f64 + gap * (n + 1) as f64;
                packets.push((at, i, n + 1 == *count));
            }
        }
        packets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let service = PACKET as f64 * 1e9 / MBIT_100 as f64;
        let (mut free, mut naive) = (0f64, vec![0f64; bursts.len()]);
        for (at, burst, last) in packets {
            free = free.max(at) + service;
            if last {
                naive[burst] = free;
            }
        }
        let mut edges: Vec<(u64, usize, bool)> = Vec::new();
        for (i, (start, _, lasts)) in bursts.iter().enumerate() {
            edges.push((start * MS, i, true));
            edges.push(((start + lasts) * MS, i, false));
        }
        edges.sort_unstable_by_key(|(at, i, begins)| (*at, !*begins, *i));
        let mut fluid = link(LONG);
        for (at, i, begins) in edges {
            let (_, count, lasts) = bursts[i];
            if begins {
                fluid.begin(at, i as u64, count * PACKET, lasts * MS);
            } else {
                let (passed, _) = fluid.end(at, i as u64);
                // The model may differ by one packet of each burst.
                let tolerance = service * (bursts.len() + 1) as f64;
                let error = (passed as f64 - naive[i]).abs();
                prop_assert!(error <= tolerance, "burst {i}: {passed} against {}", naive[i]);
            }
        }
    }
}

/// RFC 8289, section 4.3: the next dropping state starts from the drops counted in the last one, if it
/// begins soon after it.
#[test]
fn codel_begins_again_at_the_rate_of_the_last_dropping_state() {
    let codel = QueueDiscipline::CoDel {
        target_ns: 5 * MS,
        interval_ns: 100 * MS,
    };
    let mut link = link(codel);
    let mut burst = 0;
    let mut stand = |link: &mut Downlink, from_ms: u64, for_ms: u64| {
        burst += 1;
        // Twice the load that the link carries.
        let bytes = MBIT_100 * 2 * for_ms / 1000;
        link.begin(from_ms * MS, burst, bytes, for_ms * MS);
        link.end((from_ms + for_ms) * MS, burst);
        link.codel.last_count
    };
    let began = stand(&mut link, 0, 350);
    assert_eq!(began, 1);
    // The queue then drains, while packets are still dropped from it.
    link.advance(999 * MS);
    let ended = link.codel.count;
    assert!(ended >= 4, "{ended}");
    let again = stand(&mut link, 1000, 150);
    assert_eq!(again, ended - began);
    let much_later = stand(&mut link, 10_000, 150);
    assert_eq!(much_later, 1);
}
