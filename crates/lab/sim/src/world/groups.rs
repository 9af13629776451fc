//! Groups of a run: the relays of their nodes; and the numbers, policies, addresses and start times of adversaries.

use std::net::IpAddr;
use std::ops::Range;

use undertone_gossip::Features;
use undertone_relay::SharedRelayConfig;

use crate::adversary::{self, Identity};
use crate::scenario::{Group, Policy, Scenario};
use crate::seeds::SeededRng;
use crate::world::World;

impl World {
    /// Number of the first adversary; the others follow.
    pub(crate) fn first_adversary(&self) -> u32 {
        self.scenario.nodes + self.clients()
    }

    /// Numbers of all adversaries.
    pub(crate) fn adversaries(&self) -> Range<u32> {
        let first = self.first_adversary();
        first..first + self.adversaries.len() as u32
    }

    fn adversary(&self, node: u32) -> Option<&Identity> {
        let number = node.checked_sub(self.first_adversary())?;
        self.adversaries.get(number as usize)
    }

    /// Policy of an adversary.
    pub(crate) fn policy(&self, node: u32) -> &Policy {
        let group = self.group(node).and_then(|group| group.policy.as_deref());
        group.expect("an adversary's group has a policy")
    }

    /// Numbers of the adversaries of the same group, this one included.
    pub(crate) fn accomplices(&self, node: u32) -> impl Iterator<Item = u32> {
        let group = self.adversary(node).map(|own| own.group);
        let all = self.adversaries().zip(&self.adversaries);
        all.filter(move |(_, other)| Some(other.group) == group)
            .map(|(number, _)| number)
    }

    /// Address of a node, if it counts: that of an adversary.
    pub(crate) fn address(&self, node: u32) -> Option<IpAddr> {
        self.adversary(node).map(|own| own.address)
    }

    /// Time from one change of the membership to the next, nanoseconds; 0 for none.
    pub(super) fn root_spread_ns(scenario: &Scenario) -> u64 {
        let spreads = adversary::groups(scenario).map(|(_, _, policy, _)| policy.root_spread_ns);
        spreads.max().unwrap_or(0)
    }

    /// Number of the last change of the membership until a time; 0 before the first.
    pub(crate) fn newest_root(&self, now_ns: u64) -> u64 {
        now_ns.checked_div(self.root_spread_ns).unwrap_or(0)
    }

    /// Time at which a node learns of a change of the membership, nanoseconds; `None` if there is none in the run.
    pub(crate) fn root_learnt_ns(&self, node: u32, number: u64) -> Option<u64> {
        let spread_ns = self.root_spread_ns;
        let changed_ns = number.checked_mul(spread_ns).filter(|_| spread_ns > 0)?;
        let of_node = (u64::from(node) << 32) + number;
        let after_ns = SeededRng::new(self.seed, "root", of_node).below(spread_ns);
        Some(changed_ns.checked_add(after_ns)?).filter(|at_ns| *at_ns < self.end_ns)
    }

    /// Start time of a relay or an adversary, nanoseconds.
    pub(crate) fn started_ns(&self, node: u32) -> u64 {
        let adversary = || self.adversary(node).map_or(0, |own| own.starts_ns);
        let of_relay = self.starts_ns.get(node as usize);
        of_relay.copied().unwrap_or_else(adversary)
    }

    /// Group of a node or an adversary, if it is in one.
    pub(super) fn group(&self, node: u32) -> Option<&Group> {
        match self.adversary(node) {
            Some(own) => self.scenario.groups.get(own.group),
            None => self.scenario.group(node),
        }
    }

    /// Relay of a node.
    pub(crate) fn relay_of(&self, node: u32) -> &SharedRelayConfig {
        self.group_relay(node)
            .map_or(&self.relay, |(relay, _)| relay)
    }

    /// Features of a connection: those that the nodes at both ends have.
    pub(crate) fn features(&self, a: u32, b: u32) -> Features {
        let [a, b] = [a, b].map(|node| self.group_relay(node).map_or(self.features, |own| own.1));
        a.common(b)
    }

    fn group_relay(&self, node: u32) -> Option<&(SharedRelayConfig, Features)> {
        self.group_relays[self.scenario.group_of(node)?].as_ref()
    }
}
