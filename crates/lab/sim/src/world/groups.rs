//! Groups of a run: the relays of their nodes; and the numbers, policies, addresses and start times of adversaries.

use std::net::IpAddr;
use std::ops::Range;

use undertone_gossip::Features;
use undertone_relay::SharedRelayConfig;

use crate::adversary::Identity;
use crate::scenario::{Group, Policy};
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
