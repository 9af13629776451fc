//! Tests of changes to a running network.

use super::*;

fn network(hosts: usize, link: LinkConfig) -> Network<usize> {
    let host = HostConfig::symmetric(link);
    let paths = Paths::uniform(Path::constant(10 * MS));
    Network::new(&vec![host; hosts], paths, [5; 32]).unwrap()
}

/// Does the same as [`run`], with changes at their times; both lists are in ascending order of time.
fn run_with(network: &mut Network<usize>, sends: &[Send], changes: &[(u64, Change)]) -> Log {
    let mut log = Log::default();
    let mut changes = changes.iter().peekable();
    for (packet, send) in sends.iter().enumerate() {
        while let Some((at_ns, change)) = changes.next_if(|(at_ns, _)| *at_ns <= send.at_ns) {
            apply(network, *at_ns, change, &mut log);
        }
        drain_until(network, send.at_ns, &mut log);
        let input = Input::Packet {
            from: send.from,
            to: send.to,
            len_bytes: send.len_bytes,
            packet,
        };
        network.handle(send.at_ns, input).unwrap();
        drain(network, send.at_ns, &mut log);
    }
    for (at_ns, change) in changes {
        apply(network, *at_ns, change, &mut log);
    }
    drain_until(network, u64::MAX, &mut log);
    assert_eq!(network.held(), 0);
    log
}

fn apply(network: &mut Network<usize>, at_ns: u64, change: &Change, log: &mut Log) {
    drain_until(network, at_ns, log);
    let input = Input::Change(change.clone());
    network.handle(at_ns, input).unwrap();
    drain(network, at_ns, log);
}

fn one(at_ns: u64, from: u32, to: u32) -> Send {
    Send {
        at_ns,
        from,
        to,
        len_bytes: 1000,
    }
}

#[test]
fn packets_that_are_sent_after_a_change_take_the_new_rate() {
    // 1000 bytes take a millisecond, then four.
    let mut network = network(2, LinkConfig::wire(mbit(8), u64::MAX));
    let slower = Change::Rates {
        host: 0,
        uplink: Some(mbit(2)),
        downlink: Some(mbit(2)),
    };
    let log = run_with(&mut network, &volley(0, 3, 1000), &[(MS / 2, slower)]);
    // The first packet is being sent at the time of the change; the receiver's link does not change.
    assert_eq!(log.delivered, [(12 * MS, 0), (16 * MS, 1), (20 * MS, 2)]);
}

#[test]
fn a_rate_can_be_given_to_a_link_without_and_taken_away() {
    let mut network = network(2, LinkConfig::UNLIMITED);
    let limited = |uplink| Change::Rates {
        host: 0,
        uplink,
        downlink: None,
    };
    let mut sends = vec![one(0, 0, 1), one(2 * MS, 0, 1)];
    sends.extend([one(2 * MS, 0, 1), one(2 * MS, 0, 1), one(9 * MS, 0, 1)]);
    let changes = [(MS, limited(Some(mbit(8)))), (2 * MS + 1, limited(None))];
    let log = run_with(&mut network, &sends, &changes);
    // Two packets wait when the limit is removed; the packet being sent ends at its time.
    let expected = [
        (10 * MS, 0),
        (12 * MS + 1, 2),
        (12 * MS + 1, 3),
        (13 * MS, 1),
        (19 * MS, 4),
    ];
    assert_eq!(log.delivered, expected);
}

#[test]
fn a_lossy_host_loses_what_it_sends_and_hears_everything() {
    let mut network = network(2, LinkConfig::UNLIMITED);
    let lossy = |ppm| Change::Loss { host: 0, ppm };
    let there = (0..2_000).map(|n| one(n * MS, 0, 1));
    let back = (0..2_000).map(|n| one(n * MS, 1, 0));
    let sends: Vec<_> = there.zip(back).flat_map(|(a, b)| [a, b]).collect();
    // The cut is in force for the first half of the packets.
    let changes = [(0, lossy(300_000)), (1000 * MS, lossy(0))];
    let log = run_with(&mut network, &sends, &changes);
    assert!(
        (250..350).contains(&log.dropped.len()),
        "{}",
        log.dropped.len()
    );
    for (at_ns, why, packet) in &log.dropped {
        assert_eq!((*why, packet % 2), (Why::Lost, 0));
        assert!(*at_ns < 1000 * MS);
    }
}

