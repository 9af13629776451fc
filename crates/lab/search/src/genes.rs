//! The numbers of an attack as genes, each from 0 to 1.

use undertone_sim::Scenario;
use undertone_sim::scenario::{Policy, Publishers, Spacing, Targets};

use crate::attack::Attack;

const S: f64 = 1e9;
const MS: f64 = 1e6;

/// What an attack may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Budget {
    /// Largest number of identities.
    pub identities: u32,
    /// Largest number of addresses.
    pub addresses: u32,
    /// Largest number of memberships; 0 if the identities publish nothing.
    pub memberships: u32,
}

/// What the range of a gene depends on.
struct Scope<'a> {
    scenario: &'a Scenario,
    budget: Budget,
}

impl Scope<'_> {
    /// Time from the start to the last message, nanoseconds.
    fn end_ns(&self) -> f64 {
        let traffic = &self.scenario.traffic;
        let (Spacing::Constant(spacing_ns) | Spacing::Poisson(spacing_ns)) = traffic.spacing;
        traffic.first_ns as f64 + spacing_ns as f64 * f64::from(traffic.messages)
    }
}

/// A value between two bounds, with equal room for equal ratios.
pub(crate) fn ratio(gene: f64, least: f64, most: f64) -> f64 {
    least * (most / least).powf(gene)
}

/// A whole number from 1 to `most`.
fn whole(gene: f64, most: u32) -> u32 {
    ratio(gene, 1.0, most.max(1).into()).round() as u32
}

/// The upper half of a gene's range as 0 to 1; `None` for the lower half, which leaves something out.
fn upper(gene: f64) -> Option<f64> {
    (gene > 0.5).then_some((gene - 0.5) * 2.0)
}

/// A number of ids.
fn ids(gene: f64) -> u32 {
    upper(gene).map_or(0.0, |gene| ratio(gene, 1.0, 5_000.0)) as u32
}

/// What a value of one gene sets.
type Gene = fn(&Scope<'_>, &mut Attack, f64);

const GENES: &[Gene] = &[
    |scope, attack, gene| attack.identities = whole(gene, scope.budget.identities),
    |scope, attack, gene| attack.policy.addresses = whole(gene, scope.budget.addresses),
    |scope, attack, gene| attack.policy.arrives_ns = (gene * scope.end_ns() / 2.0) as u64,
    |scope, attack, gene| attack.policy.dials = whole(gene, scope.scenario.nodes),
    |scope, attack, gene| {
        let most = scope.budget.identities.clamp(1, 20);
        attack.policy.dialled = upper(gene).map_or(0.0, |gene| ratio(gene, 0.5, most.into()));
    },
    |_, attack, gene| attack.policy.graft = gene,
    |_, attack, gene| attack.policy.accepts_graft = gene,
    |_, attack, gene| {
        let after_ns = upper(gene).map(|gene| ratio(gene, 0.5 * S, 120.0 * S) as u64);
        attack.policy.regraft_after_ns = after_ns;
    },
    |scope, attack, gene| attack.policy.misbehaves_from_ns = (gene * scope.end_ns()) as u64,
    |_, attack, gene| {
        let bad_ns = upper(gene).map(|gene| ratio(gene, 0.2 * S, 30.0 * S) as u64);
        attack.policy.turns_ns = bad_ns.map(|bad_ns| (bad_ns, 0));
    },
    |_, attack, gene| {
        if let Some((_, good_ns)) = &mut attack.policy.turns_ns {
            *good_ns = ratio(gene, 0.2 * S, 30.0 * S) as u64;
        }
    },
    |_, attack, gene| attack.policy.forward = gene,
    |_, attack, gene| {
        let delay_ns = upper(gene).map_or(0.0, |gene| ratio(gene, MS, 5_000.0 * MS));
        attack.policy.forward_delay_ns = delay_ns as u64;
    },
    |_, attack, gene| attack.policy.announce = upper(gene).unwrap_or(0.0),
    |_, attack, gene| attack.policy.announce_false = ids(gene),
    |_, attack, gene| attack.policy.answer = gene,
    |_, attack, gene| attack.policy.request = ids(gene),
    |scope, attack, gene| {
        attack.policy.targets = match gene {
            ..0.6 => Targets::All,
            ..0.8 => Targets::Publishers,
            _ => Targets::Nodes(vec![scope.scenario.nodes * 3 / 4]),
        };
    },
    |scope, attack, gene| {
        let publisher = match scope.scenario.traffic.publishers {
            Publishers::One(node) => node,
            _ => 0,
        };
        attack.policy.censored = if gene > 0.8 {
            vec![publisher]
        } else {
            Vec::new()
        };
    },
];

/// What identities publish; genes only of a search with a budget of memberships.
const MEMBER_GENES: &[Gene] = &[
    |scope, attack, gene| {
        let every_ns = upper(gene).map(|gene| ratio(gene, S, 30.0 * S) as u64);
        attack.policy.publish_every_ns = every_ns;
        if every_ns.is_some() {
            attack.identities = attack.identities.min(scope.budget.memberships);
        }
    },
    |_, attack, gene| attack.policy.signals = whole(gene, 10),
    |_, attack, gene| attack.policy.signal_gap_ns = (gene * 30.0 * S) as u64,
    |_, attack, gene| attack.policy.clock_ahead_ns = ((gene - 0.5) * 60.0 * S) as i64,
    |_, attack, gene| {
        let spread_ns = upper(gene).map_or(0.0, |gene| ratio(gene, S, 30.0 * S));
        attack.policy.root_spread_ns = spread_ns as u64;
    },
];

fn genes(budget: Budget) -> impl Iterator<Item = &'static Gene> {
    let of_members: &[Gene] = match budget.memberships {
        0 => &[],
        _ => MEMBER_GENES,
    };
    GENES.iter().chain(of_members)
}

/// Number of ids that an attack announces, and of those that it requests, at a heartbeat: 40 peers that send 500 each
/// to 5 nodes.
const IDS_PER_HEARTBEAT: u64 = 100_000;

/// Number of genes of an attack.
pub(crate) fn count(budget: Budget) -> usize {
    genes(budget).count()
}

/// The attack of some genes.
pub(crate) fn attack(scenario: &Scenario, budget: Budget, genes: &[f64]) -> Attack {
    let scope = Scope { scenario, budget };
    let mut attack = Attack {
        policy: Policy::honest(),
        identities: 1,
    };
    for (set, value) in self::genes(budget).zip(genes) {
        set(&scope, &mut attack, *value);
    }
    attack.fit();
    // What all identities announce and request together is bounded, as their uplinks are; a run ends in time.
    let policy = &mut attack.policy;
    let dialled = (policy.dialled * f64::from(scenario.nodes)) as u64;
    let connections = u64::from(attack.identities) * u64::from(policy.dials) + dialled;
    let of_each = u32::try_from(IDS_PER_HEARTBEAT / connections.max(1)).unwrap_or(u32::MAX);
    policy.announce_false = policy.announce_false.min(of_each);
    policy.request = policy.request.min(of_each);
    attack
}
