//! Tests of rates, bursts, queues and misuse by the driver.

use super::*;

fn two(uplink: LinkConfig, downlink: LinkConfig, path: Path) -> Network<usize> {
    let host = HostConfig { uplink, downlink };
    Network::new(&[host, host], Paths::uniform(path), [7; 32]).unwrap()
}

#[test]
fn a_packet_takes_both_links_and_the_path() {
    let wire = LinkConfig::wire(mbit(100), u64::MAX);
    let mut network = two(wire, wire, Path::constant(75 * MS));
    let log = run(&mut network, &volley(0, 3, 1500));
    // 1500 bytes at 12.5 bytes a microsecond are 120 us; the downlink overlaps with the next one.
    let first = 75 * MS + 240_000;
    assert_eq!(
        log.delivered,
        [(first, 0), (first + 120_000, 1), (first + 240_000, 2)]
    );
}

#[test]
fn without_rates_only_the_path_counts() {
    let mut network = two(
        LinkConfig::UNLIMITED,
        LinkConfig::UNLIMITED,
        Path::constant(MS),
    );
    let log = run(&mut network, &volley(5, 2, 65_535));
    assert_eq!(log.delivered, [(MS + 5, 0), (MS + 5, 1)]);
}

#[test]
fn a_burst_passes_at_once_and_is_earned_again() {
    let uplink = LinkConfig {
        burst_bytes: 3000,
        ..LinkConfig::wire(mbit(8), u64::MAX)
    };
    let mut network = two(uplink, LinkConfig::UNLIMITED, Path::constant(0));
    // A byte takes a microsecond. Two packets are covered by the burst, the third is not. 2 ms after it
    // left, 2000 bytes have accumulated: enough for one packet and a third of another one.
    let mut sends = volley(10 * MS, 3, 1500);
    sends.extend(volley(11_500_000 + 2 * MS, 2, 1500));
    let log = run(&mut network, &sends);
    let at_us = |packet: usize| log.delivered[packet].0 / 1000;
    assert_eq!(
        [0, 1, 2, 3, 4].map(at_us),
        [10_000, 10_000, 11_500, 13_500, 14_500]
    );
}

#[test]
fn odd_rates_do_not_drift() {
    let odd = Rate::bytes_per_s(7_000_003).unwrap();
    let mut network = two(
        LinkConfig::wire(odd, u64::MAX),
        LinkConfig::UNLIMITED,
        Path::constant(0),
    );
    let log = run(&mut network, &volley(0, 10_000, 1499));
    let exact_ns = 1499 * 10_000 * 1_000_000_000_u64 / 7_000_003;
    assert_eq!(log.delivered.last(), Some(&(exact_ns, 9_999)));
}

#[test]
fn a_full_queue_drops_what_comes_last() {
    let uplink = LinkConfig::wire(mbit(8), 3000);
    let mut network = two(uplink, LinkConfig::UNLIMITED, Path::constant(0));
    // One packet is being sent, two wait, the fourth does not fit.
    let log = run(&mut network, &volley(0, 4, 1500));
    assert_eq!(log.dropped, [(0, Why::Full(Side::Uplink), 3)]);
    assert_eq!(log.delivered.len(), 3);
}

#[test]
fn two_senders_meet_at_the_downlink() {
    let down = LinkConfig::wire(mbit(8), 1500);
    let host = HostConfig {
        uplink: LinkConfig::UNLIMITED,
        downlink: down,
    };
    let path = Paths::uniform(Path::constant(MS));
    let mut network = Network::new(&[host; 3], path, [7; 32]).unwrap();
    let send = |from| Send {
        at_ns: 0,
        from,
        to: 2,
        len_bytes: 1500,
    };
    let log = run(&mut network, &[send(0), send(1), send(0)]);
    assert_eq!(log.delivered, [(2_500_000, 0), (4 * MS, 1)]);
    assert_eq!(log.dropped, [(MS, Why::Full(Side::Downlink), 2)]);
}

#[test]
fn a_late_driver_changes_nothing_but_the_delivery() {
    let wire = LinkConfig::wire(mbit(10), 20_000);
    let sends = volley(0, 20, 1500);
    let on_time = run(&mut two(wire, wire, Path::constant(3 * MS)), &sends);

    let mut network = two(wire, wire, Path::constant(3 * MS));
    for (packet, send) in sends.iter().enumerate() {
        let Send {
            at_ns,
            from,
            to,
            len_bytes,
        } = *send;
        network
            .handle(
                at_ns,
                Input::Packet {
                    from,
                    to,
                    len_bytes,
                    packet,
                },
            )
            .unwrap();
    }
    network.handle(1000 * MS, Input::Tick).unwrap();
    let mut late = Log::default();
    while let Some(output) = network.poll() {
        match output {
            Output::Deliver { at_ns, packet, .. } => late.delivered.push((at_ns, packet)),
            Output::Dropped(gone) => late.dropped.push((gone.at_ns, gone.why, gone.packet)),
        }
    }
    assert!(!late.dropped.is_empty());
    assert_eq!(late, on_time);
}

#[test]
fn mistakes_of_the_driver_are_named() {
    let mut network = two(
        LinkConfig::UNLIMITED,
        LinkConfig::UNLIMITED,
        Path::constant(0),
    );
    let packet = Input::Packet {
        from: 0,
        to: 2,
        len_bytes: 1,
        packet: 0,
    };
    let unknown = NetworkMisuse::UnknownHost { host: 2, hosts: 2 };
    assert_eq!(network.handle(5, packet), Err(unknown));
    let back = NetworkMisuse::TimeWentBackwards {
        from_ns: 5,
        to_ns: 4,
    };
    assert_eq!(network.handle(4, Input::Tick), Err(back));
    assert_eq!(network.poll(), None);
}

#[test]
fn rates_that_arithmetic_cannot_hold_do_not_exist() {
    assert_eq!(Rate::bytes_per_s(0), None);
    assert_eq!(Rate::mbit_per_s(u64::MAX), None);
    assert_eq!(Rate::bytes_per_s(1_000_000_000_000_000_001), None);
    assert_eq!(mbit(100).as_bytes_per_s(), 12_500_000);
}
