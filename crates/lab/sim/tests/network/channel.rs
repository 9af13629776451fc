//! Members of a channel of scalable data sync: everything arrives in causal order, whatever is lost on the way.

use proptest::prelude::*;
use undertone_sim::outcome::ClientCounters;
use undertone_sim::scenario::Spacing;
use undertone_sim::{Outcome, Scenario};

use crate::services::{missing, served, services, setup};
use crate::support::{MS, S, SEED, outcome, rln, simulate};

/// Eight members that send each other a message every half second, through service nodes that keep no history.
fn channel(messages: u32) -> Scenario {
    let mut scenario = served(8, messages);
    scenario.traffic.spacing = Spacing::Constant(500 * MS);
    scenario.traffic.payload_bytes = vec![300];
    scenario.drain_ns = 300 * S;
    let setup = setup(&mut scenario);
    setup.channel = true;
    setup.publish_one_in = 1;
    setup.store = false;
    // One copy of each message, so that a broken stream loses it.
    setup.filter_peers = 1;
    scenario
}

fn sum(outcome: &Outcome, field: fn(&ClientCounters) -> u64) -> u64 {
    services(outcome).clients.iter().map(field).sum()
}

fn all_have_all(outcome: &Outcome, messages: u64) -> bool {
    let light = services(outcome);
    light.missing == 0 && light.deliveries.len() as u64 == messages * 7
}

#[test]
fn members_have_each_message_once_and_know_it() {
    let outcome = simulate(&channel(40));
    assert!(all_have_all(&outcome, 40), "{}", missing(&outcome));
    assert_eq!(sum(&outcome, |client| client.channel_gaps), 0);
    assert_eq!(sum(&outcome, |client| client.channel_lost), 0);
    let acknowledged = sum(&outcome, |client| client.channel_acknowledged);
    assert_eq!(acknowledged, 40, "each by another member");
    assert_eq!(sum(&outcome, |client| client.channel_resent), 0);
}

#[test]
fn members_repair_what_broken_streams_lose() {
    let mut scenario = channel(60);
    setup(&mut scenario).stream_loss = 0.2;
    let outcome = simulate(&scenario);
    assert!(all_have_all(&outcome, 60), "{}", missing(&outcome));
    assert_eq!(sum(&outcome, |client| client.channel_lost), 0);
    let repaired = sum(&outcome, |client| client.channel_repaired);
    assert!(repaired > 10, "{:?}", services(&outcome).clients);

    // Without a channel, what no store has is lost.
    let setup = setup(&mut scenario);
    setup.channel = false;
    let alone = simulate(&scenario);
    assert!(services(&alone).missing > 20, "{}", missing(&alone));
}

#[test]
fn members_fetch_what_they_miss_from_a_store() {
    let mut scenario = channel(60);
    let with = setup(&mut scenario);
    with.stream_loss = 0.2;
    with.store = true;
    let outcome = simulate(&scenario);
    assert!(all_have_all(&outcome, 60), "{}", missing(&outcome));
    let mut arrivals = services(&outcome).deliveries.iter();
    assert!(arrivals.any(|arrival| arrival.from_store));
}

#[test]
fn a_rate_limit_holds_for_repairs_too() {
    let mut scenario = channel(40);
    scenario.rln = Some(rln(20));
    setup(&mut scenario).stream_loss = 0.1;
    let outcome = simulate(&scenario);
    assert!(all_have_all(&outcome, 40), "{}", missing(&outcome));
}

#[test]
fn what_members_say_does_not_depend_on_threads() {
    let mut scenario = channel(20);
    setup(&mut scenario).stream_loss = 0.2;
    let one = outcome(&scenario, SEED, 1);
    let two = outcome(&scenario, SEED, 2);
    assert_eq!(two.trace_hash, one.trace_hash);
    assert_eq!(two.services, one.services);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    /// The run itself checks that each message comes after the one that its sender had last.
    #[test]
    fn causal_order_survives_losses(seed in 0_u64..1_000_000, loss in 0.0..0.3_f64) {
        let mut scenario = channel(30);
        setup(&mut scenario).stream_loss = loss;
        let outcome = outcome(&scenario, seed, 1);
        prop_assert!(outcome.violations.is_empty(), "{:?}", outcome.violations);
        prop_assert!(all_have_all(&outcome, 30), "seed {}: {}", seed, missing(&outcome));
    }
}
