//! Adversaries with memberships: what they publish, who delivers it, and what it costs them.

use undertone_sim::outcome::MembershipOutcome;
use undertone_sim::scenario::{Delay, Fault, FaultKind, Policy, Targets};
use undertone_sim::{Outcome, Scenario};

use crate::attacks::{NODES, attacked};
use crate::support::{MS, S, have_all, outcome, rln, simulate};

/// Length of an epoch, seconds.
const EPOCH_S: u64 = 10;

/// Forty nodes 20 to 80 ms apart, and five adversaries at each of them, who publish once a second from second 10 to 35.
fn members(limit: u32, change: impl Fn(&mut Policy)) -> Scenario {
    let mut scenario = attacked(5, |policy| {
        policy.arrives_ns = 9 * S;
        policy.arrives_over_ns = 0;
        policy.leaves_ns = Some(35 * S);
        policy.dials = NODES;
        policy.publish_every_ns = Some(S);
        change(policy);
    });
    scenario.network.delay = Delay::Uniform {
        min_ns: 20 * MS,
        max_ns: 80 * MS,
    };
    scenario.rln = Some(rln(limit));
    if let Some(rln) = &mut scenario.rln {
        rln.epoch_s = EPOCH_S;
        rln.generation_ns = MS;
    }
    scenario
}

fn used(outcome: &Outcome) -> MembershipOutcome {
    let attack = outcome.attack.as_ref().expect("it has adversaries");
    attack.memberships.expect("they published")
}

/// Checks that all messages of honest nodes arrive, and that none of these is blamed for what it forwards.
fn nobody_else_is_harmed(outcome: &Outcome) {
    assert!(have_all(outcome, 0..NODES));
    let attack = outcome.attack.as_ref().expect("it has adversaries");
    for second in &attack.watched {
        assert_eq!(second.honest_below_zero, 0, "{second:?}");
    }
}

/// Who keeps the limit is a member like any other.
#[test]
fn an_adversary_within_its_limit_is_heard_by_all() {
    let outcome = simulate(&members(100, |_| {}));
    let used = used(&outcome);
    assert_eq!((used.memberships, used.exposed), (5, 0));
    assert_eq!((used.published, used.nullifiers), (125, 125));
    assert_eq!((used.delivered, used.delivered_partly), (125, 0));
    assert_eq!(used.deliveries, 125 * u64::from(NODES));
    nobody_else_is_harmed(&outcome);
}

/// Of two messages sent at once to two halves of the network, each node delivers the one that comes first. Both cross
/// where the halves meet, so the secret is out.
#[test]
fn no_node_delivers_two_messages_of_one_nullifier() {
    for signals in [2, 5] {
        let outcome = simulate(&members(100, |policy| policy.signals = signals));
        let used = used(&outcome);
        assert_eq!(used.repeated_deliveries, 0, "{used:?}");
        assert_eq!((used.memberships, used.exposed), (5, 5), "{used:?}");
        assert_eq!(used.published, u64::from(signals) * used.nullifiers);
        // All that it gains is that nodes have different messages.
        assert_eq!(used.deliveries, used.nullifiers * u64::from(NODES));
        assert!(used.beyond_limit > 0, "{used:?}");
        nobody_else_is_harmed(&outcome);
    }
}

/// As soon as the first message is everywhere, no node delivers another of its nullifier.
#[test]
fn a_double_signal_that_comes_later_reaches_nobody() {
    let outcome = simulate(&members(100, |policy| {
        policy.signals = 2;
        policy.signal_gap_ns = 500 * MS;
    }));
    let used = used(&outcome);
    assert_eq!((used.memberships, used.exposed), (5, 5), "{used:?}");
    assert_eq!((used.delivered, used.beyond_limit), (125, 0), "{used:?}");
    nobody_else_is_harmed(&outcome);
}

/// The second message is the last of its epoch that any node accepts: nodes forget an epoch no earlier than they refuse
/// its messages. Five epochs of ten seconds; the second message of the first comes before, at or after its last moment.
#[test]
fn an_epoch_is_remembered_as_long_as_its_messages_are_accepted() {
    for (gap_ms, exposed) in [
        (29_800, 5),
        (29_900, 5),
        (29_950, 5),
        (29_980, 0),
        (30_000, 0),
        (30_100, 0),
    ] {
        let outcome = simulate(&members(100, |policy| {
            policy.arrives_ns = 0;
            policy.publish_every_ns = Some(EPOCH_S * S);
            policy.leaves_ns = None;
            policy.signals = 2;
            policy.signal_gap_ns = gap_ms * MS;
        }));
        let used = used(&outcome);
        assert!(used.published > used.nullifiers, "{gap_ms}: {used:?}");
        assert_eq!(used.exposed, exposed, "{gap_ms}: {used:?}");
        assert_eq!(used.delivered, used.nullifiers, "{gap_ms}: {used:?}");
        nobody_else_is_harmed(&outcome);
    }
}

