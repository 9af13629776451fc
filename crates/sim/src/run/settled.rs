//! What a scenario and a seed decide, for drivers that are not the simulator.

use std::ops::Range;

use crate::outcome::Message;
use crate::run::{SimError, world};
use crate::scenario::{Fault, Scenario};
use crate::world::World;

/// Who is connected to whom, what lies between them, and who publishes what when: the same in every
/// run of a scenario with a seed, whatever carries it out.
#[derive(Debug)]
pub struct Plan {
    world: World,
}

/// One connection that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dial {
    /// Who dials.
    pub from: u32,
    /// Who is dialled.
    pub to: u32,
    /// When it begins: both have started, and those before it are there where the scenario has them made
    /// one by one. Nanoseconds.
    pub at_ns: u64,
}

impl Plan {
    /// Of a scenario and a seed.
    ///
    /// # Errors
    /// [`SimError`] when the scenario cannot be run.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self, SimError> {
        let world = world(scenario, seed)?;
        Ok(Self { world })
    }

    /// All connections, in the order in which they are begun.
    pub fn dials(&self) -> Vec<Dial> {
        let all = (0..).zip(&self.world.ends).flat_map(|(from, ends)| {
            let outbound = ends.iter().filter(|end| end.outbound);
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

    /// When a node starts, nanoseconds.
    pub fn starts_ns(&self, node: u32) -> u64 {
        self.world.starts_ns[node as usize]
    }

    /// When a node crashes or leaves, nanoseconds; none: it is there to the end.
    pub fn ends_ns(&self, node: u32) -> Option<u64> {
        self.world.ends_ns(node)
    }

    /// The nodes that a fault of the scenario happens to.
    pub fn afflicted(&self, fault: &Fault) -> Range<u32> {
        self.world.afflicted(fault)
    }

    /// When the run ends, nanoseconds.
    pub fn end_ns(&self) -> u64 {
        self.world.end_ns
    }

    /// Deliveries that the network would make without faults: every message at every node but its
    /// publisher. What crashes, leaves, or joins too late is not taken off.
    pub fn expected(&self) -> u64 {
        self.world.expected()
    }

    /// Messages in the order of their numbers.
    pub fn messages(&self) -> &[Message] {
        &self.world.messages
    }

    /// One-way delay from one node to another, nanoseconds.
    pub fn one_way_ns(&self, from: u32, to: u32) -> u64 {
        self.world.delay_ns(from, to)
    }

    /// Probability that a packet from one node to another is lost.
    pub fn loss(&self, from: u32, to: u32) -> f64 {
        self.world.loss(from, to)
    }

    /// Uplink and downlink of a node, bytes per second.
    pub fn rates(&self, node: u32) -> (u64, u64) {
        self.world.rates(node)
    }
}

#[cfg(test)]
mod tests;
