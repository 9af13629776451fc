//! Result of a run, collected from the nodes at its end.

mod attack;
mod checks;
mod meshes;
pub(crate) mod part;
mod services;

use sha2::{Digest, Sha256};
use undertone_gossip::Topic;

use crate::events::EventQueue;
use crate::node::Node;
use crate::outcome::{MeshDegree, Outcome, RecordOptions, trace_back};
use crate::ranks::{RankError, Ranks, results};
use crate::record;
use crate::run::result::part::{MeshSizes, Part};
use crate::shard::NodeShard;
use crate::threads::Ran;
use crate::world::World;

/// Collects the result of a run in one process.
pub(super) fn collect(world: &World, mut ran: Ran) -> Outcome {
    if ran.stopped_ns.is_none() {
        checks::check(world, &mut ran.shards, None)
            .expect("a process alone exchanges no messages, which alone may fail");
    }
    // Remaining events are no longer needed; freeing them lets a million nodes and their result fit into less memory.
    for shard in &mut ran.shards {
        shard.events = EventQueue::new();
    }
    let part = Part::new(world, &ran.shards);
    let attack = attack::collect(world, &mut ran.shards);
    if world.record == RecordOptions::NONE {
        drop_shards(ran.shards);
        let outcome = whole(world, vec![part], ran.stopped_ns);
        return Outcome { attack, ..outcome };
    }
    let mut outcome = whole(world, vec![part], ran.stopped_ns);
    outcome.attack = attack;
    let mut nodes: Vec<&Node> = ran.shards.iter().flat_map(|shard| &shard.nodes).collect();
    nodes.sort_by_key(|node| node.id);
    outcome.recorded = record::collect(world, &ran.shards, &nodes, &outcome.deliveries);
    outcome
}

/// Frees the nodes of all threads in parallel, as freeing a million takes seconds.
fn drop_shards(shards: Vec<NodeShard>) {
    std::thread::scope(|scope| {
        let mut shards = shards.into_iter();
        let first = shards.next();
        for shard in shards {
            scope.spawn(move || drop(shard));
        }
        drop(first);
    });
}

/// Collects the result of a run on several ranks: the whole result on rank 0, elsewhere that of the rank's own nodes.
pub(super) fn collect_on_ranks(
    world: &World,
    mut ran: Ran,
    ranks: &mut dyn Ranks,
) -> Result<Outcome, RankError> {
    if ran.stopped_ns.is_none() {
        checks::check(world, &mut ran.shards, Some(&mut *ranks))?;
    }
    let part = Part::new(world, &ran.shards);
    drop_shards(ran.shards);
    if ranks.rank() == 0 {
        let parts = results::gather(ranks, part)?;
        let outcome = whole(world, parts, ran.stopped_ns);
        results::spread(ranks, &outcome)?;
        return Ok(outcome);
    }
    results::give(ranks, &part)?;
    let mut outcome = whole(world, vec![part], ran.stopped_ns);
    results::take(ranks, &mut outcome)?;
    // Only rank 0 has all service nodes.
    outcome.services = None;
    Ok(outcome)
}

/// Merges the parts of all ranks. A single part is treated as the whole.
fn whole(world: &World, parts: Vec<Part>, stopped_ns: Option<u64>) -> Outcome {
    let mut violations: Vec<_> = parts.iter().flat_map(|p| p.violations.clone()).collect();
    violations.sort_by_key(|v| (v.at_ns, v.node));
    let mut trace = Sha256::new();
    for of_node in by_node(parts.iter().map(|part| part.traces.iter())) {
        trace.update(of_node.to_le_bytes());
    }
    let sizes = parts.iter().map(|part| part.meshes);
    let sizes = sizes.fold(MeshSizes::default(), MeshSizes::and);
    let firsts = parts.iter().flat_map(|part| part.firsts.iter().copied());
    let nodes = by_node(parts.iter().map(|part| part.counters.iter()));
    let connections = by_node(parts.iter().map(|part| part.connections.iter()));
    Outcome {
        seed: world.seed,
        virtual_ns: stopped_ns.unwrap_or(world.end_ns),
        events: parts.iter().map(|part| part.events).sum(),
        expected: world.expected(),
        messages: world.messages.clone(),
        recorded: None,
        deliveries: trace_back(&world.messages, world.adversaries().end, firsts.collect()),
        nodes: nodes.copied().collect(),
        mesh_degree: MeshDegree {
            min: if sizes.count == 0 { 0 } else { sizes.min },
            mean: sizes.sum as f64 / sizes.count.max(1) as f64,
            max: sizes.max,
        },
        connections: connections.copied().collect(),
        interrupted: stopped_ns.is_some(),
        trace_hash: stopped_ns.is_none().then(|| trace.finalize().into()),
        violations,
        attack: None,
        services: services::whole(world, parts),
    }
}

/// Iterates over the nodes of all ranks in the order of their numbers: the first of each rank, then the second of
/// each.
fn by_node<T>(parts: impl Iterator<Item = impl Iterator<Item = T>>) -> impl Iterator<Item = T> {
    let mut parts: Vec<_> = parts.collect();
    let count = parts.len().max(1);
    (0..).map_while(move |number: usize| parts.get_mut(number % count)?.next())
}

fn names(world: &World) -> Vec<Topic> {
    let topics = world.topics.iter();
    topics.map(|topic| Topic::new(&topic.to_string())).collect()
}

#[cfg(test)]
#[path = "tests/result.rs"]
mod tests;