#[test]
fn losses_of_host_and_path_are_independent() {
    let host = HostConfig::symmetric(LinkConfig::UNLIMITED);
    let path = Path {
        loss_ppm: 500_000,
        ..Path::constant(MS)
    };
    let mut network = Network::new(&[host, host], Paths::uniform(path), [9; 32]).unwrap();
    let lossy = Change::Loss {
        host: 0,
        ppm: 500_000,
    };
    let log = run_with(&mut network, &volley(0, 4_000, 100), &[(0, lossy)]);
    assert!(
        (900..1_100).contains(&log.delivered.len()),
        "{}",
        log.delivered.len()
    );
}

#[test]
fn nothing_arrives_across_a_cut_and_everything_within_a_side() {
    let mut network = network(4, LinkConfig::UNLIMITED);
    let cut = Change::Cut {
        cut: 0,
        hosts: vec![2, 3],
    };
    let changes = [(5 * MS, cut), (50 * MS, Change::Heal { cut: 0 })];
    let sends = [
        // In transit when the cut begins.
        one(0, 0, 2),
        one(20 * MS, 2, 1),
        one(20 * MS, 2, 3),
        one(20 * MS, 0, 1),
        // In transit when the cut ends.
        one(45 * MS, 3, 0),
        one(60 * MS, 0, 3),
    ];
    let log = run_with(&mut network, &sends, &changes);
    assert_eq!(
        log.dropped,
        [(10 * MS, Why::Cut, 0), (30 * MS, Why::Cut, 1)]
    );
    assert_eq!(
        log.delivered,
        [(30 * MS, 2), (30 * MS, 3), (55 * MS, 4), (70 * MS, 5)]
    );
}

#[test]
fn cuts_that_overlap_each_have_their_end() {
    let mut network = network(3, LinkConfig::UNLIMITED);
    let cut = |cut, host| Change::Cut {
        cut,
        hosts: vec![host],
    };
    let changes = [
        (0, cut(0, 0)),
        (0, cut(1, 1)),
        (30 * MS, Change::Heal { cut: 0 }),
    ];
    let sends = [
        one(0, 0, 1),
        one(0, 0, 2),
        one(30 * MS, 0, 1),
        one(30 * MS, 0, 2),
    ];
    let log = run_with(&mut network, &sends, &changes);
    assert_eq!(log.delivered, [(40 * MS, 3)]);
    assert_eq!(log.dropped.len(), 3);
}

#[test]
fn what_a_held_host_sends_comes_in_order_once_it_is_released() {
    let mut network = network(2, LinkConfig::UNLIMITED);
    let sends = [
        one(0, 0, 1),
        one(6 * MS, 0, 1),
        one(7 * MS, 0, 1),
        one(8 * MS, 1, 0),
        one(40 * MS, 0, 1),
    ];
    let changes = [
        (5 * MS, Change::Hold { host: 0 }),
        (30 * MS, Change::Release { host: 0 }),
    ];
    let log = run_with(&mut network, &sends, &changes);
    let expected = [
        (10 * MS, 0),
        (18 * MS, 3),
        (40 * MS, 1),
        (40 * MS, 2),
        (50 * MS, 4),
    ];
    assert_eq!(log.delivered, expected);
}

#[test]
fn a_change_that_cannot_be_is_told() {
    let mut network = network(2, LinkConfig::UNLIMITED);
    let mut told = |change| network.handle(0, Input::Change(change));
    let unknown = NetworkMisuse::UnknownHost { host: 2, hosts: 2 };
    let hosts = vec![0, 2];
    assert_eq!(told(Change::Cut { cut: 0, hosts }), Err(unknown));
    assert_eq!(told(Change::Hold { host: 2 }), Err(unknown));
    let ppm = 1_000_001;
    assert_eq!(
        told(Change::Loss { host: 0, ppm }),
        Err(NetworkMisuse::Probability { ppm })
    );
}
