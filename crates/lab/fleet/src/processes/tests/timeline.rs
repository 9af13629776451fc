use undertone_sim::scenario::Topology;

use super::*;

const S: u64 = 1_000_000_000;

/// Scenario of four nodes in a line that start within the first second.
fn four(faults: &[(u64, u32, FaultKind)]) -> Scenario {
    let mut scenario = Scenario::plain(4);
    scenario.topology = Topology::Line;
    let fault = |(at_s, nodes, kind): &(u64, u32, FaultKind)| Fault {
        at_ns: at_s * S,
        nodes: *nodes,
        kind: *kind,
    };
    scenario.faults = faults.iter().map(fault).collect();
    scenario
}

/// Times in seconds with their acts.
fn planned(scenario: &Scenario) -> Vec<(f64, Act)> {
    let plan = Plan::new(scenario, 1).expect("the scenario is plain");
    let planned = timeline(scenario, &plan).into_iter();
    planned
        .map(|planned| (planned.at_ns as f64 / 1e9, planned.act))
        .collect()
}

fn rate(host: u32, mbit: u64) -> Act {
    let rate = Rate::mbit_per_s(mbit);
    Act::Change(Change::Rates {
        host,
        uplink: rate,
        downlink: rate,
    })
}

#[test]
fn nothing_happens_without_faults() {
    assert_eq!(planned(&four(&[])), []);
}

#[test]
fn a_crash_is_silent_until_it_is_noticed() {
    let noticed_after_ns = 3 * S;
    let crash = FaultKind::Crash { noticed_after_ns };
    let host = 3;
    let expected = [
        (12.0, Act::Change(Change::Hold { host })),
        (12.0, Act::Kill(3)),
        (15.0, Act::Change(Change::Release { host })),
    ];
    assert_eq!(planned(&four(&[(12, 1, crash)])), expected);
}

#[test]
fn a_node_ends_once() {
    let crash = FaultKind::Crash {
        noticed_after_ns: S,
    };
    let faults = [(14, 2, crash), (12, 1, FaultKind::Leave), (12, 1, crash)];
    let planned = planned(&four(&faults));
    let host = 2;
    let expected = [
        (12.0, Act::Leave(3)),
        (14.0, Act::Change(Change::Hold { host })),
        (14.0, Act::Kill(2)),
        (15.0, Act::Change(Change::Release { host })),
    ];
    assert_eq!(planned, expected);
}

#[test]
fn a_partition_ends_and_what_is_earlier_than_all_connections_waits_for_them() {
    let faults = [
        (0, 2, FaultKind::Partition { for_ns: 5 * S }),
        (15, 4, FaultKind::Lossy { loss: 0.25 }),
    ];
    let cut = Change::Cut {
        cut: 0,
        hosts: vec![2, 3],
    };
    let mut expected = vec![
        (1.0, Act::Change(cut)),
        (5.0, Act::Change(Change::Heal { cut: 0 })),
    ];
    let lossy = |host| Act::Change(Change::Loss { host, ppm: 250_000 });
    expected.extend((0..4).map(|host| (15.0, lossy(host))));
    assert_eq!(planned(&four(&faults)), expected);
}

#[test]
fn rates_bind_from_their_time_on_and_slow_hosts_stay_slow() {
    let slow = |factor| FaultKind::Slow { factor };
    let mut scenario = four(&[(6, 2, slow(0.5)), (4, 1, slow(0.25)), (12, 1, slow(0.1))]);
    scenario.network.unlimited_until_ns = 8 * S;
    let mut expected: Vec<_> = (0..4).map(|host| (8.0, rate(host, 100))).collect();
    let slow = [(3, 25), (2, 50), (3, 50)];
    expected.extend(slow.map(|(host, mbit)| (8.0, rate(host, mbit))));
    expected.push((12.0, rate(3, 10)));
    assert_eq!(planned(&scenario), expected);
}

#[test]
fn a_late_node_is_started_and_its_peers_dial_it_then() {
    let mut scenario = four(&[(9, 2, FaultKind::Join)]);
    scenario.start_spread_ns = 1;
    let dial = |from, to, at_s: u64| Dial {
        from,
        to,
        at_ns: at_s * S,
    };
    let expected = [
        (9.0, Act::Start(2)),
        (9.0, Act::Start(3)),
        (9.0, Act::Dial(dial(1, 2, 9))),
        (9.0, Act::Dial(dial(2, 3, 9))),
    ];
    assert_eq!(planned(&scenario), expected);
    let plan = Plan::new(&scenario, 1).unwrap();
    assert_eq!(early_dials(&scenario, &plan), [dial(0, 1, 0)]);
    // Peers that it dials by itself run already.
    scenario.topology = Topology::Edges(vec![(0, 1), (3, 0)]);
    let plan = Plan::new(&scenario, 1).unwrap();
    assert!(is_configured(&scenario, &plan, &dial(3, 0, 9)));
    assert_eq!(planned(&scenario), expected[..2]);
    scenario.dialling = Dialling::OneByOne;
    assert_eq!(planned(&scenario)[2], (9.0, Act::Dial(dial(3, 0, 9))));
}

#[test]
fn a_process_runs_from_its_start_to_its_end() {
    let scenario = four(&[(9, 1, FaultKind::Join), (20, 2, FaultKind::Leave)]);
    let plan = Plan::new(&scenario, 1).unwrap();
    let covers = |node, at_s: u64| Life::of(&scenario, &plan, node).covers(at_s * S);
    assert!(covers(0, 0) && covers(0, 99));
    assert!(covers(2, 0) && covers(2, 19) && !covers(2, 20));
    assert!(!covers(3, 8) && covers(3, 11) && !covers(3, 21));
}

#[test]
fn only_a_node_that_is_there_becomes_a_spammer() {
    let interval_ns = S / 50;
    let spam = FaultKind::Spam { interval_ns };
    let faults = [
        (8, 2, spam),
        (20, 1, FaultKind::Join),
        (30, 2, FaultKind::Leave),
        (30, 3, spam),
    ];
    let planned = planned(&four(&faults));
    let spammers: Vec<_> = planned
        .iter()
        .filter(|(_, act)| matches!(act, Act::Spam { .. }))
        .collect();
    let spam = |node| Act::Spam { node, interval_ns };
    assert_eq!(spammers, [&(8.0, spam(2)), &(30.0, spam(1))]);
}

#[test]
fn what_comes_after_the_end_is_left_out() {
    let faults = [(12, 1, FaultKind::Partition { for_ns: 90 * S })];
    // Ten seconds after the last message and fault.
    assert_eq!(planned(&four(&faults)).len(), 1);
}
