//! The nodes of one thread and their scheduled events.

use crate::events::{EventKey, EventQueue, Scheduled};
use crate::node::Node;
use crate::node::event::{Event, Scratch, Step};
use crate::scenario::FaultKind;
use crate::world::World;

/// A shard: every `threads`-th node, beginning with `index`.
#[derive(Debug)]
pub(crate) struct NodeShard {
    index: usize,
    threads: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) events: EventQueue<Event>,
    pub(crate) scratch: Scratch,
    /// Events for the nodes of other threads.
    pub(crate) outbox: Vec<Vec<Scheduled<Event>>>,
    pub(crate) handled: u64,
}

impl NodeShard {
    pub(crate) fn new(world: &World, index: usize, threads: usize) -> Self {
        let ids = (0..world.scenario.nodes).skip(index).step_by(threads);
        let mut shard = Self {
            index,
            threads,
            nodes: ids.map(|id| Node::new(world, id)).collect(),
            events: EventQueue::new(),
            scratch: Scratch::new(),
            outbox: (0..threads).map(|_| Vec::new()).collect(),
            handled: 0,
        };
        shard.plan(world);
        shard
    }

    /// Schedules the events that do not depend on the nodes. Their scheduler is `u32::MAX`,
    /// which sorts after every node.
    fn plan(&mut self, world: &World) {
        let mut count = 0;
        let mut plan = |shard: &mut Self, at_ns, node: u32, event| {
            let key = EventKey::new(at_ns, u32::MAX, count);
            count += 1;
            if node as usize % shard.threads == shard.index {
                shard.events.push(Scheduled { key, node, event });
            }
        };
        for (node, at_ns) in (0..).zip(&world.starts_ns) {
            plan(self, *at_ns, node, Event::Start);
        }
        for message in &world.messages {
            let publish = Event::Publish(message.index);
            plan(self, message.published_ns, message.publisher, publish);
        }
        for (number, fault) in (0..).zip(&world.scenario.faults) {
            if matches!(fault.kind, FaultKind::Join | FaultKind::Partition { .. }) {
                continue;
            }
            for node in world.afflicted(fault) {
                plan(self, fault.at_ns, node, Event::Fault(number));
            }
        }
    }

    /// Index of the shard's thread.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Handles all events before `until_ns`.
    pub(crate) fn run(&mut self, world: &World, until_ns: u64) {
        while let Some(Scheduled { key, node, event }) = self.events.pop(until_ns) {
            self.handled += 1;
            let slot = node as usize / self.threads;
            let step = &mut Step {
                world,
                scratch: &mut self.scratch,
                now_ns: key.at_ns,
            };
            self.nodes[slot].handle(step, event);
            for scheduled in self.scratch.scheduled.drain(..) {
                let to = scheduled.node as usize % self.threads;
                if to == self.index {
                    self.events.push(scheduled);
                } else {
                    self.outbox[to].push(scheduled);
                }
            }
        }
    }
}
