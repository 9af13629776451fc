//! The network compared with a reference model that follows each packet separately.

use proptest::prelude::*;

use super::*;

/// Departure times of packets on one tail-drop link, in the order of their arrival.
fn naive_link(
    arrivals: &[(u64, usize)],
    len_of: &[u32],
    ns_per_byte: u64,
    max_bytes: u64,
) -> (Vec<(u64, usize)>, Vec<usize>) {
    // Begin and end of the transmission of each accepted packet.
    let mut accepted: Vec<(u64, u64, usize)> = Vec::new();
    let mut dropped = Vec::new();
    for &(at, packet) in arrivals {
        let free = accepted.last().map_or(0, |(_, end, _)| *end);
        let waiting = accepted.iter().filter(|(start, _, _)| *start > at);
        let bytes: u64 = waiting
            .map(|(_, _, packet)| u64::from(len_of[*packet]))
            .sum();
        let len = u64::from(len_of[packet]);
        if free > at && bytes + len > max_bytes {
            dropped.push(packet);
            continue;
        }
        let start = free.max(at);
        accepted.push((start, start + len * ns_per_byte, packet));
    }
    (
        accepted
            .into_iter()
            .map(|(_, end, packet)| (end, packet))
            .collect(),
        dropped,
    )
}

proptest! {
    #[test]
    fn as_packet_by_packet(
        gaps_ns in proptest::collection::vec((0_u64..3_000_000, 40_u32..1500, 0_u32..3), 1..150),
        (up_kb, down_kb) in (2_u64..20, 2_u64..20),
        delay_ns in 0_u64..10_000_000,
    ) {
        // Hosts 0..3 send to host 3: uplinks of 1 byte/us, downlink of 2 bytes/us. Odd send times and
        // even durations keep an arrival from coinciding with a departure.
        let mut now = 1;
        let sends: Vec<_> = gaps_ns
            .into_iter()
            .map(|(gap, len_bytes, from)| {
                now += gap * 2;
                Send { at_ns: now, from, to: 3, len_bytes }
            })
            .collect();
        let host = HostConfig {
            uplink: LinkConfig::wire(mbit(8), up_kb * 1000),
            downlink: LinkConfig::wire(mbit(16), down_kb * 1000),
        };
        let paths = Paths::uniform(Path::constant(delay_ns * 2 + 1));
        let log = run(&mut Network::new(&[host; 4], paths, [0; 32]).unwrap(), &sends);

        let len_of: Vec<_> = sends.iter().map(|send| send.len_bytes).collect();
        let mut reached = Vec::new();
        let mut dropped = Vec::new();
        for from in 0..3 {
            let own: Vec<_> = sends.iter().enumerate().filter(|(_, send)| send.from == from)
                .map(|(packet, send)| (send.at_ns, packet)).collect();
            let (left, full) = naive_link(&own, &len_of, 1000, up_kb * 1000);
            reached.extend(left.iter().map(|(at, packet)| (at + delay_ns * 2 + 1, *packet)));
            dropped.extend(full);
        }
        reached.sort_by_key(|(at, _)| *at);
        // Uplinks of several hosts can end at the same time; the order among those is not specified.
        prop_assume!(reached.windows(2).all(|pair| pair[0].0 != pair[1].0));
        let (delivered, full) = naive_link(&reached, &len_of, 500, down_kb * 1000);
        dropped.extend(full);
        dropped.sort_unstable();
        let mut gone: Vec<_> = log.dropped.iter().map(|(_, _, packet)| *packet).collect();
        gone.sort_unstable();
        prop_assert_eq!(log.delivered, delivered);
        prop_assert_eq!(gone, dropped);
    }
}
