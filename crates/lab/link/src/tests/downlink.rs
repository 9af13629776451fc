//! The fluid model compared with packets served one by one.

use proptest::prelude::*;

use super::*;
use crate::packet::queue::PacketQueue;
use crate::packet::{CoDel, Discipline, LinkConfig};

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
    let (passed_ns, _) = standing.end(210 * MS, 9);
    let dropped: u32 = (0..7).map(|burst| standing.passed(280 * MS, burst)).sum();
    assert!(
        dropped > 0,
        "those that arrived first are at the head of the queue"
    );
    assert!(standing.passed(passed_ns, 9) > 0);
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
                fluid.begin(at, i as u32, count * PACKET, lasts * MS);
            } else {
                let (passed, _) = fluid.end(at, i as u32);
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

/// Packets of each burst that CoDel drops from a queue of single packets. Bursts begin together and are equally long.
fn dropped_from_packets(bursts: u32, packets: u32, lasts_ns: u64) -> Vec<u32> {
    const PACKET: u32 = 1500;
    let config = LinkConfig {
        queue_max_bytes: u64::MAX,
        discipline: Discipline::CoDel(CoDel {
            target_ns: 10 * MS,
            interval_ns: 100 * MS,
            max_packet_bytes: PACKET,
        }),
        ..LinkConfig::UNLIMITED
    };
    let mut queue = PacketQueue::new(&config);
    let service_ns = u64::from(PACKET) * 1_000_000_000 / MBIT_100;
    let arrives_ns = |n: u32| lasts_ns * u64::from(n + 1) / u64::from(packets);
    let mut arrivals = (0..packets).flat_map(|n| (0..bursts).map(move |burst| (n, burst)));
    let mut next = arrivals.next();
    let mut dropped = vec![0; bursts as usize];
    let mut now_ns = 0;
    loop {
        while let Some((n, burst)) = next
            && arrives_ns(n) <= now_ns
        {
            queue.push(arrives_ns(n), PACKET, burst).unwrap();
            next = arrivals.next();
        }
        let sent = queue.pop(now_ns, |burst| dropped[burst as usize] += 1);
        match (sent, next) {
            (Some(_), _) => now_ns += service_ns,
            (None, Some((n, _))) => now_ns = now_ns.max(arrives_ns(n)),
            (None, None) => return dropped,
        }
    }
}

#[test]
fn codel_drops_from_bursts_that_wait_as_from_a_queue_of_packets() {
    let codel = QueueDiscipline::CoDel {
        target_ns: 10 * MS,
        interval_ns: 100 * MS,
    };
    for (bursts, packets, lasts_ms) in [(2, 700, 40), (5, 300, 20), (8, 685, 42), (20, 70, 5)] {
        let naive = dropped_from_packets(bursts, packets, lasts_ms * MS);
        let mut fluid = link(codel);
        for burst in 0..bursts {
            fluid.begin(0, burst, u64::from(packets) * 1500, lasts_ms * MS);
        }
        let ended: Vec<(u64, u32)> = (0..bursts)
            .map(|burst| fluid.end(lasts_ms * MS, burst))
            .collect();
        let dropped: Vec<u32> = (0..)
            .zip(&ended)
            .map(|(burst, (passed_ns, early))| early + fluid.passed(*passed_ns, burst))
            .collect();
        let (all, expected) = (dropped.iter().sum::<u32>(), naive.iter().sum::<u32>());
        assert!(
            all.abs_diff(expected) <= 1 + expected / 20,
            "{dropped:?}, not {naive:?}"
        );
        // Each in its turn, as the packets come in turn.
        let (least, most) = (dropped.iter().min(), dropped.iter().max());
        assert!(
            most.zip(least)
                .is_some_and(|(most, least)| most - least <= 1),
            "{dropped:?}"
        );
    }
}

#[test]
fn a_change_of_rate_does_not_change_which_packet_is_at_the_head() {
    let mut link = link(QueueDiscipline::CoDel {
        target_ns: 10 * MS,
        interval_ns: 100 * MS,
    });
    for burst in 0..4 {
        link.begin(0, burst, 1_000_000, 20 * MS);
    }
    for burst in 0..4 {
        link.end(20 * MS, burst);
    }
    let later_ns = 30 * MS;
    link.set_rate(later_ns, &LinkRate::new(MBIT_100 * 2, 0, 0));
    link.begin(later_ns, 9, 1_000_000, 20 * MS);
    link.end(later_ns + 20 * MS, 9);
    let first: u32 = (0..4).map(|burst| link.passed(170 * MS, burst)).sum();
    assert!(
        first > 0,
        "the four that came first are at the head until 175 ms"
    );
    assert_eq!(link.passed(170 * MS, 9), 0, "the last one is behind them");
}
