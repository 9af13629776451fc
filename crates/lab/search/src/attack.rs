//! An attack on a scenario that has none.

use undertone_sim::Scenario;
use undertone_sim::scenario::{Group, Members, Policy};

/// One group of adversaries.
#[derive(Clone, Debug, PartialEq)]
pub struct Attack {
    /// What the adversaries do.
    pub policy: Policy,
    /// Number of identities.
    pub identities: u32,
}

impl Attack {
    /// Brings the numbers that depend on the number of identities within their bounds.
    pub(crate) fn fit(&mut self) {
        self.identities = self.identities.max(1);
        let policy = &mut self.policy;
        policy.addresses = policy.addresses.clamp(1, self.identities);
        policy.dialled = policy.dialled.min(f64::from(self.identities - 1));
        if policy.publish_every_ns.is_none() {
            policy.signals = 1;
            (policy.signal_gap_ns, policy.clock_ahead_ns) = (0, 0);
            policy.root_spread_ns = 0;
        }
    }

    /// The scenario with the attack, as its last group.
    pub fn on(&self, scenario: &Scenario) -> Scenario {
        let mut group = Group::new("found", Members::Count(self.identities));
        group.policy = Some(Box::new(self.policy.clone()));
        let mut scenario = scenario.clone();
        scenario.groups.push(group);
        scenario
    }
}
