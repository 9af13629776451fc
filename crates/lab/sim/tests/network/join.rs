//! Nodes that come later.

use undertone_sim::scenario::{FaultKind, Topology};
use undertone_sim::{Outcome, Scenario};

use crate::support::{S, delivered, fault, have_all, simulate, with_messages};

const NODES: u32 = 40;
const EARLY: u32 = 30;

/// The last ten join between 20 s and 21 s; a message a second from 10 s to 29 s.
fn latecomers() -> Scenario {
    let mut scenario = with_messages(NODES, 20);
    // Enough peers that some of them are outside the mesh and gossip.
    scenario.topology = Topology::Dials(12);
    scenario.faults = fault(20, NODES - EARLY, FaultKind::Join);
    scenario
}

/// Messages that latecomers have, by the time of publishing in seconds.
fn published_s(outcome: &Outcome) -> Vec<u64> {
    let late = outcome.deliveries.iter().filter(|d| d.receiver >= EARLY);
    let published = |message: u32| outcome.messages[message as usize].published_ns / S;
    late.map(|d| published(d.message)).collect()
}

/// Who was there gets everything; who joins gets all that is published once its mesh stands, two
/// heartbeats after it came.
#[test]
fn who_joins_later_gets_what_comes_later() {
    let outcome = simulate(&latecomers());
    assert!(have_all(&outcome, 0..EARLY));
    let delivered = delivered(&outcome);
    for message in outcome.messages.iter().filter(|m| m.published_ns >= 23 * S) {
        for node in EARLY..NODES {
            let has = delivered.contains(&(message.index, node));
            assert!(has, "message {} at {node}", message.index);
        }
    }
}

/// What was published just before is still gossiped: latecomers ask for it, and get it, but nothing
/// that is older than the gossip's history.
#[test]
fn who_joins_later_learns_of_what_was_just_before() {
    let scenario = latecomers();
    let outcome = simulate(&scenario);
    let asked: u64 = outcome.nodes[EARLY as usize..]
        .iter()
        .map(|n| n.iwant.count)
        .sum();
    assert!(asked > 0);
    let published_s = published_s(&outcome);
    assert!(published_s.iter().any(|s| *s < 20), "{published_s:?}");
    // The first joins at 20 s.
    let oldest_s = 20 - scenario.relay.gossip.history_gossip as u64;
    assert!(
        published_s.iter().all(|s| *s >= oldest_s),
        "{published_s:?}"
    );
}

/// Without gossip a latecomer has nothing from before it came.
#[test]
fn without_gossip_the_past_is_lost() {
    let mut scenario = latecomers();
    scenario.relay.gossip.degrees.d_lazy = 0;
    scenario.relay.gossip.gossip_factor = 0.0;
    let outcome = simulate(&scenario);
    let asked: u64 = outcome.nodes.iter().map(|n| n.iwant.count).sum();
    assert_eq!(asked, 0);
    assert!(published_s(&outcome).iter().all(|s| *s >= 20));
}
