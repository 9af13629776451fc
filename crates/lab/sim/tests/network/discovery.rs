//! Nodes that find each other, by the connection manager of real nodes.

use undertone_sim::scenario::{Churn, Discovery, FaultKind, Publishers, Topology};
use undertone_sim::{Outcome, Scenario};

use crate::support::{S, fault, have_all, outcome, simulate, with_messages};

const NODES: u32 = 40;

/// A network whose nodes know nobody at the start, and which has a message a second from `first_s` on.
fn strangers(first_s: u64, messages: u32) -> Scenario {
    let mut scenario = with_messages(NODES, messages);
    scenario.topology = Topology::Discovery(Discovery::default());
    scenario.traffic.publishers = Publishers::RoundRobin(NODES);
    scenario.traffic.first_ns = first_s * S;
    scenario
}

/// Receivers of each message.
fn receivers(outcome: &Outcome) -> Vec<usize> {
    let of = |message| {
        outcome
            .deliveries
            .iter()
            .filter(move |d| d.message == message)
    };
    (0..outcome.messages.len() as u32)
        .map(|message| of(message).count())
        .collect()
}

#[test]
fn nodes_that_know_nobody_are_one_network_in_ten_seconds() {
    let outcome = simulate(&strangers(11, 5));
    assert!(have_all(&outcome, 0..NODES));
    let few = outcome.connections.iter().min();
    assert!(
        few.is_some_and(|few| *few >= 10),
        "{:?}",
        outcome.connections
    );
}

#[test]
fn nodes_of_one_shard_each_find_those_of_their_shard() {
    let mut scenario = strangers(15, 6);
    (scenario.relay.topics, scenario.relay.topics_per_node) = (2, Some(1));
    let outcome = simulate(&scenario);
    assert_eq!(receivers(&outcome), [NODES as usize / 2 - 1; 6]);
}

#[test]
fn a_network_cut_in_half_for_an_hour_is_whole_within_a_minute() {
    // The halves are apart from 60 s to 3,660 s; the messages are published from a minute after that on.
    let mut scenario = strangers(3_720, 10);
    scenario.faults = fault(60, NODES / 2, FaultKind::Partition { for_ns: 3_600 * S });
    let outcome = simulate(&scenario);
    assert!(have_all(&outcome, 0..NODES), "{:?}", receivers(&outcome));
}

#[test]
fn during_the_cut_each_half_is_a_network_of_its_own() {
    let mut scenario = strangers(90, 10);
    scenario.faults = fault(60, NODES / 2, FaultKind::Partition { for_ns: 600 * S });
    let outcome = simulate(&scenario);
    let half = NODES as usize / 2 - 1;
    assert_eq!(receivers(&outcome), [half; 10]);
}

/// A tenth of the nodes leaves in each of ten minutes, and is away for one.
fn churning(first_s: u64) -> Scenario {
    let mut scenario = strangers(first_s, 20);
    let churn = Churn {
        share_per_minute: 0.1,
        away_ns: 60 * S,
        from_ns: 60 * S,
        until_ns: 660 * S,
    };
    let mut discovery = Discovery::default();
    discovery.churn = Some(churn);
    scenario.topology = Topology::Discovery(discovery);
    scenario.traffic.publishers = Publishers::One(0);
    scenario
}

#[test]
fn messages_reach_all_who_are_there_while_a_tenth_leaves_each_minute() {
    let outcome = simulate(&churning(300));
    // Four leave in a minute, so four are away, and one more may be on its way back or out.
    let there = NODES as usize - 1 - 5;
    let receivers = receivers(&outcome);
    assert!(
        receivers.iter().all(|n| (there..there + 3).contains(n)),
        "{receivers:?}"
    );
}

#[test]
fn all_are_back_a_minute_after_the_churn() {
    let outcome = simulate(&churning(780));
    assert!(have_all(&outcome, 0..NODES), "{:?}", receivers(&outcome));
}

#[test]
fn threads_change_nothing() {
    let mut scenario = churning(100);
    scenario.faults = fault(80, NODES / 2, FaultKind::Partition { for_ns: 60 * S });
    let hashes = [1, 3].map(|threads| outcome(&scenario, 7, threads).trace_hash);
    assert!(hashes[0].is_some());
    assert_eq!(hashes[0], hashes[1]);
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |change: fn(&mut Discovery)| {
        let mut scenario = churning(100);
        if let Topology::Discovery(discovery) = &mut scenario.topology {
            change(discovery);
        }
        undertone_sim::run(&scenario, undertone_sim::RunOptions::new(1), &mut |_| {}).is_err()
    };
    assert!(refused(|discovery| discovery.offered = 0));
    assert!(refused(|d| d
        .churn
        .as_mut()
        .expect("set above")
        .share_per_minute = 0.0));
    assert!(refused(
        |d| d.churn.as_mut().expect("set above").away_ns = 29 * S
    ));
    assert!(refused(
        |d| d.churn.as_mut().expect("set above").away_ns = 300 * S
    ));
}
