//! Fixed parts of a run, for drivers other than the simulator.

use std::ops::Range;

use crate::error::SimError;
use crate::layout::RankPart;
use crate::outcome::Message;
use crate::run::plan::world;
use crate::scenario::{Fault, Scenario};
use crate::world::World;

/// The fixed parts of a run: connections, paths between nodes, and messages with their publishers and
/// times. They are the same in every run of a scenario with a seed, whichever driver runs it.
#[derive(Debug)]
pub struct Plan {
    world: World,
}

/// One connection to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dial {
    /// Index of the node that dials.
    pub from: u32,
    /// Index of the node that is dialled.
    pub to: u32,
    /// Time at which dialling begins, nanoseconds. By then both nodes have started. If connections are
    /// made one by one, the dialler's earlier ones are established.
    pub at_ns: u64,
}

impl Plan {
    /// Computes the plan of a scenario with a seed.
    ///
    /// # Errors
    /// Returns [`SimError`] when the scenario cannot be run.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self, SimError> {
        if scenario.topology.discovery().is_some() {
            return Err(SimError::Invalid {
                what: "topology.kind",
                value: "discovery".to_owned(),
                rule: "only simulated nodes find each other",
            });
        }
        let world = world(scenario, seed, RankPart::WHOLE)?;
        Ok(Self { world })
    }

    /// All connections, in the order in which dialling begins.
    pub fn dials(&self) -> Vec<Dial> {
        let all = (0..self.world.scenario.nodes).flat_map(|from| {
            let outbound = self.world.ends(from).iter().filter(|end| end.outbound);
            outbound.map(move |end| Dial {
                from,
                to: end.remote,
                at_ns: self.world.dialled_ns(from, end),
            })
        });
        let mut dials: Vec<_> = all.collect();
        dials.sort_by_key(|dial| dial.at_ns);
        dials
    }

    /// One-way delay from one node to another, nanoseconds.
    pub fn delay_ns(&self, from: u32, to: u32) -> u64 {
        self.world.delay_ns(from, to)
    }

    /// Start time of a node, nanoseconds.
    pub fn starts_ns(&self, node: u32) -> u64 {
        self.world.starts_ns[node as usize]
    }

    /// Time at which a node crashes or leaves, nanoseconds; `None` if it runs to the end.
    pub fn ends_ns(&self, node: u32) -> Option<u64> {
        self.world.ends_ns(node)
    }

    /// Nodes that are affected by a fault of the scenario.
    pub fn afflicted(&self, fault: &Fault) -> Range<u32> {
        self.world.afflicted(fault)
    }

    /// End time of the run, nanoseconds.
    pub fn end_ns(&self) -> u64 {
        self.world.end_ns
    }

    /// Deliveries that the network would make without faults: every message at every node but its
    /// publisher. Nodes that crash, leave, or join too late are counted too.
    pub fn expected(&self) -> u64 {
        self.world.expected()
    }

    /// Messages in the order of their numbers.
    pub fn messages(&self) -> &[Message] {
        &self.world.messages
    }

    /// Name of the topic that a message is published to.
    pub fn topic(&self, message: u32) -> String {
        self.world.shards[self.world.topic_of(message)].to_string()
    }

    /// One-way delay from one node to another, nanoseconds.
    pub fn one_way_ns(&self, from: u32, to: u32) -> u64 {
        self.world.delay_ns(from, to)
    }

    /// Probability that a packet from one node to another is lost.
    pub fn loss(&self, from: u32, to: u32) -> f64 {
        self.world.loss(from, to)
    }

    /// Rates of the uplink and the downlink of a node, bytes per second.
    pub fn rates(&self, node: u32) -> (u64, u64) {
        self.world.rates(node)
    }
}

#[cfg(test)]
#[path = "tests/settled.rs"]
mod tests;
