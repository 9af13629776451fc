//! Result of a run, collected from the nodes at its end.

mod services;

use sha2::{Digest, Sha256};
use undertone_gossip::{Config, PeerIx, Topic, Usage};
use undertone_link::ConnIx;

use crate::node::Node;
use crate::node::check::violated;
use crate::node::event::Event;
use crate::outcome::{Counters, Delivery, FirstCopy, MeshDegree, Outcome, trace_back};
use crate::record;
use crate::shard::NodeShard;
use crate::world::World;

/// Collects the result; `stopped_ns` is the time at which the run was stopped, if it was.
pub(super) fn collect(
    world: &World,
    mut shards: Vec<NodeShard>,
    stopped_ns: Option<u64>,
) -> Outcome {
    if stopped_ns.is_none() {
        check_bytes(world, &mut shards);
        check_bounds(world, &mut shards);
        check_meshes(world, &mut shards);
        services::check(world, &mut shards);
    }
    let events = shards.iter().map(|shard| shard.handled).sum();
    let violations = shards.iter().flat_map(|s| s.scratch.violations.clone());
    let mut violations: Vec<_> = violations.collect();
    violations.sort_by_key(|v| (v.at_ns, v.node));
    let mut nodes: Vec<_> = shards.iter().flat_map(|shard| &shard.nodes).collect();
    nodes.sort_by_key(|node| node.id);
    let mut trace = Sha256::new();
    for node in &nodes {
        trace.update(node.trace.to_le_bytes());
    }
    let mut clients: Vec<_> = shards.iter().flat_map(|shard| &shard.clients).collect();
    clients.sort_by_key(|client| client.id);
    for client in &clients {
        trace.update(client.trace.to_le_bytes());
    }
    let deliveries = deliveries(world, &nodes);
    Outcome {
        seed: world.seed,
        virtual_ns: stopped_ns.unwrap_or(world.end_ns),
        events,
        expected: world.expected(),
        messages: world.messages.clone(),
        recorded: record::collect(world, &shards, &nodes, &deliveries),
        deliveries,
        nodes: nodes.iter().map(|node| counters(node)).collect(),
        mesh_degree: mesh_degree(world, &nodes),
        connections: nodes.iter().map(|node| connections(world, node)).collect(),
        interrupted: stopped_ns.is_some(),
        trace_hash: stopped_ns.is_none().then(|| trace.finalize().into()),
        violations,
        services: services::collect(world, &nodes, &clients),
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
    let conns = (0..world.ends[node.id as usize].len() as u32).map(ConnIx);
    conns.filter(|conn| node.host.is_open(*conn)).count() as u32
}

fn deliveries(world: &World, nodes: &[&Node]) -> Vec<Delivery> {
    let firsts = nodes.iter().flat_map(|node| {
        node.deliveries.iter().map(|delivered| FirstCopy {
            message: delivered.message,
            receiver: node.id,
            from: delivered.parent,
            received_ns: delivered.at_ns,
        })
    });
    trace_back(&world.messages, world.scenario.nodes, firsts.collect())
}

fn names(world: &World) -> Vec<Topic> {
    let topics = world.topics.iter();
    topics.map(|topic| Topic::new(&topic.to_string())).collect()
}

fn mesh_degree(world: &World, nodes: &[&Node]) -> MeshDegree {
    let names = names(world);
    let relays = nodes.iter().filter_map(|node| node.relay.as_deref());
    let sizes: Vec<u32> = relays
        .flat_map(|relay| {
            names
                .iter()
                .map(|name| relay.router().mesh(name).len() as u32)
        })
        .collect();
    let sum: u64 = sizes.iter().map(|size| u64::from(*size)).sum();
    MeshDegree {
        min: sizes.iter().copied().min().unwrap_or(0),
        mean: sum as f64 / sizes.len().max(1) as f64,
        max: sizes.iter().copied().max().unwrap_or(0),
    }
}

/// Checks that packets sent are received, dropped, or in flight.
fn check_bytes(world: &World, shards: &mut [NodeShard]) {
    let (mut sent, mut accounted) = (0, 0);
    for shard in shards.iter() {
        for node in &shard.nodes {
            let totals = node.host.totals();
            sent += totals.sent_packets;
            accounted += totals.received_packets + totals.lost_packets + totals.orphaned_packets;
            accounted += node.host.arriving_packets();
        }
        for client in &shard.clients {
            let totals = client.host.totals();
            sent += totals.sent_packets;
            accounted += totals.received_packets + totals.lost_packets + totals.orphaned_packets;
            accounted += client.host.arriving_packets();
        }
        let waiting = shard.events.waiting().map(|event| match event {
            Event::Arrival(arrival) => arrival.packets(),
            _ => 0,
        });
        accounted += waiting.sum::<u64>();
    }
    if sent != accounted {
        let rule = "packets sent are received, dropped or in flight";
        violated(&mut shards[0].scratch, world.end_ns, 0, rule);
    }
}

/// Checks that every collection that a remote can fill is within its bound.
fn check_bounds(world: &World, shards: &mut [NodeShard]) {
    for shard in shards {
        for node in &shard.nodes {
            let Some(relay) = &node.relay else { continue };
            if !is_within(&relay.router().usage(), relay.router().config()) {
                let rule = "every collection is within its bound";
                violated(&mut shard.scratch, world.end_ns, node.id, rule);
            }
        }
    }
}

fn is_within(usage: &Usage, config: &Config) -> bool {
    let limits = &config.limits;
    let lifetime = usize::try_from(config.idontwant_ttl_heartbeats).unwrap_or(usize::MAX);
    let idontwant = limits.idontwant_ids_per_heartbeat_max;
    usage.topics <= limits.topics_max
        && usage.seen <= limits.seen_max
        && usage.pending <= limits.pending_max
        && usage.pending_bytes <= limits.pending_bytes_max
        // One message is kept even if it is larger than the limit of the cache.
        && usage.cache_bytes <= limits.cache_bytes_max.max(limits.frame_bytes_max)
        && usage.iwant_requests <= limits.promises_max
        && usage.iwant_waiting <= limits.promises_max
        && usage.delayed_messages <= limits.delayed_messages_max
        && usage.backoffs <= limits.backoffs_max
        && usage.departed <= limits.retained_peers_max
        && usage.subscriptions_of_a_peer <= limits.subscriptions_per_peer_max
        && usage.idontwant_of_a_peer <= idontwant.saturating_mul(lifetime)
        && usage.cancellable_of_a_peer <= limits.cancellable_per_peer_max
}

/// Checks that meshes are mutual, except for changes in transit.
fn check_meshes(world: &World, shards: &mut [NodeShard]) {
    let count = shards.len();
    let names = names(world);
    let mut wrong = Vec::new();
    for shard in shards.iter() {
        for node in &shard.nodes {
            let Some(relay) = &node.relay else { continue };
            for (name, peer) in names
                .iter()
                .flat_map(|name| relay.router().mesh(name).iter().map(move |p| (name, *p)))
            {
                let end = world.ends[node.id as usize][peer.0 as usize];
                let other = &shards[end.remote as usize % count].nodes[end.remote as usize / count];
                let Some(theirs) = &other.relay else { continue };
                let round_trip =
                    world.delay_ns(node.id, end.remote) + world.delay_ns(end.remote, node.id);
                // A change, its answer, and the time that both wait for a busy link.
                let settled_ns = world.end_ns.saturating_sub(2 * round_trip + 1_000_000_000);
                let changed_ns = node
                    .checks
                    .mesh_changed_ns
                    .max(other.checks.mesh_changed_ns);
                let mutual = theirs
                    .router()
                    .mesh(name)
                    .contains(&PeerIx(end.remote_conn.0));
                // A node ignores a peer below the graylist threshold, even its PRUNE; a peer with a
                // negative score may have been below the threshold a while ago.
                let listens = relay.router().score(peer) >= 0.0
                    && theirs.router().score(PeerIx(end.remote_conn.0)) >= 0.0;
                if !mutual && listens && changed_ns < settled_ns {
                    wrong.push(node.id);
                }
            }
        }
    }
    for node in wrong {
        let rule = "a mesh is mutual within a round trip";
        violated(&mut shards[0].scratch, world.end_ns, node, rule);
    }
}

#[cfg(test)]
mod tests;
