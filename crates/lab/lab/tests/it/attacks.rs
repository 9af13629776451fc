//! Attacks whose effect is known: under our rules they cost no more than they did.

use undertone_lab::report::{AttackSummary, RunCosts, ServicesSummary, Summary};
use undertone_lab::scenario::load;
use undertone_sim::{RunOptions, run};

/// The attack on 60 nodes.
fn attacked(name: &str, set: &[&str]) -> AttackSummary {
    const SMALL: [&str; 3] = [
        "scenario.nodes=60",
        "traffic.messages=60",
        "traffic.spacing_s=1",
    ];
    let set: Vec<String> = SMALL.iter().chain(set).map(ToString::to_string).collect();
    let scenario = load(name, &set).expect("it is built in").scenario;
    let outcome = run(&scenario, RunOptions::new(1), &mut |_| {}).expect("it is valid");
    let summary = Summary::new(&scenario, &outcome, RunCosts::default(), "");
    summary.attack.expect("it has adversaries")
}

#[test]
fn what_four_adversaries_for_each_node_cost_stays_within_bounds() {
    // Worst p99 of the seeds tried: docs/measurements/security.md.
    for (name, p99_ms_max) in [
        ("attack-cold-boot", 2_000.0),
        ("attack-covert-flash", 2_000.0),
        ("attack-found-1", 2_000.0),
    ] {
        let attack = attacked(name, &[]);
        assert_eq!(attack.on_time_ratio, 1.0, "{name}: {attack:?}");
        let latency = attack.latency_ms.as_ref().expect("messages were delivered");
        assert!(latency.p99 < p99_ms_max, "{name}: {attack:?}");
    }
}

/// The rules that came after the first version of `GossipSub` are what keeps the messages.
#[test]
fn without_the_rules_the_same_adversaries_lose_messages() {
    let first = [
        "relay.score.enabled=false",
        "relay.flood_publish=off",
        "relay.gossip_factor=0",
    ];
    let attack = attacked("attack-cold-boot", &first);
    assert!(attack.delivery_ratio < 0.99, "{attack:?}");
    assert!(attack.on_time_ratio < 0.9, "{attack:?}");
}

/// Figures of light clients, three of whose four service nodes are hostile.
fn light(name: &str) -> ServicesSummary {
    let scenario = load(name, &[]).expect("it is built in").scenario;
    let outcome = run(&scenario, RunOptions::new(1), &mut |_| {}).expect("it is valid");
    ServicesSummary::new(&scenario, &outcome).expect("it has light clients")
}

#[test]
fn one_honest_service_node_of_four_is_enough_against_filters_that_fall_silent() {
    let services = light("attack-light-mute");
    assert_eq!(services.lost, 0, "{services:?}");
    assert!(services.troubles.offences_noticed > 0, "{services:?}");
}

/// What no honest node was given cannot arrive: a client learns that its message went nowhere, and sends it again.
#[test]
fn service_nodes_that_lie_delay_most_messages_and_keep_few() {
    let services = light("attack-light-lies");
    let delivered = services.delivered as f64 / services.expected as f64;
    assert!(delivered > 0.95, "{services:?}");
    assert_eq!(services.sends.stored, 0, "{services:?}");
}
