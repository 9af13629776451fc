//! Identities of adversaries, and their connections.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use crate::error::SimError;
use crate::outcome::Message;
use crate::run::check;
use crate::scenario::{Group, Members, Policy, Scenario, Targets};
use crate::seeds::SeededRng;

/// Largest number of identities in all groups.
const IDENTITIES_MAX: u32 = 1_000_000;

/// Largest number of messages under one nullifier.
const SIGNALS_MAX: u32 = 100;

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
    let mut all = 0u32;
    for group in scenario
        .groups
        .iter()
        .filter(|group| group.policy.is_some())
    {
        let rule = "adversaries are a number of identities: nodes, or share";
        let is_counted = matches!(group.members, Members::Count(1..));
        check(is_counted, "groups.members", &group.name, rule)?;
        let is_bare = group.relay.is_none() && group.topics.is_none() && group.cpu.is_none();
        let rule = "adversaries have no relay, topics or cpu: the policy says what they do";
        check(
            is_bare && group.accepts_connections,
            "groups.policy",
            &group.name,
            rule,
        )?;
    }
    for (_, group, policy, count) in groups(scenario) {
        all = all.saturating_add(count);
        let rule = "there must be 1000000 adversaries at most";
        check(all <= IDENTITIES_MAX, "groups.nodes", count, rule)?;
        let name = || group.name.clone();
        let rule = "they must not leave before they arrive";
        let stays = policy.leaves_ns.is_none_or(|at| at >= policy.arrives_ns);
        let leaves_s = policy.leaves_ns.map_or(f64::INFINITY, |at| at as f64 / 1e9);
        check(stays, "groups.policy.leaves_s", leaves_s, rule)?;
        let rule = "one of misbehaves_for_s and behaves_for_s must be more than 0";
        let turns = policy.turns_ns != Some((0, 0));
        check(turns, "groups.policy", name(), rule)?;
        let share = "it must lie between 0 and 1";
        for probability in [
            policy.graft,
            policy.accepts_graft,
            policy.forward,
            policy.announce,
            policy.answer,
        ] {
            check(
                (0.0..=1.0).contains(&probability),
                "groups.policy",
                probability,
                share,
            )?;
        }
        check(
            policy.addresses > 0,
            "groups.policy.addresses",
            name(),
            "it must be more than 0",
        )?;
        let rule = "it must be 0 or more, and at most the number of identities";
        let fits = (0.0..=f64::from(count)).contains(&policy.dialled);
        check(fits, "groups.policy.dialled", policy.dialled, rule)?;
        let ids = policy.announce_false.max(policy.request);
        check(
            ids <= 100_000,
            "groups.policy",
            ids,
            "an identity sends 100000 ids at most",
        )?;
        validate_publishing(scenario, policy)?;
        let nodes = |nodes: &[u32]| nodes.iter().all(|node| *node < scenario.nodes);
        let targets = match &policy.targets {
            Targets::Nodes(targets) => !targets.is_empty() && nodes(targets),
            Targets::All | Targets::Publishers => true,
        };
        let rule = "they must be nodes of the network, counted from 0";
        check(
            targets && nodes(&policy.censored),
            "groups.policy",
            name(),
            rule,
        )?;
        let rule = "nodes that find each other do not meet adversaries yet; take another topology";
        check(
            scenario.topology.discovery().is_none(),
            "topology.kind",
            "discovery",
            rule,
        )?;
    }
    Ok(())
}

fn validate_publishing(scenario: &Scenario, policy: &Policy) -> Result<(), SimError> {
    let Some(every_ns) = policy.publish_every_ns else {
        return Ok(());
    };
    let what = "groups.policy.publish_every_s";
    check(every_ns > 0, what, every_ns, "it must be more than 0")?;
    let rule = "adversaries publish as members: the network must have a rate limit, [rln]";
    check(scenario.rln.is_some(), what, every_ns, rule)?;
    let rule = "it must be at least 1 and at most 100";
    let is_few = (1..=SIGNALS_MAX).contains(&policy.signals);
    check(is_few, "groups.policy.signals", policy.signals, rule)
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
