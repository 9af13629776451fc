use undertone_sim::{RunOptions, run};

use super::*;
use crate::scenario::load;

const SMALL: [&str; 3] = [
    "scenario.nodes=100",
    "traffic.messages=30",
    "traffic.publisher_count=30",
];

/// Figures of the first spy and with known topology, with a fifth of the nodes as observers.
fn figures(set: &[&str]) -> [AnonymityFigures; 2] {
    let set: Vec<String> = SMALL.iter().chain(set).map(ToString::to_string).collect();
    let scenario = load("anonymity", &set).unwrap().scenario;
    let outcome = run(&scenario, RunOptions::new(1), &mut |_| {}).unwrap();
    let mut network = KnownNetwork::new(&scenario, 1).unwrap();
    let observers = Observers::passive(&network, &outcome, 0.2, 1);
    [Estimator::FirstSpy, Estimator::KnownTopology].map(|estimator| {
        let attempts = observers.attempts(&mut network, &outcome, estimator);
        AnonymityFigures::of(&attempts).unwrap()
    })
}

#[test]
fn a_publisher_that_floods_is_named_and_one_with_a_stem_is_not() {
    let flood = figures(&["relay.flood_publish=on"]);
    let mesh = figures(&["relay.flood_publish=off"]);
    let stem = figures(&[
        "relay.strategy=dandelion",
        "relay.protocol=/undertone/relay-stem/1.0.0",
    ]);
    assert!(flood[0].hit_ratio > mesh[0].hit_ratio);
    assert!(mesh[0].hit_ratio > stem[0].hit_ratio);
    // Whoever knows every delay needs no copy from the publisher itself.
    assert!(flood[1].hit_ratio > 0.9 && mesh[1].hit_ratio > 0.9);
    assert!(stem[1].hit_ratio < 0.5);
}

#[test]
fn what_observers_publish_themselves_is_not_counted() {
    let [first, known] = figures(&[]);
    assert_eq!(first.messages, known.messages);
    assert!(first.messages < 30 && first.messages > 15);
    assert!(known.entropy_bits < first.entropy_bits);
}
