//! What a run records when it is asked to, and that this changes nothing else.

use std::collections::BTreeSet;

use undertone_sim::outcome::{RecordOptions, Recorded};
use undertone_sim::scenario::FaultKind;
use undertone_sim::{Outcome, RunOptions, Scenario, run};

use crate::attacks::{NODES, attacked};
use crate::support::{MS, S, SEED, fault, outcome, with_messages};

fn everything() -> RecordOptions {
    let mut options = RecordOptions::NONE;
    options.copies = true;
    options.links = true;
    options.traffic_every_ns = Some(500 * MS);
    options
}

fn recorded(scenario: &Scenario, threads: usize) -> (Outcome, Recorded) {
    let options = RunOptions::new(SEED).threads(threads).record(everything());
    let mut outcome = run(scenario, options, &mut |_| {}).expect("the test's scenario is valid");
    let recorded = outcome.recorded.take().expect("records were asked for");
    (outcome, *recorded)
}

#[test]
fn records_change_nothing_and_do_not_depend_on_threads() {
    let mut scenario = with_messages(30, 4);
    scenario.faults = fault(
        11,
        5,
        FaultKind::Crash {
            noticed_after_ns: S,
        },
    );
    scenario.network.loss = 0.02;
    let plain = outcome(&scenario, SEED, 1);
    assert_eq!(plain.recorded, None);
    let (alone, records) = recorded(&scenario, 1);
    assert_eq!(alone.trace_hash, plain.trace_hash);
    assert_eq!(alone.deliveries, plain.deliveries);
    assert!(!records.copies.is_empty() && !records.links.is_empty());
    let (together, same) = recorded(&scenario, 3);
    assert_eq!(together.trace_hash, plain.trace_hash);
    assert_eq!(same, records);
}

#[test]
fn every_delivery_has_its_first_copy() {
    let (outcome, records) = recorded(&with_messages(40, 5), 1);
    let firsts: BTreeSet<_> = records
        .copies
        .iter()
        .filter(|copy| copy.is_first)
        .map(|copy| {
            (
                copy.message,
                copy.to,
                copy.from,
                copy.hops,
                copy.received_ns,
            )
        })
        .collect();
    let deliveries: BTreeSet<_> = outcome
        .deliveries
        .iter()
        .map(|d| {
            (
                d.message,
                d.receiver,
                d.from,
                Some(d.hops),
                Some(d.received_ns),
            )
        })
        .collect();
    assert_eq!(firsts, deliveries);
    // What is not a first copy is a duplicate: at the end everything has arrived.
    let duplicates: u64 = outcome.nodes.iter().map(|node| node.duplicates).sum();
    let arrived = records.copies.iter().filter(|c| c.received_ns.is_some());
    assert_eq!(arrived.count(), firsts.len() + duplicates as usize);
    assert!(duplicates > 0);
}

#[test]
fn copies_to_a_node_that_crashed_do_not_arrive() {
    let mut scenario = with_messages(20, 3);
    let crash = FaultKind::Crash {
        noticed_after_ns: 5 * S,
    };
    scenario.faults = fault(9, 2, crash);
    let (_, records) = recorded(&scenario, 1);
    let lost = records.copies.iter().filter(|c| c.received_ns.is_none());
    let receivers: BTreeSet<u32> = lost.map(|copy| copy.to).collect();
    assert_eq!(receivers, BTreeSet::from([18, 19]));
}

/// Adversaries have no record: what they got is not known.
#[test]
fn copies_to_adversaries_are_recorded_as_sent() {
    let scenario = attacked(5, |policy| policy.dials = NODES);
    let (_, records) = recorded(&scenario, 1);
    let mut to_adversaries = records
        .copies
        .iter()
        .filter(|copy| copy.to >= NODES)
        .peekable();
    assert!(to_adversaries.peek().is_some());
    assert!(to_adversaries.all(|copy| copy.received_ns.is_none()));
}

#[test]
fn fragments_are_told_apart() {
    let mut scenario = with_messages(20, 2);
    scenario.relay.fragments = 4;
    scenario.traffic.payload_bytes = vec![20_000];
    let (outcome, records) = recorded(&scenario, 1);
    assert_eq!(outcome.deliveries.len(), 2 * 19);
    let firsts = records.copies.iter().filter(|copy| copy.is_first);
    let firsts: BTreeSet<_> = firsts.map(|c| (c.message, c.fragment, c.to)).collect();
    assert_eq!(firsts.len(), 2 * 4 * 19);
    assert!(records.copies.iter().all(|copy| copy.bytes > 5_000));
}

#[test]
fn links_and_intervals_have_the_same_traffic() {
    let (outcome, records) = recorded(&with_messages(30, 3), 1);
    let messages: u64 = records.links.iter().map(|l| l.messages.count).sum();
    assert_eq!(messages, records.copies.len() as u64);
    let control: u64 = records.links.iter().map(|l| l.control.bytes).sum();
    let by_time = records.traffic.iter().map(|at| at.sent);
    let over_time: u64 = by_time
        .clone()
        .flat_map(|sent| sent.control_kinds())
        .map(|kind| kind.bytes)
        .sum();
    assert_eq!(over_time, control);
    assert_eq!(
        by_time.map(|sent| sent.messages.count).sum::<u64>(),
        messages
    );
    let sent = outcome.nodes.iter().flat_map(|node| node.control_kinds());
    assert_eq!(control, sent.map(|kind| kind.bytes).sum::<u64>());
    assert!(
        records
            .traffic
            .iter()
            .all(|at| at.from_ns % (500 * MS) == 0)
    );
    // Each link is a direction of one of the connections, of which a node dials five.
    let links: BTreeSet<_> = records.links.iter().map(|l| (l.from, l.to)).collect();
    assert_eq!(links.len(), records.links.len());
    assert_eq!(links.len(), 2 * 5 * 30);
}
