//! Makes a found attack smaller and simpler while it does what it did.

use undertone_sim::scenario::Targets;
use undertone_sim::{Scenario, SimError};

use crate::attack::Attack;
use crate::judge::{Aim, Figures};

/// Share of the harm that a simpler attack must keep, beyond what the network has without it.
const KEPT: f64 = 0.9;

/// One way to simplify an attack; it changes nothing in one that is as simple as that already.
type Way = fn(&mut Attack);

const WAYS: &[Way] = &[
    |attack| attack.identities /= 2,
    |attack| attack.identities -= attack.identities / 4,
    |attack| attack.policy.publish_every_ns = None,
    |attack| attack.policy.signals = 1,
    |attack| attack.policy.signal_gap_ns = 0,
    |attack| attack.policy.clock_ahead_ns = 0,
    |attack| attack.policy.root_spread_ns = 0,
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

/// Simplifies an attack step by step, and shortens the run, as long as it keeps nine tenths of its harm: what it adds to
/// the same run without it. `tell` is called with each simpler attack. Returns the attacked scenario.
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
    let without = Figures::of(scenario, seed)?;
    let least = figures.excess(&without, aim) * KEPT;
    let is_kept = |now: &Figures, without: &Figures| {
        let is_allowed = !keeps_score || now.lowest_score >= 0.0;
        now.excess(without, aim) >= least && is_allowed
    };
    let mut has_changed = true;
    while std::mem::take(&mut has_changed) {
        for way in WAYS {
            while let Some(simpler) = simpler(&best, *way) {
                let now = Figures::of(&simpler.on(scenario), seed)?;
                if !is_kept(&now, &without) {
                    break;
                }
                (best, figures, has_changed) = (simpler, now, true);
                tell(&best, &figures);
            }
        }
    }
    let mut plain = scenario.clone();
    while plain.traffic.messages > 1 {
        let mut shorter = plain.clone();
        shorter.traffic.messages /= 2;
        let without = Figures::of(&shorter, seed)?;
        let now = Figures::of(&best.on(&shorter), seed)?;
        if !is_kept(&now, &without) {
            break;
        }
        (plain, figures) = (shorter, now);
        tell(&best, &figures);
    }
    Ok((best.on(&plain), figures))
}

#[cfg(test)]
mod tests {
    use undertone_lab::scenario::load;
    use undertone_sim::scenario::Policy;

    use super::*;

    /// Nine tenths of the whole latency would be left by an attack that adds four fifths of what this one does.
    #[test]
    fn what_is_left_does_its_harm_beside_the_same_run_without_it() {
        let set = [
            "scenario.nodes=20",
            "topology.dials=4",
            "traffic.publisher_count=1",
            "traffic.messages=8",
        ];
        let scenario = load("attack-none", &set.map(str::to_owned)).unwrap();
        let scenario = scenario.scenario;
        let mut attack = Attack {
            policy: Policy::honest(),
            identities: 40,
        };
        (attack.policy.forward, attack.policy.answer) = (0.0, 0.0);
        attack.policy.dialled = 2.0;
        attack.fit();
        let excess = |attacked: &Scenario| {
            let mut without = attacked.clone();
            without.groups.clear();
            let without = Figures::of(&without, 1).unwrap();
            Figures::of(attacked, 1)
                .unwrap()
                .excess(&without, Aim::Latency)
        };
        let first = excess(&attack.on(&scenario));
        let wanted = (Aim::Latency, false, 1);
        let (attacked, _) = shrink(&scenario, attack, wanted, &mut |_, _| {}).unwrap();
        let left = excess(&attacked);
        assert!(left > 0.0 && left >= KEPT * first, "{left} of {first} ms");
    }
}
