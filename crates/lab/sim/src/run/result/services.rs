//! Result of services and light clients, and the rules checked for them at the end of a run.

use std::ops::Range;

use crate::light::LightNode;
use crate::node::Node;
use crate::node::check::violated;
use crate::node::event::Step;
use crate::node::input::number_in;
use crate::outcome::{ClientCounters, HistoryReading, ServiceCounters, ServicesOutcome};
use crate::ranks::assertions::{Assertions, ReadingAssertion};
use crate::run::result::part::Part;
use crate::scenario::TroubleKind;
use crate::services::frames::StreamService;
use crate::shard::{self, NodeShard};
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

/// Messages that a client would get in a network without faults.
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
    let mut counters = machine.counters;
    for service in StreamService::ALL {
        let (at, protocol) = (service.counted(), service.protocol());
        let totals = protocol.and_then(|protocol| machine.host.totals().get(protocol.id()));
        if let (Some(at), Some(totals)) = (at, totals) {
            counters.requests[at] += totals.served + totals.rejected;
            counters.refused[at] += totals.rejected;
        }
    }
    let exchange = machine.host.machines().peer_exchange.as_ref();
    counters.peers_given = exchange.map_or(0, |exchange| exchange.stats().enrs);
    counters.archived = machine.archive.messages().count() as u64;
    Some(counters)
}

/// Merges the parts of all ranks.
pub(super) fn whole(world: &World, parts: Vec<Part>) -> Option<ServicesOutcome> {
    world.scenario.services.as_ref()?;
    let (nodes, ranks) = (world.scenario.nodes, parts.len());
    let mut parts: Vec<_> = parts.into_iter().filter_map(|part| part.services).collect();
    if ranks == 1 {
        return parts.pop();
    }
    let all = |range: Range<u32>| range.map(move |node| node as usize % ranks);
    let mut clients: Vec<_> = parts.iter().map(|part| part.clients.iter()).collect();
    let clients = all(nodes..nodes + world.clients()).filter_map(|rank| clients[rank].next());
    let clients = clients.copied().collect();
    let mut served: Vec<_> = parts.iter().map(|part| part.served.iter()).collect();
    let served = all(world.service_nodes()).filter_map(|rank| served[rank].next());
    let served = served.copied().collect();
    let deliveries = parts
        .iter()
        .flat_map(|part| part.deliveries.iter().copied());
    let mut deliveries: Vec<_> = deliveries.collect();
    deliveries.sort_unstable_by_key(|delivery| (delivery.message, delivery.receiver));
    let readings = parts.iter().flat_map(|part| part.readings.iter().copied());
    let mut readings: Vec<_> = readings.collect();
    readings.sort_by_key(|reading| reading.client);
    Some(ServicesOutcome {
        service_nodes: world.service_nodes(),
        expected: parts.iter().map(|part| part.expected).sum(),
        missing: parts.iter().map(|part| part.missing).sum(),
        deliveries,
        clients,
        served,
        readings,
    })
}

/// Checks bounds and unanswered requests.
pub(super) fn check(world: &World, shards: &mut [NodeShard]) {
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
    }
}

/// Checks that readings were complete. Those of stores on other ranks are added to `assertions`.
pub(super) fn check_readings(
    world: &World,
    shards: &mut [NodeShard],
    assertions: &mut [Assertions],
) {
    let mut own = Vec::new();
    for shard in shards.iter() {
        for client in &shard.clients {
            for reading in &client.readings {
                let assertion = ReadingAssertion {
                    client: client.id,
                    node: reading.node,
                    started_ns: reading.started_ns,
                    ended_ns: reading.ended_ns,
                    messages: reading.messages.iter().copied().collect(),
                };
                match world.part.holds(reading.node) {
                    true => own.push(assertion),
                    false => assertions[world.part.rank_of(reading.node)]
                        .readings
                        .push(assertion),
                }
            }
        }
    }
    judge(world, shards, &own);
}

/// Judges assertions about readings from stores of this process.
pub(super) fn judge(world: &World, shards: &mut [NodeShard], assertions: &[ReadingAssertion]) {
    for assertion in assertions {
        if is_of_honest_store(world, assertion) && !is_complete(shards, assertion) {
            let rule = "a reading of history has everything that the store had at its beginning";
            violated(
                &mut shards[0].scratch,
                assertion.ended_ns,
                assertion.client,
                rule,
            );
        }
    }
}

/// Whether the store answered from its own history all the time.
fn is_of_honest_store(world: &World, reading: &ReadingAssertion) -> bool {
    let setup = world.scenario.services.as_ref();
    let mut troubles = setup.into_iter().flat_map(|setup| &setup.troubles);
    let first = world.service_nodes().start;
    !troubles.any(|trouble| {
        let until_ns = trouble.at_ns.saturating_add(trouble.for_ns);
        matches!(trouble.kind, TroubleKind::Lies | TroubleKind::OtherCluster)
            && first + trouble.peer == reading.node
            && trouble.at_ns <= reading.ended_ns
            && reading.started_ns <= until_ns
    })
}

/// Whether a reading has every message that the store had when it began.
fn is_complete(shards: &[NodeShard], reading: &ReadingAssertion) -> bool {
    let service = shard::node(shards, reading.node).and_then(|node| node.service.as_ref());
    let mut held = service
        .into_iter()
        .flat_map(|service| service.machine.archive.messages())
        .filter(|kept| kept.since_ns < reading.started_ns)
        .map(|kept| number_in(&kept.stored.message.payload));
    held.all(|number| reading.messages.binary_search(&number).is_ok())
}
