//! Validity of a result: the mechanisms of its run that were not checked against a real network or another simulator.
//!
//! Each rule of [`RULES`] reads the resolved scenario and nothing else, so that a result says the same wherever it is read.
//! docs/network-model.md has what was checked, and how far it was off.

mod facts;
mod rules;

#[cfg(test)]
#[path = "tests/validity.rs"]
mod tests;

use serde::{Deserialize, Serialize};
use undertone_sim::Scenario;

use facts::RunFacts;
pub use rules::RULES;

/// Rule that recognises runs in which a mechanism matters that was not checked.
#[derive(Clone, Copy, Debug)]
pub struct ValidityRule {
    /// Name of the rule.
    pub name: &'static str,
    /// Mechanism that was not checked, as a sentence's beginning without a full stop.
    pub says: &'static str,
    /// Whether the rule applies to a run.
    applies: fn(&RunFacts<'_>) -> bool,
}

/// Mechanism of a run that was outside what was checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OutsideChecked {
    /// Name of the rule that applies.
    pub rule: String,
    /// Mechanism that was not checked.
    pub says: String,
}

/// The mechanisms of a simulation of `scenario` that were outside what was checked, in the order of [`RULES`].
pub fn validity(scenario: &Scenario) -> Vec<OutsideChecked> {
    let facts = RunFacts::of(scenario);
    let applying = RULES.iter().filter(|rule| (rule.applies)(&facts));
    let outside = applying.map(|rule| OutsideChecked {
        rule: rule.name.to_owned(),
        says: rule.says.to_owned(),
    });
    outside.collect()
}
