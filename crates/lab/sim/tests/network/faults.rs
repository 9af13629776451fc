//! What goes wrong, and what it costs whom.

use undertone_sim::Scenario;
use undertone_sim::scenario::{FaultKind, Publishers, Topology};

use crate::support::{S, fault, have_all, mean_ms, simulate, with_messages};

const NODES: u32 = 40;
const FAULTY: u32 = 10;
const SOUND: u32 = NODES - FAULTY;

/// Forty well connected nodes and twenty messages from 10 s to 29 s, with a fault of the last ten
/// at 15 s.
fn with_fault(kind: FaultKind) -> Scenario {
    let mut scenario = with_messages(NODES, 20);
    scenario.topology = Topology::Dials(8);
    scenario.faults = fault(15, FAULTY, kind);
    scenario
}

fn is_faulty(node: u32) -> bool {
    node >= SOUND
}

/// Ten of forty nodes vanish, and their peers notice only two seconds later. Those who are left get
/// every message, also between the crash and the notice. The dead get nothing from then on.
#[test]
fn a_crash_costs_the_survivors_nothing() {
    let outcome = simulate(&with_fault(FaultKind::Crash {
        noticed_after_ns: 2 * S,
    }));
    assert!(have_all(&outcome, 0..SOUND));
    let mut to_dead = outcome.deliveries.iter().filter(|d| is_faulty(d.receiver));
    assert!(to_dead.clone().next().is_some(), "they lived before");
    assert!(to_dead.all(|d| d.received_ns < 15 * S));
}

/// Peers of the dead close their connections when they notice, and mend their meshes, whose mean size
/// stays about six; a quarter of it died.
#[test]
fn peers_notice_a_crash_and_mend_their_meshes() {
    let crash = |noticed_after_ns| FaultKind::Crash { noticed_after_ns };
    let unnoticed = simulate(&with_fault(crash(1000 * S)));
    let noticed = simulate(&with_fault(crash(2 * S)));
    let alone = |connections: &[u32]| connections[..SOUND as usize].iter().sum::<u32>();
    assert!(alone(&noticed.connections) < alone(&unnoticed.connections));
    for outcome in [&noticed, &unnoticed] {
        assert_eq!(outcome.connections[SOUND as usize..], [0; FAULTY as usize]);
    }
    let mean = noticed.mesh_degree.mean;
    assert!(
        mean > 5.5,
        "{mean}, not the 4.5 of meshes that nobody mends"
    );
}

/// Who leaves says so: the connections are closed a delay later, the others get everything, and the
/// one who left gets nothing more.
#[test]
fn who_leaves_is_missed_by_nobody() {
    let outcome = simulate(&with_fault(FaultKind::Leave));
    assert!(have_all(&outcome, 0..SOUND));
    let mut to_gone = outcome.deliveries.iter().filter(|d| is_faulty(d.receiver));
    assert!(to_gone.all(|d| d.received_ns < 15 * S));
    assert_eq!(outcome.connections[SOUND as usize..], [0; FAULTY as usize]);
    assert!(
        outcome.nodes[..SOUND as usize]
            .iter()
            .all(|n| n.prune.count == 0 || n.wire_sent_bytes > 0)
    );
}

/// Links at a hundredth of their rate make their owners late, and nobody else: the others have
/// faster ways.
#[test]
fn slow_nodes_are_late_alone() {
    let mut scenario = with_fault(FaultKind::Slow { factor: 0.01 });
    scenario.traffic.payload_bytes = vec![10_000];
    scenario.drain_ns = 60 * S;
    let slow = simulate(&scenario);
    scenario.faults.clear();
    let sound = simulate(&scenario);
    assert_eq!(slow.deliveries.len() as u64, slow.expected);
    // A copy takes 80 ms through 125 kB/s.
    let cost_ms = mean_ms(&slow, is_faulty) - mean_ms(&sound, is_faulty);
    assert!(cost_ms > 80.0 * 14.0 / 20.0, "{cost_ms}");
    let others_ms = mean_ms(&slow, |n| !is_faulty(n)) - mean_ms(&sound, |n| !is_faulty(n));
    assert!(others_ms.abs() < 20.0, "{others_ms}");
}

/// A publisher who loses a third of its packets: everything arrives, later.
#[test]
fn loss_delays_and_does_not_lose() {
    let mut scenario = with_fault(FaultKind::Lossy { loss: 0.33 });
    scenario.traffic.publishers = Publishers::One(NODES - 1);
    scenario.drain_ns = 60 * S;
    let lossy = simulate(&scenario);
    scenario.faults.clear();
    let clean = simulate(&scenario);
    assert_eq!(lossy.deliveries.len() as u64, lossy.expected);
    let (lossy_ms, clean_ms) = (mean_ms(&lossy, |_| true), mean_ms(&clean, |_| true));
    assert!(lossy_ms > clean_ms + 5.0, "{lossy_ms} and {clean_ms}");
    let dropped = |range: std::ops::Range<u32>| -> u64 {
        let nodes = &lossy.nodes[range.start as usize..range.end as usize];
        nodes.iter().map(|n| n.packets_dropped).sum()
    };
    assert_eq!(dropped(0..SOUND), 0);
    assert!(dropped(SOUND..NODES) > 0);
}

/// A quarter of the nodes forwards nothing and answers no IWANT, but announces. The others deliver everything to
/// all, and the silent ones lose what they would have sent.
#[test]
fn silent_nodes_keep_nobody_from_a_message() {
    let sound = {
        let mut scenario = with_fault(FaultKind::Silent);
        scenario.faults.clear();
        simulate(&scenario)
    };
    let outcome = simulate(&with_fault(FaultKind::Silent));
    assert_eq!(outcome.deliveries.len() as u64, outcome.expected);
    let by_faulty = |outcome: &undertone_sim::Outcome| {
        let late = outcome.deliveries.iter().filter(|d| d.received_ns > 16 * S);
        late.filter(|d| is_faulty(d.from)).count()
    };
    assert_eq!(by_faulty(&outcome), 0, "nobody has a message from them");
    assert!(by_faulty(&sound) > 0);
}
