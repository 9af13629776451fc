//! `[groups.policy]`: what adversaries do.

use undertone_settings::{Error, MS, S, TomlValue, keys};
use undertone_sim::scenario::{Policy, Targets};

use super::faults::ahead;
use super::groups::numbers;
use super::key::{FieldKey, Key, Table, fields};
use super::values::{count, list, text};

const MAX_IDS: u64 = 100_000;

const MAX_SIGNALS: u64 = 100;

const POLICY: &[FieldKey<Policy>] = fields![
    whole(1, 4_294_967_295): addresses;
    time(S): arrives_s = arrives_ns, arrives_over_s = arrives_over_ns, misbehaves_from_s = misbehaves_from_ns;
    whole(0, 1_000_000): dials;
    number(0.0, 1e6): dialled;
    number(0.0, 1.0): graft, accepts_graft, forward, announce, answer;
    time(MS): forward_delay_ms = forward_delay_ns;
    whole(0, MAX_IDS): announce_false, request;
    whole(1, MAX_SIGNALS): signals;
    time(S): signal_gap_s = signal_gap_ns, root_spread_s = root_spread_ns;
];

/// Attacks with a name: the numbers that each sets, beside those of a peer that behaves well.
pub(super) fn named() -> Vec<(&'static str, Policy)> {
    let with = |change: fn(&mut Policy)| {
        let mut policy = Policy::honest();
        change(&mut policy);
        policy
    };
    vec![
        ("observer", Policy::honest()),
        ("drop", with(drops)),
        (
            "degrade",
            with(|policy| {
                drops(policy);
                (policy.forward, policy.answer) = (0.5, 0.5);
            }),
        ),
        (
            "censor",
            with(|policy| policy.regraft_after_ns = Some(REGRAFT_NS)),
        ),
        ("slow", with(|policy| policy.forward_delay_ns = 300_000_000)),
        (
            "ihave-flood",
            with(|policy| {
                drops(policy);
                policy.announce_false = 500;
            }),
        ),
        ("iwant-flood", with(|policy| policy.request = 5_000)),
        (
            "graft-flood",
            with(|policy| {
                drops(policy);
                policy.regraft_after_ns = Some(1_000_000_000);
            }),
        ),
        (
            "double-signal",
            with(|policy| {
                publishes(policy);
                policy.signals = 2;
            }),
        ),
        (
            "clock-skew",
            with(|policy| {
                publishes(policy);
                policy.clock_ahead_ns = CLOCK_AHEAD_NS;
            }),
        ),
        (
            "racing-roots",
            with(|policy| {
                publishes(policy);
                policy.root_spread_ns = ROOT_SPREAD_NS;
            }),
        ),
        ("nullifier-flood", with(publishes)),
    ]
}

/// Time after which most attackers of the 2020 evaluation asked to join again.
const REGRAFT_NS: u64 = 60_000_000_000;

/// Lead of a clock that is too much for a node less than 50 ms away, and just within the 20 s that are accepted for
/// those further away.
const CLOCK_AHEAD_NS: i64 = 20_050_000_000;

/// Time within which nodes learn of a new root: more than the 12 s for which messages wait for one.
const ROOT_SPREAD_NS: u64 = 16_000_000_000;

/// A member that publishes once a second, as long as the rate limit lets it.
fn publishes(policy: &mut Policy) {
    policy.publish_every_ns = Some(1_000_000_000);
}

/// A peer in as many meshes as it can join, which forwards and answers nothing.
fn drops(policy: &mut Policy) {
    (policy.forward, policy.answer) = (0.0, 0.0);
    policy.regraft_after_ns = Some(REGRAFT_NS);
}

/// Reads or writes the table, if there is one.
pub(super) fn policy(
    key: Key<'_>,
    policy: &mut Option<Box<Policy>>,
    nodes: u32,
) -> Result<(), Error> {
    if !key.is_set() && policy.is_none() {
        return Ok(());
    }
    let own = policy.get_or_insert_with(|| Box::new(Policy::honest()));
    key.table(|table| read(table, own, nodes))
}

fn read(table: &Table<'_>, policy: &mut Policy, nodes: u32) -> Result<(), Error> {
    keys!(table, POLICY => kind, targets, leaves_s, regraft_after_s, misbehaves_for_s, behaves_for_s, censored, publish_every_s, clock_ahead_ms);
    let known = named();
    let known: Vec<_> = known.iter().map(|(name, policy)| (*name, policy)).collect();
    kind.both(
        policy,
        |key| Ok(key.word(&known)?.map(|policy| (*policy).clone())),
        |_| None,
    )?;
    table.fill(POLICY, policy)?;
    read_targets(targets, &mut policy.targets, nodes - 1)?;
    let time = |key: Key<'_>, ns: &mut u64| key.time(S, ns);
    leaves_s.some(&mut policy.leaves_ns, 0, time)?;
    regraft_after_s.some(&mut policy.regraft_after_ns, 0, time)?;
    publish_every_s.some(&mut policy.publish_every_ns, 0, time)?;
    ahead(clock_ahead_ms, &mut policy.clock_ahead_ns)?;
    if misbehaves_for_s.is_set() || behaves_for_s.is_set() || policy.turns_ns.is_some() {
        let (bad_ns, good_ns) = policy.turns_ns.get_or_insert((0, 0));
        for (key, ns) in [(misbehaves_for_s, bad_ns), (behaves_for_s, good_ns)] {
            key.required("seconds; misbehaves_for_s and behaves_for_s go together")?
                .time(S, ns)?;
        }
    }
    let expected = format!(
        "a list of nodes, 0 to {}, whose messages are dropped",
        nodes - 1
    );
    let is_censor = word_of(kind) == Some("censor");
    if is_censor && policy.censored.is_empty() {
        censored.required(&expected)?;
    }
    if censored.is_set() || !policy.censored.is_empty() {
        numbers(censored, nodes - 1, &expected, &mut policy.censored)?;
    }
    Ok(())
}

/// The word in a file; `None` if the key is not set, or is no text.
fn word_of(key: Key<'_>) -> Option<&str> {
    key.source()?.entry()?.as_text()
}

fn read_targets(key: Key<'_>, targets: &mut Targets, last: u32) -> Result<(), Error> {
    let words = [("all", Targets::All), ("publishers", Targets::Publishers)];
    if word_of(key).is_some() {
        return key.word(&words, targets);
    }
    let mut nodes = match targets {
        Targets::Nodes(nodes) => std::mem::take(nodes),
        Targets::All | Targets::Publishers => Vec::new(),
    };
    let expected = format!("\"all\", \"publishers\", or a list of nodes, 0 to {last}");
    if key.is_set() {
        numbers(key, last, &expected, &mut nodes)?;
        *targets = Targets::Nodes(nodes);
        return Ok(());
    }
    if !nodes.is_empty() {
        *targets = Targets::Nodes(nodes);
    }
    let write = |targets: &Targets| -> Option<TomlValue> {
        Some(match targets {
            Targets::All => text("all"),
            Targets::Publishers => text("publishers"),
            Targets::Nodes(nodes) => list(nodes.iter().copied().map(count)),
        })
    };
    key.both(targets, |_| Ok(None), write)
}
