//! Tests of CoDel against RFC 8289: when it begins and stops dropping, and a comparison with a literal
//! transcription of the RFC's pseudocode.

use proptest::prelude::*;

use super::super::codel::{CoDelVerdict, HeadPacket, Law};
use super::*;

fn one_link(uplink: LinkConfig) -> Network<usize> {
    let host = HostConfig {
        uplink,
        downlink: LinkConfig::UNLIMITED,
    };
    Network::new(&[host; 2], Paths::uniform(Path::constant(0)), [0; 32]).unwrap()
}

fn codel(config: CoDel) -> LinkConfig {
    LinkConfig {
        discipline: Discipline::CoDel(config),
        ..LinkConfig::wire(mbit(12), u64::MAX)
    }
}

#[test]
fn a_standing_queue_is_dropped_from_at_the_square_root_law() {
    // 1500 bytes take 1 ms. All packets arrive at once, so packet n is taken from the queue n ms later.
    // Packet 5 has waited 5 ms: the first drop is an interval later, at 105 ms. The next ones follow 100,
    // 100/sqrt(2) = 70.7 and 100/sqrt(3) = 57.7 ms after; a drop happens at the first dequeue that is not
    // before it is due.
    let log = run(&mut one_link(codel(CoDel::RFC_8289)), &volley(0, 400, 1500));
    let at_ms: Vec<_> = log.dropped.iter().map(|(at_ns, _, _)| at_ns / MS).collect();
    assert_eq!(at_ms[..4], [105, 205, 276, 334]);
    assert!(
        log.dropped
            .iter()
            .all(|(_, why, _)| *why == Why::Late(Side::Uplink))
    );
}

#[test]
fn a_queue_below_the_target_or_one_packet_long_is_left_alone() {
    let short = CoDel {
        target_ns: 5 * MS,
        ..CoDel::RFC_8289
    };
    // Four packets of 1 ms each every 4 ms: the link is always busy, but the delay never reaches 5 ms.
    let sends: Vec<_> = (0..250)
        .flat_map(|round| volley(round * 4 * MS, 4, 1500))
        .collect();
    assert_eq!(run(&mut one_link(codel(short)), &sends).dropped, []);

    // A link so slow that every second packet waits longer than the target, but the queue never holds two
    // packets.
    let slow = LinkConfig {
        rate: Some(mbit(1)),
        ..codel(CoDel::RFC_8289)
    };
    let sends: Vec<_> = (0..100)
        .flat_map(|round| volley(round * 24 * MS, 2, 1500))
        .collect();
    assert_eq!(run(&mut one_link(slow), &sends).dropped, []);
}

/// RFC 8289, section 5, transcribed literally, over a queue of (enqueued, length).
#[derive(Default)]
struct Rfc {
    queue: Vec<(u64, u64)>,
    first_above: u64,
    drop_next: u64,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

const TARGET: u64 = 5 * MS;
const INTERVAL: u64 = 100 * MS;

impl Rfc {
    fn dodequeue(&mut self, now: u64) -> (Option<(u64, u64)>, bool) {
        if self.queue.is_empty() {
            self.first_above = 0;
            return (None, false);
        }
        let packet = self.queue.remove(0);
        let bytes: u64 = self.queue.iter().map(|(_, len)| len).sum();
        if now - packet.0 < TARGET || bytes <= 1500 {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = now + INTERVAL;
        } else if now >= self.first_above {
            return (Some(packet), true);
        }
        (Some(packet), false)
    }

    fn control_law(t: u64, count: u32) -> u64 {
        t + (INTERVAL as f64 / f64::from(count).sqrt()) as u64
    }

    /// The packet to send and the packets dropped before it.
    fn dequeue(&mut self, now: u64) -> (Option<(u64, u64)>, usize) {
        let mut drops = 0;
        let (mut packet, mut ok_to_drop) = self.dodequeue(now);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                drops += 1;
                self.count += 1;
                (packet, ok_to_drop) = self.dodequeue(now);
                if ok_to_drop {
                    self.drop_next = Self::control_law(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            drops += 1;
            (packet, _) = self.dodequeue(now);
            self.dropping = true;
            let delta = self.count.wrapping_sub(self.lastcount);
            self.count = 1;
            if delta > 1 && now - self.drop_next < 16 * INTERVAL {
                self.count = delta;
            }
            self.drop_next = Self::control_law(now, self.count);
            self.lastcount = self.count;
        }
        (packet, drops)
    }
}

fn ours(law: &mut Law, queue: &mut Vec<(u64, u64)>, now: u64) -> (Option<(u64, u64)>, usize) {
    let mut pop = || {
        let head = (!queue.is_empty()).then(|| queue.remove(0));
        let left_bytes = queue.iter().map(|(_, len)| len).sum();
        let seen = head.map(|(since, _)| HeadPacket {
            waited_ns: now - since,
            left_bytes,
        });
        (head, seen)
    };
    let (mut head, seen) = pop();
    let mut drops = 0;
    let mut verdict = law.first(now, seen);
    while verdict == CoDelVerdict::Drop {
        drops += 1;
        let (next, seen) = pop();
        head = next;
        verdict = law.next(now, seen);
    }
    (head, drops)
}

proptest! {
    /// The load varies, so that dropping states begin, end and begin again.
    #[test]
    fn the_law_is_the_rfc(phases in proptest::collection::vec((0_u64..4, 1_u64..400), 1..12)) {
        let mut rfc = Rfc::default();
        let mut law = Law::new(CoDel::RFC_8289);
        let mut queue = Vec::new();
        // Starts after time 0, which the RFC uses as the value for "not above".
        let mut now = MS;
        for (arrivals, ticks) in phases {
            for _ in 0..ticks {
                let came = (0..arrivals).map(|_| (now, 1500));
                rfc.queue.extend(came.clone());
                queue.extend(came);
                // The two implementations round the square root differently, by less than a nanosecond
                // per drop; time steps of odd length keep dequeues away from such ties.
                now += 1_234_567;
                prop_assert_eq!(ours(&mut law, &mut queue, now), rfc.dequeue(now));
            }
        }
    }
}
