//! Makes a found attack smaller and simpler while it does what it did.

use undertone_sim::scenario::{Policy, Targets};
use undertone_sim::{Scenario, SimError};

use crate::genes::with_attack;
use crate::judge::{Aim, Figures};

/// Share of the harm that a simpler attack must keep.
const KEPT: f64 = 0.9;

/// An attack on a scenario that has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Attack {
    /// What the adversaries do.
    pub policy: Policy,
    /// Number of identities.
    pub identities: u32,
}

impl Attack {
    /// The attack of a scenario, if its last group is one of adversaries.
    pub fn of(scenario: &Scenario) -> Option<Self> {
        let group = scenario.groups.last()?;
        Some(Self {
            policy: group.policy.as_deref()?.clone(),
            identities: scenario.adversaries(),
        })
    }

    /// The scenario with the attack.
    pub fn on(&self, scenario: &Scenario) -> Scenario {
        with_attack(scenario, self.policy.clone(), self.identities)
    }
}

/// One way to simplify an attack; `None` if it is as simple as that already.
type Simpler = fn(&Attack) -> Option<Attack>;

const WAYS: &[Simpler] = &[
    |attack| fewer(attack, attack.identities / 2),
    |attack| fewer(attack, attack.identities - attack.identities / 4),
    |attack| changed(attack, |policy| policy.dials = policy.dials.div_ceil(2)),
    |attack| changed(attack, |policy| policy.dialled = 0.0),
    |attack| changed(attack, |policy| policy.dialled = policy.dialled.round()),
    |attack| changed(attack, |policy| policy.turns_ns = None),
    |attack| changed(attack, |policy| policy.announce = 0.0),
    |attack| changed(attack, |policy| policy.announce_false = 0),
    |attack| changed(attack, |policy| policy.request = 0),
    |attack| changed(attack, |policy| policy.forward_delay_ns = 0),
    |attack| changed(attack, |policy| policy.censored = Vec::new()),
    |attack| changed(attack, |policy| policy.targets = Targets::All),
    |attack| changed(attack, |policy| policy.regraft_after_ns = None),
    |attack| changed(attack, |policy| policy.misbehaves_from_ns = 0),
    |attack| changed(attack, |policy| policy.forward = policy.forward.round()),
    |attack| changed(attack, |policy| policy.answer = policy.answer.round()),
    |attack| changed(attack, |policy| policy.graft = policy.graft.round()),
    |attack| {
        changed(attack, |policy| {
            policy.accepts_graft = policy.accepts_graft.round();
        })
    },
    |attack| {
        changed(attack, |policy| {
            policy.arrives_ns = whole_seconds(policy.arrives_ns);
        })
    },
    |attack| {
        changed(attack, |policy| {
            policy.misbehaves_from_ns = whole_seconds(policy.misbehaves_from_ns);
        })
    },
    |attack| {
        changed(attack, |policy| {
            policy.regraft_after_ns = policy.regraft_after_ns.map(whole_seconds);
        })
    },
    |attack| {
        changed(attack, |policy| {
            policy.forward_delay_ns = policy.forward_delay_ns / 10_000_000 * 10_000_000;
        })
    },
    |attack| {
        changed(attack, |policy| {
            policy.forward = (policy.forward * 20.0).round() / 20.0;
        })
    },
    |attack| {
        changed(attack, |policy| {
            policy.answer = (policy.answer * 20.0).round() / 20.0;
        })
    },
    |attack| {
        changed(attack, |policy| {
            policy.graft = (policy.graft * 20.0).round() / 20.0;
        })
    },
];

fn fewer(attack: &Attack, identities: u32) -> Option<Attack> {
    let is_fewer = identities > 0 && identities < attack.identities;
    let mut policy = attack.policy.clone();
    policy.addresses = policy.addresses.min(identities.max(1));
    policy.dialled = policy.dialled.min(f64::from(identities.max(1) - 1));
    is_fewer.then_some(Attack { policy, identities })
}

fn changed(attack: &Attack, change: impl Fn(&mut Policy)) -> Option<Attack> {
    let mut policy = attack.policy.clone();
    change(&mut policy);
    (policy != attack.policy).then_some(Attack {
        policy,
        identities: attack.identities,
    })
}

fn whole_seconds(ns: u64) -> u64 {
    ns.div_ceil(1_000_000_000) * 1_000_000_000
}

/// Simplifies an attack step by step, as long as it keeps nine tenths of its harm. `tell` is called with each simpler
/// attack.
///
/// # Errors
/// Returns an error when the scenario cannot be run.
pub fn shrink(
    scenario: &Scenario,
    attack: Attack,
    (aim, keeps_score, seed): (Aim, bool, u64),
    tell: &mut dyn FnMut(&Attack, &Figures),
) -> Result<(Attack, Figures), SimError> {
    let harm = |figures: &Figures| match aim {
        Aim::Delivery => 1.0 - figures.on_time_ratio,
        Aim::Latency => figures.p99_ms,
    };
    let mut best = attack;
    let mut figures = Figures::of(&best.on(scenario), seed)?;
    let least = harm(&figures) * KEPT;
    let mut has_changed = true;
    while std::mem::take(&mut has_changed) {
        for way in WAYS {
            while let Some(simpler) = way(&best) {
                let now = Figures::of(&simpler.on(scenario), seed)?;
                let is_allowed = !keeps_score || now.lowest_score >= 0.0;
                if harm(&now) < least || !is_allowed {
                    break;
                }
                (best, figures, has_changed) = (simpler, now, true);
                tell(&best, &figures);
            }
        }
    }
    Ok((best, figures))
}
