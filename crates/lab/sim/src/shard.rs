//! The nodes of one thread and their scheduled events.

use std::ops::Range;

use undertone_compact::prefetch;

use crate::adversary::{AdversaryNode, WATCH_EVERY_NS};
use crate::events::{EventKey, EventQueue, Scheduled};
use crate::layout::Layout;
use crate::light::LightNode;
use crate::node::Node;
use crate::node::event::{Event, Scratch, ServiceEvent, Step};
use crate::node::find::FindEvent;
use crate::scenario::FaultKind;
use crate::world::World;

/// Prefetching distances in events: the node of the event `NODE_AHEAD` from now is fetched into the cache, then, at
/// `RELAY_AHEAD`, the data that the node refers to. Anything from 2 and 1 to 16 and 8 performs as well
/// (docs/measurements/benchmarks.md).
const NODE_AHEAD: usize = 4;
const RELAY_AHEAD: usize = 2;

/// Bytes of a frame that are prefetched: its control entries, or the start of a message.
const FRAME_START_BYTES: usize = 512;

/// A shard: the nodes of one thread of this process.
#[derive(Debug)]
pub(crate) struct NodeShard {
    /// Number of the thread among those of this process.
    thread: usize,
    layout: Layout,
    pub(crate) nodes: Vec<Node>,
    /// Light clients, whose numbers follow those of the nodes.
    pub(crate) clients: Vec<LightNode>,
    /// Adversaries, whose numbers follow those of the light clients.
    pub(crate) adversaries: Vec<AdversaryNode>,
    pub(crate) events: EventQueue<Event>,
    pub(crate) scratch: Scratch,
    /// Events for nodes of other threads, indexed by the thread's number among those of all processes.
    pub(crate) outbox: Vec<Vec<Scheduled<Event>>>,
    pub(crate) handled: u64,
}

