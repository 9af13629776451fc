//! What an attack achieves.

use serde::{Deserialize, Serialize};
use undertone_lab::report::{RunCosts, Summary};
use undertone_sim::{Outcome, RunOptions, Scenario, SimError, run};

/// What an attack is to achieve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// As few deliveries within 6 s as possible.
    Delivery,
    /// As high a 99th percentile of latency as possible.
    Latency,
}

/// Figures of one attack.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Share of deliveries that were made within 6 s.
    pub on_time_ratio: f64,
    /// 99th percentile of latency, milliseconds; 0 without deliveries.
    pub p99_ms: f64,
    /// Lowest score of an adversary; 0 if none was connected.
    pub lowest_score: f64,
    /// Number of identities.
    pub identities: u32,
    /// Number of addresses.
    pub addresses: u32,
    /// Whether a rule of the simulator was violated.
    pub violated: bool,
}

/// Latency that counts as much as a lost delivery, milliseconds.
const LOST_MS: f64 = 10_000.0;

/// Share by which the 99th percentile must rise for an attack to count; seeds alone change that of `attack-none` by 3 %.
const LEAST_RISE: f64 = 0.05;

/// Cost of an attack whose adversaries fell below a score of 0, where that is forbidden; above that of any other.
const FORBIDDEN: f64 = 10.0;

impl Figures {
    /// Runs a scenario on one thread and returns its figures.
    ///
    /// # Errors
    /// Returns an error when the scenario cannot be run.
    pub fn of(scenario: &Scenario, seed: u64) -> Result<Self, SimError> {
        let outcome: Outcome = run(scenario, RunOptions::new(seed), &mut |_| {})?;
        let summary = Summary::new(scenario, &outcome, RunCosts::default(), "");
        let attack = summary.attack.as_ref();
        let latency = match attack {
            Some(attack) => attack.latency_ms.as_ref(),
            None => summary.latency_ms.as_ref(),
        };
        let without = summary.delivered as f64 / summary.expected.max(1) as f64;
        Ok(Self {
            on_time_ratio: attack.map_or(without, |attack| attack.on_time_ratio),
            p99_ms: latency.map_or(0.0, |latency| latency.p99),
            lowest_score: attack
                .and_then(|attack| attack.lowest_adversary_score)
                .unwrap_or(0.0),
            identities: attack.map_or(0, |attack| attack.identities),
            addresses: attack.map_or(0, |attack| attack.addresses),
            violated: !outcome.violations.is_empty(),
        })
    }

    /// What an attack does for its aim: the share of deliveries that are late or lost, or the 99th percentile of
    /// latency, milliseconds.
    pub fn harm(&self, aim: Aim) -> f64 {
        match aim {
            Aim::Delivery => 1.0 - self.on_time_ratio,
            Aim::Latency => self.p99_ms,
        }
    }

    /// Harm beyond that of the network without the attack.
    pub(crate) fn excess(&self, without: &Self, aim: Aim) -> f64 {
        self.harm(aim) - without.harm(aim)
    }

    /// Whether an attack does harm: more deliveries are late or lost than without it, or the 99th percentile is more
    /// than a twentieth above the one without it.
    pub fn does_harm(&self, without: &Self, aim: Aim) -> bool {
        let least = match aim {
            Aim::Delivery => 0.0,
            Aim::Latency => without.p99_ms * LEAST_RISE,
        };
        self.excess(without, aim) > least
    }

    /// Cost for a search: less is better for the attacker. Of two equal attacks, the smaller costs less.
    pub fn cost(&self, aim: Aim, keeps_score: bool) -> f64 {
        let size = f64::from(self.identities) * 1e-7;
        let harm = match aim {
            Aim::Delivery => self.on_time_ratio - self.p99_ms / LOST_MS * 1e-2,
            Aim::Latency => -self.p99_ms / LOST_MS,
        };
        match keeps_score && self.lowest_score < 0.0 {
            true => FORBIDDEN - self.lowest_score.max(-1e6) * 1e-6,
            false => harm + size,
        }
    }
}
