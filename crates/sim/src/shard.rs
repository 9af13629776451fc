//! The nodes of one thread and their scheduled events.

use std::collections::VecDeque;

use crate::events::{Event, Events, Key};
use crate::hashes::{SharedIds, SharedSignals};
use crate::node::{Bench, Node, What};
use crate::scenario::FaultKind;
use crate::world::World;

/// A shard: every `threads`-th node, beginning with `index`.
#[derive(Debug)]
pub(crate) struct Shard {
    index: usize,
    threads: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) events: Events<What>,
    pub(crate) bench: Bench,
    /// Events for the nodes of other threads.
    pub(crate) outbox: Vec<Vec<Event<What>>>,
    pub(crate) handled: u64,
}

impl Shard {
    pub(crate) fn new(world: &World, index: usize, threads: usize) -> Self {
        let ids = (0..world.scenario.nodes).skip(index).step_by(threads);
        let mut shard = Self {
            index,
            threads,
            nodes: ids.map(|id| Node::new(world, id)).collect(),
            events: Events::new(),
            bench: Bench {
                ids: SharedIds::new(),
                signals: SharedSignals::new(),
                relay_outputs: VecDeque::new(),
                received: VecDeque::new(),
                writable: Vec::new(),
                caused: Vec::new(),
                violations: Vec::new(),
                deliveries: 0,
            },
            outbox: (0..threads).map(|_| Vec::new()).collect(),
            handled: 0,
        };
        shard.plan(world);
        shard
    }

    /// Schedules the events that do not depend on the nodes. Their cause is `u32::MAX`, which
    /// sorts after every node.
    fn plan(&mut self, world: &World) {
        let mut count = 0;
        let mut plan = |shard: &mut Self, at_ns, node: u32, what| {
            let key = Key::new(at_ns, u32::MAX, count);
            count += 1;
            if node as usize % shard.threads == shard.index {
                shard.events.push(Event { key, node, what });
            }
        };
        for (node, at_ns) in (0..).zip(&world.starts_ns) {
            plan(self, *at_ns, node, What::Start);
        }
        for message in &world.messages {
            let what = What::Publish(message.index);
            plan(self, message.published_ns, message.publisher, what);
        }
        for (number, fault) in (0..).zip(&world.scenario.faults) {
            if matches!(fault.kind, FaultKind::Join | FaultKind::Partition { .. }) {
                continue;
            }
            for node in world.afflicted(fault) {
                plan(self, fault.at_ns, node, What::Fault(number));
            }
        }
    }

    /// Index of the shard's thread.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Handles all events before `until_ns`.
    pub(crate) fn run(&mut self, world: &World, until_ns: u64) {
        while let Some(Event { key, node, what }) = self.events.pop(until_ns) {
            self.handled += 1;
            let slot = node as usize / self.threads;
            self.nodes[slot].handle(world, &mut self.bench, key.at_ns, what);
            for event in self.bench.caused.drain(..) {
                let to = event.node as usize % self.threads;
                if to == self.index {
                    self.events.push(event);
                } else {
                    self.outbox[to].push(event);
                }
            }
        }
    }
}