impl NodeShard {
    pub(crate) fn new(world: &World, layout: &Layout, thread: usize) -> Self {
        let relays = world.scenario.nodes;
        let all = layout.nodes(thread, world.adversaries().end);
        let (ids, others): (Vec<_>, Vec<_>) = all.partition(|id| *id < relays);
        let first = world.first_adversary();
        let (clients, adversaries): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|id| *id < first);
        let mut shard = Self {
            thread,
            layout: layout.clone(),
            nodes: ids.into_iter().map(|id| Node::new(world, id)).collect(),
            clients: clients
                .into_iter()
                .map(|id| LightNode::new(world, id))
                .collect(),
            adversaries: adversaries
                .into_iter()
                .map(|id| AdversaryNode::new(world, id))
                .collect(),
            events: EventQueue::new(),
            scratch: Scratch::new(world.record),
            outbox: (0..layout.total()).map(|_| Vec::new()).collect(),
            handled: 0,
        };
        shard.plan(world);
        shard
    }

    /// Schedules the events that do not depend on the nodes. Their scheduler is `u32::MAX`,
    /// which sorts after every node.
    fn plan(&mut self, world: &World) {
        let mut count = 0;
        let me = self.number();
        let mut plan = |shard: &mut Self, at_ns, node: u32, event| {
            let key = EventKey::new(at_ns, u32::MAX, count);
            count += 1;
            if shard.layout.thread_of(node) == me {
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
        for (number, noticed_ns) in world.noticed_cuts_ns() {
            for node in 0..world.scenario.nodes {
                let noticed = FindEvent::CutNoticed { partition: number };
                plan(self, noticed_ns, node, Event::Find(noticed));
            }
        }
        for (node, leaves_ns, back_ns) in world.absences() {
            plan(self, leaves_ns, node, Event::Find(FindEvent::Leave));
            plan(self, back_ns, node, Event::Start);
        }
        for (client, at_ns) in (world.scenario.nodes..).zip(&world.client_starts_ns) {
            plan(self, *at_ns, client, Event::Start);
        }
        for adversary in world.adversaries() {
            let at_ns = world.started_ns(adversary);
            plan(self, at_ns, adversary, Event::Start);
        }
        let watched = (0..world.scenario.nodes).filter(|_| !world.adversaries().is_empty());
        for node in watched {
            plan(self, WATCH_EVERY_NS, node, Event::Watch);
        }
        let services = world.scenario.services.as_ref();
        let troubles = services.map_or(&[][..], |services| &services.troubles);
        for (number, trouble) in (0..).zip(troubles) {
            let node = world.service_nodes().start + trouble.peer;
            let begins = Event::Service(ServiceEvent::TroubleBegins(number));
            plan(self, trouble.at_ns, node, begins);
            let ends_ns = trouble.at_ns.saturating_add(trouble.for_ns);
            let ends = Event::Service(ServiceEvent::TroubleEnds(number));
            plan(self, ends_ns, node, ends);
        }
    }

    /// Number of the shard's thread among those of this process.
    pub(crate) fn thread(&self) -> usize {
        self.thread
    }

    /// Number of the shard's thread among those of all processes.
    pub(crate) fn number(&self) -> usize {
        self.layout.first() + self.thread
    }

    /// Numbers of this process's threads among those of all processes.
    pub(crate) fn own_threads(&self) -> Range<usize> {
        self.layout.threads_of(self.layout.part.rank())
    }

    /// Whether a node belongs to this shard.
    pub(crate) fn holds(&self, node: u32) -> bool {
        let all = self.layout.thread_of(node) == self.number();
        all && self.layout.slot(node)
            < self.nodes.len() + self.clients.len() + self.adversaries.len()
    }

    /// Prefetches the memory of the next events' nodes. In a large network it is in no cache, and an event would wait
    /// for it line by line.
    fn prefetch_upcoming(&self) {
        if let Some((node, event)) = self.events.upcoming(NODE_AHEAD) {
            prefetch(event);
            if let Some(node) = self.nodes.get(self.layout.slot(node)) {
                prefetch(node);
            }
        }
        if let Some((node, event)) = self.events.upcoming(RELAY_AHEAD) {
            if let Some(Event::Frame { frame, .. }) = event {
                prefetch(&frame[..frame.len().min(FRAME_START_BYTES)]);
            }
            let node = self.nodes.get(self.layout.slot(node));
            if let (Some(node), Some(Event::Arrival(arrival))) = (node, event) {
                node.host.prefetch(arrival);
            }
            if let Some(relay) = node.and_then(|node| node.relay.as_ref()) {
                prefetch(&**relay);
            }
        }
    }

    /// Handles all events before `until_ns`.
    pub(crate) fn run(&mut self, world: &World, until_ns: u64) {
        let me = self.number();
        while let Some(Scheduled { key, node, event }) = self.events.pop(until_ns) {
            self.handled += 1;
            self.prefetch_upcoming();
            let slot = self.layout.slot(node);
            let step = &mut Step {
                world,
                scratch: &mut self.scratch,
                now_ns: key.at_ns,
            };
            match self.nodes.get_mut(slot) {
                Some(node) => node.handle(step, event),
                None => {
                    let slot = slot - self.nodes.len();
                    match self.clients.get_mut(slot) {
                        Some(client) => client.handle(step, event),
                        None => self.adversaries[slot - self.clients.len()].handle(step, event),
                    }
                }
            }
            for scheduled in self.scratch.scheduled.drain(..) {
                let to = self.layout.thread_of(scheduled.node);
                if to == me {
                    self.events.push(scheduled);
                } else {
                    self.outbox[to].push(scheduled);
                }
            }
        }
    }
}

/// Finds a node among the shards of its process; `None` for a light client.
pub(crate) fn node(shards: &[NodeShard], id: u32) -> Option<&Node> {
    let layout = &shards.first()?.layout;
    let thread = layout.thread_of(id).checked_sub(layout.first())?;
    shards.get(thread)?.nodes.get(layout.slot(id))
}
