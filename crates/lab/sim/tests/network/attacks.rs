//! Adversaries: what they hear, what they hold back, and what honest nodes see of them.

use undertone_sim::scenario::{Group, Members, Policy, Publishers, Targets};
use undertone_sim::{Outcome, Scenario};

use crate::support::{MS, S, have_all, latency_ms, outcome, simulate, with_messages};

pub(crate) const NODES: u32 = 40;

/// Forty nodes, thirty messages, and adversaries who arrive in second 5.
pub(crate) fn attacked(identities: u32, change: impl Fn(&mut Policy)) -> Scenario {
    let mut scenario = with_messages(NODES, 30);
    let mut policy = Policy::honest();
    policy.arrives_ns = 5 * S;
    change(&mut policy);
    let mut group = Group::new("adversaries", Members::Count(identities));
    group.policy = Some(Box::new(policy));
    scenario.groups = vec![group];
    scenario
}

fn drops(policy: &mut Policy) {
    (policy.forward, policy.answer) = (0.0, 0.0);
    policy.regraft_after_ns = Some(S);
}

fn p99_ms(outcome: &Outcome) -> f64 {
    let mut all: Vec<_> = outcome
        .deliveries
        .iter()
        .map(|d| latency_ms(outcome, d))
        .collect();
    all.sort_by(f64::total_cmp);
    all[all.len() * 99 / 100]
}

/// Who behaves well is a peer like any other: it hears every message, and is pruned and punished by nobody.
#[test]
fn an_adversary_that_behaves_well_is_a_good_peer() {
    let outcome = simulate(&attacked(20, |_| {}));
    assert!(have_all(&outcome, 0..NODES));
    let attack = outcome.attack.unwrap();
    assert_eq!((attack.identities, attack.addresses), (20, 20));
    assert_eq!(
        attack.heard.len(),
        20 * 30,
        "each identity hears each message once"
    );
    assert!(attack.sent_bytes > 20 * 30 * 1_000, "it forwards");
    for second in &attack.watched {
        assert!(second.lowest_adversary_score >= 0.0, "{second:?}");
        assert_eq!(second.honest_below_zero, 0);
    }
}

/// The honest nodes and their connections are the same with adversaries as without.
#[test]
fn adversaries_come_in_addition() {
    let scenario = attacked(20, |policy| policy.leaves_ns = Some(20 * S));
    let mut alone = scenario.clone();
    alone.groups.clear();
    let (with, without) = (simulate(&scenario), simulate(&alone));
    assert_eq!(
        with.connections, without.connections,
        "all adversaries have left"
    );
    assert_eq!(with.messages, without.messages);
    assert_eq!(with.nodes.len(), without.nodes.len());
    assert_eq!(with.expected, without.expected);
    assert!(without.attack.is_none());
}

/// Four identities for each node hold all messages back. They take mesh places; the messages still arrive, later.
#[test]
fn identities_that_forward_nothing_take_places() {
    let attack = |identities| {
        simulate(&attacked(identities, |policy| {
            drops(policy);
            policy.dials = NODES;
        }))
    };
    let (few, many) = (attack(1), attack(4 * NODES));
    assert!(
        have_all(&many, 0..NODES),
        "lazy gossip repairs what meshes lack"
    );
    let most = |outcome: &Outcome| {
        let watched = &outcome.attack.as_ref().unwrap().watched;
        watched
            .iter()
            .map(|second| second.adversaries_in_meshes)
            .max()
            .unwrap()
    };
    assert!(
        most(&many) > most(&few),
        "{} and {}",
        most(&many),
        most(&few)
    );
    assert!(
        p99_ms(&many) >= p99_ms(&few),
        "{} and {}",
        p99_ms(&many),
        p99_ms(&few)
    );
}

/// Adversaries that drop one publisher's messages and no others delay these alone.
#[test]
fn censorship_concerns_one_publisher() {
    let mean_ms = |censored: Vec<u32>| {
        let mut scenario = attacked(2 * NODES, |policy| {
            policy.dials = NODES;
            policy.censored = censored.clone();
        });
        scenario.traffic.publishers = Publishers::RoundRobin(2);
        let outcome = simulate(&scenario);
        assert!(have_all(&outcome, 0..NODES));
        [0, 1].map(|publisher| {
            let of = outcome
                .deliveries
                .iter()
                .filter(|d| d.message % 2 == publisher);
            let all: Vec<_> = of.map(|d| latency_ms(&outcome, d)).collect();
            all.iter().sum::<f64>() / all.len() as f64
        })
    };
    let (free, censored) = (mean_ms(Vec::new()), mean_ms(vec![0]));
    assert!(censored[0] > free[0] * 1.05, "{censored:?} and {free:?}");
    assert!(censored[1] < free[1] * 1.05, "{censored:?} and {free:?}");
}

/// Adversaries connect with their targets, and hear of them alone.
#[test]
fn a_target_is_all_that_adversaries_connect_with() {
    let scenario = attacked(5, |policy| {
        drops(policy);
        policy.targets = Targets::Nodes(vec![7]);
    });
    let outcome = simulate(&scenario);
    let attack = outcome.attack.unwrap();
    assert!(attack.heard.iter().all(|heard| heard.from == 7));
    assert!(!attack.heard.is_empty());
}

/// Ids that do not exist cost the announcers their score, if broken promises count.
#[test]
fn false_announcements_are_punished() {
    let outcome = simulate(&attacked(5, |policy| {
        policy.announce_false = 100;
        policy.forward = 0.0;
    }));
    assert!(have_all(&outcome, 0..NODES));
    let watched = outcome.attack.unwrap().watched;
    let lowest = watched.iter().map(|second| second.lowest_adversary_score);
    assert!(lowest.fold(0.0, f64::min) < 0.0);
}

/// Bad behaviour begins at its time, and takes turns with good behaviour.
#[test]
fn misbehaviour_has_its_time() {
    let held_back = |change: fn(&mut Policy)| {
        let outcome = simulate(&attacked(10, |policy| {
            policy.forward_delay_ns = 400 * MS;
            policy.dials = NODES;
            change(policy);
        }));
        outcome.attack.unwrap().sent_bytes
    };
    let never = held_back(|policy| policy.misbehaves_from_ns = 1_000 * S);
    let drops = held_back(|policy| policy.forward = 0.0);
    let half = held_back(|policy| {
        policy.forward = 0.0;
        policy.turns_ns = Some((S, S));
    });
    assert!(drops < half && half < never, "{drops}, {half}, {never}");
}

/// Same seed, same adversary, same trace on one, two and three threads.
#[test]
fn threads_change_nothing() {
    let scenario = attacked(60, |policy| {
        policy.forward = 0.5;
        policy.announce = 0.5;
        policy.announce_false = 3;
        policy.request = 2;
        policy.dialled = 1.5;
    });
    let one = outcome(&scenario, 7, 1);
    assert_eq!(one.violations, []);
    for threads in [2, 3] {
        let other = outcome(&scenario, 7, threads);
        assert_eq!(one.trace_hash, other.trace_hash, "{threads} threads");
        assert_eq!(one.attack, other.attack, "{threads} threads");
    }
}
