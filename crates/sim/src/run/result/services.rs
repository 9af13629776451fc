//! Result of services and light clients, and what is checked of them at the end of a run.

use std::collections::BTreeSet;

use crate::light::{FinishedReading, LightNode};
use crate::node::Node;
use crate::node::check::violated;
use crate::node::event::Step;
use crate::node::input::number_in;
use crate::outcome::{ClientCounters, HistoryReading, ServiceCounters, ServicesOutcome};
use crate::shard::NodeShard;
use crate::world::World;

pub(super) fn collect(
    world: &World,
    nodes: &[&Node],
    clients: &[&LightNode],
) -> Option<ServicesOutcome> {
    world.scenario.services.as_ref()?;
    let mut deliveries: Vec<_> = clients
        .iter()
        .flat_map(|client| client.deliveries.iter().copied())
        .collect();
    deliveries.sort_unstable_by_key(|delivery| (delivery.message, delivery.receiver));
    let readings = clients.iter().flat_map(|client| {
        client.readings.iter().map(|reading| HistoryReading {
            client: client.id,
            node: reading.node,
            started_ns: reading.started_ns,
            ended_ns: reading.ended_ns,
            pages: reading.pages,
            messages: u32::try_from(reading.messages.len()).unwrap_or(u32::MAX),
        })
    });
    Some(ServicesOutcome {
        service_nodes: world.service_nodes(),
        expected: clients
            .iter()
            .map(|client| expected(world, client).count() as u64)
            .sum(),
        missing: clients.iter().map(|client| missing(world, client)).sum(),
        deliveries,
        clients: clients.iter().map(|client| counters(client)).collect(),
        served: nodes.iter().filter_map(|node| served(node)).collect(),
        readings: readings.collect(),
    })
}

/// Messages that a client would be given by a network without faults.
fn expected<'a>(world: &'a World, client: &'a LightNode) -> impl Iterator<Item = u32> + 'a {
    let number = client.id - world.scenario.nodes;
    let since_ns = world.client_starts_ns[number as usize];
    let messages = world.messages.iter().filter(move |message| {
        message.publisher != client.id
            && message.published_ns >= since_ns
            && client.wants(world, message.index)
    });
    messages.map(|message| message.index)
}

fn missing(world: &World, client: &LightNode) -> u64 {
    let missing = expected(world, client).filter(|message| !client.delivered.contains(message));
    missing.count() as u64
}

fn counters(client: &LightNode) -> ClientCounters {
    let totals = client.host.totals();
    ClientCounters {
        wire_sent_bytes: totals.sent_bytes,
        wire_received_bytes: totals.received_bytes,
        ..client.counters
    }
}

fn served(node: &Node) -> Option<ServiceCounters> {
    let machine = &node.service.as_ref()?.machine;
    Some(ServiceCounters {
        archived: machine.archive.messages().count() as u64,
        ..machine.counters
    })
}

/// Checks bounds, unanswered requests, and that readings were complete.
pub(super) fn check(world: &World, shards: &mut [NodeShard]) {
    let mut incomplete = Vec::new();
    for shard in shards.iter() {
        for client in &shard.clients {
            let is_short = |reading: &&FinishedReading| !is_complete(shards, reading);
            let short = client.readings.iter().filter(is_short);
            incomplete.extend(short.map(|reading| (client.id, reading.ended_ns)));
        }
    }
    for shard in shards {
        for node in &shard.nodes {
            let machine = node.service.as_ref().map(|service| &service.machine);
            if machine.is_some_and(|machine| !machine.is_within_bounds()) {
                let rule = "every collection of a service is within its bound";
                violated(&mut shard.scratch, world.end_ns, node.id, rule);
            }
        }
        for client in &mut shard.clients {
            let step = &mut Step {
                world,
                scratch: &mut shard.scratch,
                now_ns: world.end_ns,
            };
            client.check_answered(step);
        }
        for (client, at_ns) in incomplete.drain(..) {
            let rule = "a reading of history has everything that the store had at its beginning";
            violated(&mut shard.scratch, at_ns, client, rule);
        }
    }
}

/// Whether a reading has every message that the store had when it began.
fn is_complete(shards: &[NodeShard], reading: &FinishedReading) -> bool {
    let (threads, node) = (shards.len(), reading.node as usize);
    let service = shards[node % threads].nodes[node / threads]
        .service
        .as_ref();
    let held: BTreeSet<u64> = service
        .into_iter()
        .flat_map(|service| service.machine.archive.messages())
        .filter(|kept| kept.since_ns < reading.started_ns)
        .map(|kept| number_in(&kept.stored.message.payload))
        .collect();
    held.is_subset(&reading.messages)
}
