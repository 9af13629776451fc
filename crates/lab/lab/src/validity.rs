//! Validity of a result: lists the mechanisms of its run that were not validated against a real network or another
//! simulator.
//!
//! Each rule of [`RULES`] reads only the resolved scenario, so a result yields the same list wherever it is read.
//! docs/design/network-model.md says what was validated, and how large the deviations were.

mod facts;
mod rules;

#[cfg(test)]
#[path = "tests/validity.rs"]
mod tests;

use serde::{Deserialize, Serialize};
use undertone_sim::Scenario;

use facts::RunFacts;
pub use rules::RULES;

/// Rule that recognises runs in which an unvalidated mechanism matters.
#[derive(Clone, Copy, Debug)]
pub struct ValidityRule {
    /// Name of the rule.
    pub name: &'static str,
    /// The unvalidated mechanism, in words, without a full stop.
    pub says: &'static str,
    /// Whether the rule applies to a run.
    applies: fn(&RunFacts<'_>) -> bool,
}

/// Unvalidated mechanism of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OutsideChecked {
    /// Name of the rule that applies.
    pub rule: String,
    /// The mechanism in words.
    pub says: String,
}

/// Returns the unvalidated mechanisms of a simulation of `scenario`, in the order of [`RULES`].
pub fn validity(scenario: &Scenario) -> Vec<OutsideChecked> {
    let facts = RunFacts::of(scenario);
    let applying = RULES.iter().filter(|rule| (rule.applies)(&facts));
    let outside = applying.map(|rule| OutsideChecked {
        rule: rule.name.to_owned(),
        says: rule.says.to_owned(),
    });
    outside.collect()
}
