//! The numbers of a policy as genes, each from 0 to 1.

use undertone_sim::Scenario;
use undertone_sim::scenario::{Group, Members, Policy, Publishers, Targets};

const S: f64 = 1e9;
const MS: f64 = 1e6;

/// What an attack may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Budget {
    /// Largest number of identities.
    pub identities: u32,
    /// Largest number of addresses.
    pub addresses: u32,
}

/// One number of an attack: a name, and what a value does.
struct Gene {
    set: fn(&mut Attack<'_>, f64),
}

/// An attack under construction.
struct Attack<'a> {
    policy: Policy,
    identities: u32,
    scenario: &'a Scenario,
    budget: Budget,
}

impl Attack<'_> {
    /// Time from the start to the last message, nanoseconds.
    fn end_ns(&self) -> f64 {
        let traffic = &self.scenario.traffic;
        let spacing_ns = match traffic.spacing {
            undertone_sim::scenario::Spacing::Constant(ns)
            | undertone_sim::scenario::Spacing::Poisson(ns) => ns,
        };
        traffic.first_ns as f64 + spacing_ns as f64 * f64::from(traffic.messages)
    }
}

/// A value between two bounds, with equal room for equal ratios.
fn ratio(gene: f64, least: f64, most: f64) -> f64 {
    least * (most / least).powf(gene)
}

/// The upper half of a gene's range as 0 to 1; `None` for the lower half, which leaves something out.
fn upper(gene: f64) -> Option<f64> {
    (gene > 0.5).then_some((gene - 0.5) * 2.0)
}

const GENES: &[Gene] = &[
    Gene {
        set: |attack, gene| {
            attack.identities =
                ratio(gene, 1.0, attack.budget.identities.max(1).into()).round() as u32;
        },
    },
    Gene {
        set: |attack, gene| {
            attack.policy.addresses =
                ratio(gene, 1.0, attack.budget.addresses.max(1).into()).round() as u32;
        },
    },
    Gene {
        set: |attack, gene| attack.policy.arrives_ns = (gene * attack.end_ns() / 2.0) as u64,
    },
    Gene {
        set: |attack, gene| {
            attack.policy.dials = ratio(gene, 1.0, attack.scenario.nodes.into()).round() as u32;
        },
    },
    Gene {
        set: |attack, gene| {
            let most = attack.budget.identities.clamp(1, 20);
            attack.policy.dialled = upper(gene).map_or(0.0, |gene| ratio(gene, 0.5, most.into()));
        },
    },
    Gene {
        set: |attack, gene| attack.policy.graft = gene,
    },
    Gene {
        set: |attack, gene| attack.policy.accepts_graft = gene,
    },
    Gene {
        set: |attack, gene| {
            attack.policy.regraft_after_ns =
                upper(gene).map(|gene| ratio(gene, 0.5 * S, 120.0 * S) as u64);
        },
    },
    Gene {
        set: |attack, gene| attack.policy.misbehaves_from_ns = (gene * attack.end_ns()) as u64,
    },
    Gene {
        set: |attack, gene| {
            attack.policy.turns_ns =
                upper(gene).map(|gene| (ratio(gene, 0.2 * S, 30.0 * S) as u64, 0));
        },
    },
    Gene {
        set: |attack, gene| {
            if let Some((_, good_ns)) = &mut attack.policy.turns_ns {
                *good_ns = ratio(gene, 0.2 * S, 30.0 * S) as u64;
            }
        },
    },
    Gene {
        set: |attack, gene| attack.policy.forward = gene,
    },
    Gene {
        set: |attack, gene| {
            let delay_ns = upper(gene).map_or(0.0, |gene| ratio(gene, MS, 5_000.0 * MS));
            attack.policy.forward_delay_ns = delay_ns as u64;
        },
    },
    Gene {
        set: |attack, gene| attack.policy.announce = upper(gene).unwrap_or(0.0),
    },
    Gene {
        set: |attack, gene| {
            let ids = upper(gene).map_or(0.0, |gene| ratio(gene, 1.0, 5_000.0));
            attack.policy.announce_false = ids as u32;
        },
    },
    Gene {
        set: |attack, gene| attack.policy.answer = gene,
    },
    Gene {
        set: |attack, gene| {
            attack.policy.request =
                upper(gene).map_or(0.0, |gene| ratio(gene, 1.0, 5_000.0)) as u32;
        },
    },
    Gene {
        set: |attack, gene| {
            attack.policy.targets = match gene {
                ..0.6 => Targets::All,
                ..0.8 => Targets::Publishers,
                _ => Targets::Nodes(vec![attack.scenario.nodes * 3 / 4]),
            };
        },
    },
    Gene {
        set: |attack, gene| {
            if gene > 0.8
                && let Publishers::One(node) = attack.scenario.traffic.publishers
            {
                attack.policy.censored = vec![node];
            } else if gene > 0.8 {
                attack.policy.censored = vec![0];
            }
        },
    },
];

/// Number of ids that an attack announces, and of those that it requests, at a heartbeat: 40 peers that send 500 each
/// to 5 nodes.
const IDS_PER_HEARTBEAT: u64 = 100_000;

/// Number of genes of an attack.
pub(crate) fn count() -> usize {
    GENES.len()
}

/// Adds the attack of some genes to a scenario, as its last group.
pub(crate) fn attacked(scenario: &Scenario, budget: Budget, genes: &[f64]) -> Scenario {
    let mut attack = Attack {
        policy: Policy::honest(),
        identities: 1,
        scenario,
        budget,
    };
    for (gene, value) in GENES.iter().zip(genes) {
        (gene.set)(&mut attack, *value);
    }
    let Attack {
        mut policy,
        identities,
        ..
    } = attack;
    // What all identities announce and request together is bounded, as their uplinks are; a run ends in time.
    let connections = u64::from(identities.max(1)) * u64::from(policy.dials.max(1));
    let of_each = u32::try_from(IDS_PER_HEARTBEAT / connections).unwrap_or(u32::MAX);
    policy.announce_false = policy.announce_false.min(of_each);
    policy.request = policy.request.min(of_each);
    with_attack(scenario, policy, identities)
}

/// Adds adversaries to a scenario, as its last group.
pub(crate) fn with_attack(scenario: &Scenario, mut policy: Policy, identities: u32) -> Scenario {
    policy.addresses = policy.addresses.clamp(1, identities.max(1));
    policy.dialled = policy.dialled.min(f64::from(identities.max(1) - 1));
    let mut group = Group::new("found", Members::Count(identities.max(1)));
    group.policy = Some(Box::new(policy));
    let mut scenario = scenario.clone();
    scenario.groups.push(group);
    scenario
}
