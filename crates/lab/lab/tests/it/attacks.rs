//! Attacks whose effect is known: under our rules they cost no more than they did.

use undertone_lab::report::{AttackSummary, RunCosts, Summary};
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
