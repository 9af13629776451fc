//! Identities of adversaries, and their connections.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use crate::error::SimError;
use crate::outcome::Message;
use crate::run::check_in;
use crate::scenario::{Group, Members, Policy, Scenario, Targets};
use crate::seeds::SeededRng;

/// Largest number of identities in all groups.
const IDENTITIES_MAX: u32 = 1_000_000;

/// Largest number of messages under one nullifier.
const SIGNALS_MAX: u32 = 100;

/// Shortest time from one message of an identity to the next.
const PUBLISH_EVERY_NS_MIN: u64 = 1_000_000;

/// One identity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// Index of its group.
    pub(crate) group: usize,
    pub(crate) starts_ns: u64,
    pub(crate) address: IpAddr,
}

/// Groups with a policy, each with its index and its number of identities.
pub(crate) fn groups(scenario: &Scenario) -> impl Iterator<Item = (usize, &Group, &Policy, u32)> {
    let all = scenario.groups.iter().enumerate();
    all.filter_map(
        |(index, group)| match (group.policy.as_deref(), &group.members) {
            (Some(policy), Members::Count(count)) => Some((index, group, policy, *count)),
            _ => None,
        },
    )
}

pub(crate) fn validate(scenario: &Scenario) -> Result<(), SimError> {
    for group in &scenario.groups {
        if group.policy.is_none() {
            continue;
        }
        let rule = "adversaries are one or more identities: nodes, or share of the nodes";
        let (is_counted, value) = match group.members {
            Members::Count(count) => (count > 0, format!("{count} identities")),
            Members::Listed(_) => (false, "a list".to_owned()),
        };
        check_in(is_counted, "groups.members", value, group, rule)?;
        let rule = "adversaries have no relay, topics, cpu or accepts_connections: the policy says what they do";
        let is_bare = group.relay.is_none() && group.topics.is_none() && group.cpu.is_none();
        let is_bare = is_bare && group.accepts_connections;
        check_in(is_bare, "groups.policy", "set", group, rule)?;
    }
    let mut all = 0u32;
    for (_, group, policy, count) in groups(scenario) {
        all = all.saturating_add(count);
        let rule = "there must be 1000000 adversaries at most";
        check_in(all <= IDENTITIES_MAX, "groups.nodes", count, group, rule)?;
        validate_policy(scenario, group, policy, count)?;
        validate_publishing(scenario, group, policy)?;
        let rule = "nodes that find each other do not meet adversaries yet; take another topology";
        let is_planned = scenario.topology.discovery().is_none();
        check_in(is_planned, "topology.kind", "discovery", group, rule)?;
    }
    Ok(())
}

fn validate_policy(
    scenario: &Scenario,
    group: &Group,
    policy: &Policy,
    count: u32,
) -> Result<(), SimError> {
    let rule = "they must not leave before they arrive";
    let stays = policy.leaves_ns.is_none_or(|at| at >= policy.arrives_ns);
    let leaves_s = policy.leaves_ns.map_or(f64::INFINITY, |at| at as f64 / 1e9);
    check_in(stays, "groups.policy.leaves_s", leaves_s, group, rule)?;
    let rule = "it or behaves_for_s must be more than 0";
    let turns = policy.turns_ns != Some((0, 0));
    check_in(turns, "groups.policy.misbehaves_for_s", 0, group, rule)?;
    let rule = "it must lie between 0 and 1";
    for (what, share) in [
        ("groups.policy.graft", policy.graft),
        ("groups.policy.accepts_graft", policy.accepts_graft),
        ("groups.policy.forward", policy.forward),
        ("groups.policy.announce", policy.announce),
        ("groups.policy.answer", policy.answer),
    ] {
        check_in((0.0..=1.0).contains(&share), what, share, group, rule)?;
    }
    let (what, rule) = ("groups.policy.addresses", "it must be more than 0");
    check_in(policy.addresses > 0, what, policy.addresses, group, rule)?;
    let rule = "it must be 0 or more, and at most the number of identities";
    let (dialled, most) = (policy.dialled, f64::from(count));
    let fits = (0.0..=most).contains(&dialled);
    check_in(fits, "groups.policy.dialled", dialled, group, rule)?;
    let rule = "an identity sends 100000 ids at most";
    for (what, ids) in [
        ("groups.policy.announce_false", policy.announce_false),
        ("groups.policy.request", policy.request),
    ] {
        check_in(ids <= 100_000, what, ids, group, rule)?;
    }
    let rule = "it must be one or more nodes of the network, counted from 0";
    let known = |nodes: &[u32]| nodes.iter().all(|node| *node < scenario.nodes);
    if let Targets::Nodes(targets) = &policy.targets {
        let is_known = !targets.is_empty() && known(targets);
        let text = format!("{targets:?}");
        check_in(is_known, "groups.policy.targets", text, group, rule)?;
    }
    let text = format!("{:?}", policy.censored);
    let is_known = known(&policy.censored);
    check_in(is_known, "groups.policy.censored", text, group, rule)
}