/// Nodes are 20 to 80 ms away. Of a message whose time differs by 20 s at half that distance, some say that it is
/// within the limit and some that it is not; nobody is blamed for the other opinion.
#[test]
fn nodes_differ_about_a_skewed_clock_and_blame_nobody() {
    for ahead_ms in [20_050, -19_950] {
        let outcome = simulate(&members(100, |policy| {
            policy.clock_ahead_ns = ahead_ms * 1_000_000;
        }));
        let used = used(&outcome);
        assert_eq!(used.delivered_partly, used.published, "{used:?}");
        let reach = used.deliveries as f64 / (used.published * u64::from(NODES)) as f64;
        assert!((0.25..0.75).contains(&reach), "{ahead_ms}: {reach}");
        nobody_else_is_harmed(&outcome);
    }
}

/// A message waits 12 s for its root. If nodes learn of it within 10 s, all deliver it; if that takes 16 s, some do
/// not. Who knew it earlier and forwarded it is not blamed.
#[test]
fn nodes_that_learn_of_a_root_at_different_times_blame_nobody() {
    let partly = |spread_s| {
        let outcome = simulate(&members(100, |policy| policy.root_spread_ns = spread_s * S));
        nobody_else_is_harmed(&outcome);
        let used = used(&outcome);
        assert_eq!(used.delivered, used.published, "{used:?}");
        used.delivered_partly
    };
    assert_eq!(partly(10), 0);
    assert!(partly(16) > 0);
}

/// Members who use up their limit in each epoch are heard, and no more: a node remembers the nullifiers of the present
/// epoch and of those that ended at most two clock gaps ago, which are four.
#[test]
fn a_flood_of_nullifiers_stays_within_the_limit() {
    const LIMIT: u64 = 10;
    let mut scenario = members(LIMIT as u32, |policy| {
        policy.publish_every_ns = Some(S / 5);
        policy.arrives_ns = 0;
        policy.leaves_ns = None;
    });
    scenario.drain_ns = 60 * S;
    let outcome = simulate(&scenario);
    let used = used(&outcome);
    let in_epoch = 5 * LIMIT;
    assert!(used.published > 8 * in_epoch, "{used:?}");
    assert_eq!((used.published % in_epoch, used.exposed), (0, 0));
    assert_eq!(used.nullifiers_held, 5 * in_epoch);
    // The publisher of all that counts has the same limit.
    let attack = outcome.attack.as_ref().unwrap();
    assert!(
        attack
            .watched
            .iter()
            .all(|second| second.honest_below_zero == 0)
    );
}

/// A membership is one of a network's rate limit.
#[test]
fn nobody_publishes_without_a_rate_limit() {
    let mut scenario = members(1, |_| {});
    scenario.rln = None;
    let refused = undertone_sim::run(&scenario, undertone_sim::RunOptions::new(1), &mut |_| {});
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("publish_every_s"), "{error}");
}

/// Same seed, same messages, same trace on one, two and three threads.
#[test]
fn threads_change_nothing_about_members() {
    let scenario = members(100, |policy| {
        policy.signals = 3;
        policy.signal_gap_ns = 30 * MS;
        policy.clock_ahead_ns = -19_900_000_000;
        policy.root_spread_ns = 4 * S;
        policy.announce = 0.5;
    });
    let one = outcome(&scenario, 7, 1);
    assert_eq!(one.violations, []);
    assert!(used(&one).delivered_partly > 0);
    for threads in [2, 3] {
        let other = outcome(&scenario, 7, threads);
        assert_eq!(one.trace_hash, other.trace_hash, "{threads} threads");
        assert_eq!(one.attack, other.attack, "{threads} threads");
    }
}

/// The last ten nodes are a second ahead, and set their clocks right when the epoch of the first messages is over for
/// them. It becomes acceptable again; its nullifiers are still known, and nobody delivers a second message.
#[test]
fn a_clock_that_is_set_back_opens_no_epoch_again() {
    const LAST: u32 = 10;
    let mut scenario = members(100, |policy| {
        policy.targets = Targets::Nodes((NODES - LAST..NODES).collect());
        policy.arrives_ns = 0;
        policy.publish_every_ns = Some(EPOCH_S * S);
        policy.leaves_ns = Some(42 * S);
        policy.signals = 2;
        policy.signal_gap_ns = 29_200 * MS;
    });
    let clock = |at_ns, by_ns| Fault {
        at_ns,
        nodes: LAST,
        kind: FaultKind::ClockSkew { by_ns },
    };
    scenario.faults = vec![clock(5 * S, S as i64)];
    scenario.faults.push(clock(39_100 * MS, 0));
    let outcome = simulate(&scenario);
    let used = used(&outcome);
    assert_eq!((used.beyond_limit, used.exposed), (0, 5), "{used:?}");
    assert_eq!(used.repeated_deliveries, 0, "{used:?}");
    nobody_else_is_harmed(&outcome);
    assert!(have_all(&outcome, 0..NODES));
}
