//! One process's part of the result of a run.

use undertone_link::ConnIx;

use crate::node::Node;
use crate::outcome::{Counters, FirstCopy, ServicesOutcome, Violation};
use crate::run::result::{names, services};
use crate::shard::NodeShard;
use crate::world::World;

/// Result of the nodes of one process, in the order of their numbers.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) events: u64,
    pub(crate) violations: Vec<Violation>,
    /// Traces of nodes, then those of light clients.
    pub(crate) traces: Vec<u64>,
    pub(crate) firsts: Vec<FirstCopy>,
    pub(crate) counters: Vec<Counters>,
    pub(crate) connections: Vec<u32>,
    pub(crate) meshes: MeshSizes,
    pub(crate) services: Option<ServicesOutcome>,
}

/// Sizes of all meshes of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeshSizes {
    pub(crate) count: u64,
    pub(crate) sum: u64,
    pub(crate) min: u32,
    pub(crate) max: u32,
}

impl Default for MeshSizes {
    fn default() -> Self {
        Self {
            count: 0,
            sum: 0,
            min: u32::MAX,
            max: 0,
        }
    }
}

impl MeshSizes {
    fn add(&mut self, size: u32) {
        self.count += 1;
        self.sum += u64::from(size);
        self.min = self.min.min(size);
        self.max = self.max.max(size);
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

impl Part {
    /// Collects the result of this process.
    pub(crate) fn new(world: &World, shards: &[NodeShard]) -> Self {
        let mut nodes: Vec<_> = shards.iter().flat_map(|shard| &shard.nodes).collect();
        nodes.sort_by_key(|node| node.id);
        let mut clients: Vec<_> = shards.iter().flat_map(|shard| &shard.clients).collect();
        clients.sort_by_key(|client| client.id);
        let mut adversaries: Vec<_> = shards.iter().flat_map(|shard| &shard.adversaries).collect();
        adversaries.sort_by_key(|adversary| adversary.id);
        let violations = shards.iter().flat_map(|s| s.scratch.violations.clone());
        let of_nodes = nodes.iter().map(|node| node.trace);
        let of_clients = clients.iter().map(|client| client.trace);
        let of_adversaries = adversaries.iter().map(|adversary| adversary.trace);
        Self {
            events: shards.iter().map(|shard| shard.handled).sum(),
            violations: violations.collect(),
            traces: of_nodes.chain(of_clients).chain(of_adversaries).collect(),
            firsts: nodes.iter().flat_map(|node| firsts(node)).collect(),
            counters: nodes.iter().map(|node| counters(node)).collect(),
            connections: nodes.iter().map(|node| connections(world, node)).collect(),
            meshes: meshes(world, &nodes),
            services: services::collect(world, &nodes, &clients),
        }
    }
}

fn counters(node: &Node) -> Counters {
    let totals = node.host.totals();
    let mut counters = node.counters;
    counters.wire_sent_bytes = totals.sent_bytes;
    counters.wire_received_bytes = totals.received_bytes;
    counters.packets_dropped = totals.lost_packets;
    if let Some(relay) = &node.relay {
        let stats = relay.router().stats();
        counters.duplicates = stats.duplicates_received;
        counters.first_copies = stats.messages_received;
    }
    counters
}

fn connections(world: &World, node: &Node) -> u32 {
    let conns = (0..world.ends(node.id).len() as u32).map(ConnIx);
    conns.filter(|conn| node.host.is_open(*conn)).count() as u32
}

fn firsts(node: &Node) -> impl Iterator<Item = FirstCopy> {
    node.deliveries.iter().map(|delivered| FirstCopy {
        message: delivered.message,
        receiver: node.id,
        from: delivered.parent,
        received_ns: delivered.at_ns,
    })
}

fn meshes(world: &World, nodes: &[&Node]) -> MeshSizes {
    let names = names(world);
    let mut sizes = MeshSizes::default();
    for relay in nodes.iter().filter_map(|node| node.relay.as_deref()) {
        for name in &names {
            sizes.add(relay.router().mesh(name).len() as u32);
        }
    }
    sizes
}
