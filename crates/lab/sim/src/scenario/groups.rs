//! Groups of nodes that differ from the rest of the network.

use undertone_gossip::Config;

use super::relay::Cpu;
use super::{Policy, Scenario};

/// Nodes with parameters of their own. What a group does not set is as in the rest of the scenario.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Group {
    /// Name of the group, for reports.
    pub name: String,
    /// The nodes of the group.
    pub members: Members,
    /// Relay of the nodes.
    pub relay: Option<GroupRelay>,
    /// Rate of their uplinks, bytes per second.
    pub uplink_bytes_per_s: Option<u64>,
    /// Rate of their downlinks, bytes per second.
    pub downlink_bytes_per_s: Option<u64>,
    /// Delay in addition to that of the network, on every packet from and to the nodes, nanoseconds.
    pub added_delay_ns: u64,
    /// Probability of loss in addition to that of the network, on every packet from and to the nodes.
    pub added_loss: f64,
    /// Processing costs of the nodes.
    pub cpu: Option<Cpu>,
    /// Topics that the nodes subscribe to, from 0; they publish on these in turn.
    pub topics: Option<Vec<u32>>,
    /// Whether others can dial the nodes. A node behind a NAT only dials.
    pub accepts_connections: bool,
    /// Makes the group one of adversaries. They are in addition to the nodes of the network, which is the same with and
    /// without them.
    pub policy: Option<Box<Policy>>,
}

/// The nodes of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// A number of nodes. The groups with a number have the last nodes of the network, in the order of the scenario.
    Count(u32),
    /// These nodes, in ascending order.
    Listed(Vec<u32>),
}

/// Relay of a group.
#[derive(Clone, Debug)]
pub struct GroupRelay {
    /// Protocol id that the nodes prefer. Two nodes use the features that both have.
    pub protocol: String,
    /// Parameters of their router.
    pub gossip: Config,
}

impl Group {
    /// A group that differs in nothing.
    pub fn new(name: impl Into<String>, members: Members) -> Self {
        Self {
            name: name.into(),
            members,
            relay: None,
            uplink_bytes_per_s: None,
            downlink_bytes_per_s: None,
            added_delay_ns: 0,
            added_loss: 0.0,
            cpu: None,
            topics: None,
            accepts_connections: true,
            policy: None,
        }
    }
}

impl Scenario {
    /// Returns the index of a node's group, if it is in one.
    pub fn group_of(&self, node: u32) -> Option<usize> {
        let mut end = self.nodes;
        self.groups.iter().rposition(|group| match &group.members {
            _ if group.policy.is_some() => false,
            Members::Count(count) => {
                let of_group = end.saturating_sub(*count)..end;
                end = of_group.start;
                of_group.contains(&node)
            }
            Members::Listed(nodes) => nodes.binary_search(&node).is_ok(),
        })
    }

    /// Number of adversarial identities, in addition to the nodes.
    pub fn adversaries(&self) -> u32 {
        let counts = self
            .groups
            .iter()
            .map(|group| match (&group.policy, &group.members) {
                (Some(_), Members::Count(count)) => *count,
                _ => 0,
            });
        counts.sum()
    }

    /// Returns a node's group, if it is in one.
    pub(crate) fn group(&self, node: u32) -> Option<&Group> {
        self.group_of(node).map(|group| &self.groups[group])
    }

    /// Whether others can dial a node.
    pub(crate) fn accepts_connections(&self, node: u32) -> bool {
        self.group(node)
            .is_none_or(|group| group.accepts_connections)
    }

    /// Processing costs of a node.
    pub(crate) fn cpu_of(&self, node: u32) -> Cpu {
        let of_group = self.group(node).and_then(|group| group.cpu);
        of_group.unwrap_or(self.cpu)
    }

    /// Parameters of a node's router.
    pub(crate) fn gossip_of(&self, node: u32) -> &Config {
        let of_group = self.group(node).and_then(|group| group.relay.as_ref());
        of_group.map_or(&self.relay.gossip, |relay| &relay.gossip)
    }

    /// Whether a node subscribes to a topic.
    pub fn joins(&self, node: u32, topic: u32) -> bool {
        match self.group_topics(node) {
            Some(topics) => topics.contains(&topic),
            None => self.relay.joins(node, topic),
        }
    }

    /// Topics that a node subscribes to because of its group.
    pub(crate) fn group_topics(&self, node: u32) -> Option<&[u32]> {
        self.group(node)?.topics.as_deref()
    }

    /// Whether two nodes look for each other: they share a topic, or one of them only publishes.
    pub(crate) fn share_a_topic(&self, a: u32, b: u32) -> bool {
        match (self.group_topics(a), self.group_topics(b)) {
            (None, None) => self.relay.share_a_topic(a, b),
            (Some([]), _) | (_, Some([])) => true,
            (Some(topics), _) => topics.iter().any(|topic| self.joins(b, *topic)),
            (_, Some(topics)) => topics.iter().any(|topic| self.joins(a, *topic)),
        }
    }
}
