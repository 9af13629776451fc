//! What observers may know of a network: its connections, their delays, and the shortest times from node to node.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt;

use undertone_sim::scenario::Verification;
use undertone_sim::{Plan, Scenario, SimError};

use super::observe::Sighting;

/// Connections of a simulated network with their delays, and the distances computed so far.
pub struct KnownNetwork {
    plan: Plan,
    /// Neighbours of each node, each with the time that a message takes from it, nanoseconds.
    neighbours: Vec<Vec<(u32, u64)>>,
    /// Times to some nodes from every node.
    to: BTreeMap<u32, Vec<u64>>,
}

impl KnownNetwork {
    /// Computes the connections of a scenario with a seed.
    ///
    /// # Errors
    /// Returns an error when the scenario has no plan, as with discovery.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self, SimError> {
        let plan = Plan::new(scenario, seed)?;
        let validation_ns = match scenario.rln.as_ref().map(|rln| &rln.verification) {
            Some(Verification::Wait { ns }) => *ns,
            Some(Verification::Batches { single_ns, .. }) => *single_ns,
            None => 0,
        };
        let mut neighbours = vec![Vec::new(); scenario.nodes as usize];
        for dial in plan.dials() {
            for (node, other) in [(dial.from, dial.to), (dial.to, dial.from)] {
                // Adversaries have higher numbers. They observe; no shortest way leads through them.
                if node.max(other) < scenario.nodes {
                    let takes_ns = plan.delay_ns(other, node) + validation_ns;
                    neighbours[node as usize].push((other, takes_ns));
                }
            }
        }
        Ok(Self {
            plan,
            neighbours,
            to: BTreeMap::new(),
        })
    }

    /// Number of the network's own nodes.
    pub(super) fn nodes(&self) -> u32 {
        self.neighbours.len() as u32
    }

    pub(super) fn sighting(&self, from: u32, observer: u32, at_ns: u64) -> Sighting {
        Sighting {
            from,
            at_ns,
            sent_ns: at_ns.saturating_sub(self.plan.delay_ns(from, observer)),
        }
    }

    /// Times that a message takes from each node to one, nanoseconds; `u64::MAX` where there is no way.
    pub(super) fn times_to(&mut self, node: u32) -> &[u64] {
        self.to
            .entry(node)
            .or_insert_with(|| shortest(&self.neighbours, node))
    }
}

impl fmt::Debug for KnownNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownNetwork")
            .field("nodes", &self.neighbours.len())
            .finish_non_exhaustive()
    }
}

/// Dijkstra's algorithm, backwards from the destination.
fn shortest(neighbours: &[Vec<(u32, u64)>], to: u32) -> Vec<u64> {
    let mut times_ns = vec![u64::MAX; neighbours.len()];
    let mut open = BinaryHeap::new();
    if let Some(time_ns) = times_ns.get_mut(to as usize) {
        *time_ns = 0;
        open.push((Reverse(0), to));
    }
    while let Some((Reverse(time_ns), node)) = open.pop() {
        if time_ns > times_ns[node as usize] {
            continue;
        }
        for (other, takes_ns) in &neighbours[node as usize] {
            let through_ns = time_ns + takes_ns;
            if through_ns < times_ns[*other as usize] {
                times_ns[*other as usize] = through_ns;
                open.push((Reverse(through_ns), *other));
            }
        }
    }
    times_ns
}