fn validate_publishing(
    scenario: &Scenario,
    group: &Group,
    policy: &Policy,
) -> Result<(), SimError> {
    let what = "groups.policy.publish_every_s";
    let Some(every_ns) = policy.publish_every_ns else {
        let of_messages = (policy.signals, policy.signal_gap_ns, policy.root_spread_ns);
        let is_default = of_messages == (1, 0, 0) && policy.clock_ahead_ns == 0;
        let rule =
            "signals, signal_gap_s, clock_ahead_ms and root_spread_s have no effect without it";
        return check_in(is_default, what, "not set", group, rule);
    };
    let every_s = every_ns as f64 / 1e9;
    check_in(
        every_ns >= PUBLISH_EVERY_NS_MIN,
        what,
        every_s,
        group,
        "it must be 0.001 or more",
    )?;
    let rule = "adversaries publish as members: the network must have a rate limit, [rln]";
    check_in(scenario.rln.is_some(), what, every_s, group, rule)?;
    let rule = "it must be at least 1 and at most 100";
    let (signals, is_few) = (policy.signals, (1..=SIGNALS_MAX).contains(&policy.signals));
    check_in(is_few, "groups.policy.signals", signals, group, rule)
}

/// All identities, in the order of their numbers.
pub(crate) fn identities(scenario: &Scenario, seed: u64) -> Vec<Identity> {
    let mut all = Vec::new();
    for (index, _, policy, count) in groups(scenario) {
        let mut rng = SeededRng::new(seed, "adversary starts", index as u64);
        for number in 0..count {
            all.push(Identity {
                group: index,
                starts_ns: policy.arrives_ns + rng.below(policy.arrives_over_ns),
                address: address(index, number % policy.addresses),
            });
        }
    }
    all
}

/// Address of a group, each in a network of its own.
fn address(group: usize, number: u32) -> IpAddr {
    let [a, b, c, d] = number.to_be_bytes();
    IpAddr::V4(Ipv4Addr::new(100 + group as u8 % 100 + a, b, c, d))
}

/// Connections of all identities as (dialler, dialled); `first` is the number of the first identity.
pub(crate) fn edges(
    scenario: &Scenario,
    seed: u64,
    messages: &[Message],
    first: u32,
) -> Vec<(u32, u32)> {
    let mut all = Vec::new();
    let mut first = first;
    for (index, _, policy, count) in groups(scenario) {
        let targets: Vec<u32> = match &policy.targets {
            Targets::All => (0..scenario.nodes).collect(),
            Targets::Publishers => {
                let publishers: BTreeSet<_> =
                    messages.iter().map(|message| message.publisher).collect();
                publishers
                    .into_iter()
                    .filter(|node| *node < scenario.nodes)
                    .collect()
            }
            Targets::Nodes(nodes) => nodes.clone(),
        };
        let mut rng = SeededRng::new(seed, "adversary dials", index as u64);
        let mut pairs = BTreeSet::new();
        for target in &targets {
            let whole = policy.dialled.trunc();
            let more = u32::from(rng.unit() < policy.dialled - whole);
            let wanted = (whole as u32 + more).min(count) as usize;
            let mut own = BTreeSet::new();
            while own.len() < wanted {
                own.insert(first + rng.below(u64::from(count)) as u32);
            }
            for identity in own {
                pairs.insert((identity, *target));
                all.push((*target, identity));
            }
        }
        let open: Vec<u32> = targets
            .into_iter()
            .filter(|node| scenario.accepts_connections(*node))
            .collect();
        for identity in first..first + count {
            let mut free: Vec<u32> = match policy.dials as usize >= open.len() {
                true => open.clone(),
                false => chosen(&open, policy.dials as usize, &mut rng),
            };
            free.retain(|target| pairs.insert((identity, *target)));
            all.extend(free.into_iter().map(|target| (identity, target)));
        }
        first += count;
    }
    all
}

/// Returns some of the nodes, each once.
fn chosen(all: &[u32], count: usize, rng: &mut SeededRng) -> Vec<u32> {
    let mut numbers = BTreeSet::new();
    while numbers.len() < count {
        numbers.insert(rng.below(all.len() as u64) as usize);
    }
    numbers.into_iter().map(|number| all[number]).collect()
}
