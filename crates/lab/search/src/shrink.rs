//! Makes a found attack smaller and simpler while it does what it did.

use undertone_sim::scenario::Targets;
use undertone_sim::{Scenario, SimError};

use crate::attack::Attack;
use crate::judge::{Aim, Figures};

/// Share of the harm that a simpler attack must keep.
const KEPT: f64 = 0.9;

/// One way to simplify an attack; it changes nothing in one that is as simple as that already.
type Way = fn(&mut Attack);

const WAYS: &[Way] = &[
    |attack| attack.identities /= 2,
    |attack| attack.identities -= attack.identities / 4,
    |attack| attack.policy.dials = attack.policy.dials.div_ceil(2),
    |attack| attack.policy.dialled = 0.0,
    |attack| attack.policy.dialled = attack.policy.dialled.round(),
    |attack| attack.policy.turns_ns = None,
    |attack| attack.policy.announce = 0.0,
    |attack| attack.policy.announce_false = 0,
    |attack| attack.policy.request = 0,
    |attack| attack.policy.forward_delay_ns = 0,
    |attack| attack.policy.censored.clear(),
    |attack| attack.policy.targets = Targets::All,
    |attack| attack.policy.regraft_after_ns = None,
    |attack| attack.policy.misbehaves_from_ns = 0,
    |attack| round(&mut attack.policy.forward, 1.0),
    |attack| round(&mut attack.policy.answer, 1.0),
    |attack| round(&mut attack.policy.graft, 1.0),
    |attack| round(&mut attack.policy.accepts_graft, 1.0),
    |attack| attack.policy.arrives_ns = whole_seconds(attack.policy.arrives_ns),
    |attack| attack.policy.misbehaves_from_ns = whole_seconds(attack.policy.misbehaves_from_ns),
    |attack| {
        let after_ns = attack.policy.regraft_after_ns;
        attack.policy.regraft_after_ns = after_ns.map(whole_seconds);
    },
    |attack| attack.policy.forward_delay_ns -= attack.policy.forward_delay_ns % 10_000_000,
    |attack| round(&mut attack.policy.forward, 20.0),
    |attack| round(&mut attack.policy.answer, 20.0),
    |attack| round(&mut attack.policy.graft, 20.0),
    |attack| round(&mut attack.policy.announce, 20.0),
];

fn simpler(attack: &Attack, way: Way) -> Option<Attack> {
    let mut simpler = attack.clone();
    way(&mut simpler);
    simpler.fit();
    (simpler != *attack).then_some(simpler)
}

/// Rounds to a whole number of parts, of which one has so many.
fn round(value: &mut f64, parts: f64) {
    *value = (*value * parts).round() / parts;
}

fn whole_seconds(ns: u64) -> u64 {
    ns.next_multiple_of(1_000_000_000)
}

/// Simplifies an attack step by step, and shortens the run, as long as it keeps nine tenths of its harm. `tell` is called
/// with each simpler attack. Returns the attacked scenario.
///
/// # Errors
/// Returns an error when the scenario cannot be run.
pub fn shrink(
    scenario: &Scenario,
    attack: Attack,
    (aim, keeps_score, seed): (Aim, bool, u64),
    tell: &mut dyn FnMut(&Attack, &Figures),
) -> Result<(Scenario, Figures), SimError> {
    let mut best = attack;
    let mut figures = Figures::of(&best.on(scenario), seed)?;
    let least = figures.harm(aim) * KEPT;
    let is_kept = |now: &Figures| {
        let is_allowed = !keeps_score || now.lowest_score >= 0.0;
        now.harm(aim) >= least && is_allowed
    };
    let mut has_changed = true;
    while std::mem::take(&mut has_changed) {
        for way in WAYS {
            while let Some(simpler) = simpler(&best, *way) {
                let now = Figures::of(&simpler.on(scenario), seed)?;
                if !is_kept(&now) {
                    break;
                }
                (best, figures, has_changed) = (simpler, now, true);
                tell(&best, &figures);
            }
        }
    }
    let mut attacked = best.on(scenario);
    while attacked.traffic.messages > 1 {
        let mut shorter = attacked.clone();
        shorter.traffic.messages /= 2;
        let now = Figures::of(&shorter, seed)?;
        if !is_kept(&now) {
            break;
        }
        (attacked, figures) = (shorter, now);
        tell(&best, &figures);
    }
    Ok((attacked, figures))
}
