//! What a scenario and a seed decide, for drivers that are not the simulator.

use crate::outcome::Message;
use crate::run::{SimError, world};
use crate::scenario::Scenario;
use crate::world::World;

/// Who is connected to whom, what lies between them, and who publishes what when: the same in every
/// run of a scenario with a seed, whatever carries it out.
#[derive(Debug)]
pub struct Plan {
    world: World,
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

    /// The nodes that a node dials, in order.
    pub fn dialled_by(&self, node: u32) -> Vec<u32> {
        let ends = self.world.ends[node as usize].iter();
        ends.filter(|end| end.outbound)
            .map(|end| end.remote)
            .collect()
    }

    /// Connections of a node.
    pub fn degree(&self, node: u32) -> usize {
        self.world.ends[node as usize].len()
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
