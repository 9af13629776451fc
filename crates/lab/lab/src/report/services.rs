//! Figures of the services and light clients of one run.

use serde::Serialize;
use undertone_sim::outcome::{
    ClientCounters, Counters, LightArrival, Message, ServiceCounters, ServicesOutcome,
};
use undertone_sim::{Outcome, Scenario};

use super::{Latency, Sorted};

/// Figures of services and light clients. Statistics do not include the warm-up messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServicesSummary {
    /// Number of relays that serve.
    pub service_nodes: u32,
    /// Number of light clients, attackers included.
    pub light_clients: u32,
    /// Deliveries to light clients that a network without faults would make.
    pub expected: u64,
    /// Deliveries made to light clients, including messages published just before they subscribed.
    pub delivered: u64,
    /// Expected deliveries that are missing at the end.
    pub lost: u64,
    /// Latency to light clients, from publishing to delivery; `None` without deliveries.
    pub latency_ms: Option<Latency>,
    /// Latencies by kind of publisher and receiver.
    pub ways: MessageWays,
    /// Deliveries from stores, of messages that no filter peer had pushed.
    pub from_store: StoreRecovery,
    /// Bytes for each message.
    pub bytes_per_message: BytesPerMessage,
    /// Requests of honest clients.
    pub requests: RequestFigures,
    /// Requests of attackers; `None` without a flood.
    pub flood: Option<RequestFigures>,
    /// Messages that light clients sent.
    pub sends: SendFigures,
    /// Readings of the whole history; `None` without any.
    pub readings: Option<ReadingFigures>,
    /// Histories of the stores at the end, and messages they exchanged; `None` without stores.
    pub stores: Option<StoreFigures>,
    /// Service nodes that clients found or left, over all clients.
    pub peers: PeerFigures,
    /// Channel whose members the clients are; `None` without one.
    pub channel: Option<ChannelFigures>,
    /// Losses, sleeps and offences, over all clients.
    pub troubles: TroubleFigures,
    /// Latencies to light clients, for histograms and quantiles.
    #[serde(skip)]
    pub sorted_ms: Sorted,
}

/// Latencies by kind of publisher and receiver; `None` if no message took the path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MessageWays {
    /// From relay to relay.
    pub relay_to_relay_ms: Option<Latency>,
    /// From relay to light client, by filter.
    pub relay_to_light_ms: Option<Latency>,
    /// From light client to relay, by lightpush.
    pub light_to_relay_ms: Option<Latency>,
    /// From light client to light client, by lightpush and filter.
    pub light_to_light_ms: Option<Latency>,
}

/// Deliveries recovered from stores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StoreRecovery {
    /// Number of deliveries from a store.
    pub deliveries: u64,
    /// Latency of these deliveries, from publishing; `None` without any.
    pub latency_ms: Option<Latency>,
}

/// Bytes on the wire per message of the run, sent and received, including TCP/IP, from start to end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BytesPerMessage {
    /// Bytes of a relay that does not serve.
    pub relay: f64,
    /// Bytes of a service node, its relay included.
    pub service_node: f64,
    /// Bytes of a service node on the connections of clients.
    pub service_node_for_clients: f64,
    /// Bytes of an honest light client.
    pub light_client: f64,
}

/// Requests of clients: store, filter and lightpush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RequestFigures {
    /// Requests that clients made.
    pub made: [u64; 3],
    /// Requests that were answered, other than refusals for lack of capacity.
    pub answered: [u64; 3],
    /// Requests that were refused: over the rate limit, or no capacity.
    pub refused: [u64; 3],
}

/// Messages that light clients sent, by final state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SendFigures {
    /// Messages accepted for sending.
    pub taken: u64,
    /// Messages confirmed by a store.
    pub stored: u64,
    /// Messages that reached the network, without confirmation by a store.
    pub propagated: u64,
    /// Messages that failed.
    pub failed: u64,
    /// Messages without a final state at the end of the run.
    pub open: u64,
}

/// Readings of the whole history.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReadingFigures {
    /// Readings that were completed.
    pub readings: u64,
    /// Pages of all readings.
    pub pages: u64,
    /// Messages of all readings.
    pub messages: u64,
    /// Mean time per page, milliseconds.
    pub page_ms: f64,
}

/// Histories of the service nodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StoreFigures {
    /// Messages of the store that has the fewest at the end.
    pub fewest: u64,
    /// Messages of the store that has the most at the end.
    pub most: u64,
    /// Sessions in which two stores compared their histories.
    pub sessions: u64,
    /// Messages that one store received from another.
    pub received: u64,
    /// Bytes from store to store: sessions and messages with their frames, without TCP/IP.
    pub sent_bytes: u64,
}

/// Service nodes that clients found or left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PeerFigures {
    /// Service nodes that clients learnt of by peer exchange and that accepted a connection.
    pub found: u64,
    /// Connections that clients closed because the service node named another cluster.
    pub other_clusters: u64,
}

/// Channel of scalable data sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ChannelFigures {
    /// Messages whose sender knows that another member has them.
    pub acknowledged: u64,
    /// Messages sent again because nobody had acknowledged them.
    pub resent: u64,
    /// Messages that a member sent again because another member had missed them.
    pub repaired: u64,
    /// Sync messages, which have no content.
    pub syncs: u64,
    /// Messages that members no longer wait for.
    pub lost: u64,
    /// Messages delivered before all of their causal predecessors.
    pub with_gaps: u64,
}

/// Losses, sleeps and offences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TroubleFigures {
    /// Connections that were lost at random.
    pub connections_lost: u64,
    /// Streams that broke on the clients' side.
    pub streams_broken: u64,
    /// Sleeps of clients' machines.
    pub sleeps: u64,
    /// Offences of service nodes that clients noticed.
    pub offences_noticed: u64,
}

impl ServicesSummary {
    /// Figures of a run's services; `None` for a network of relays alone.
    pub fn new(scenario: &Scenario, outcome: &Outcome) -> Option<Self> {
        let light = outcome.services.as_ref()?;
        let latency = |which: &dyn Fn(&Message, &LightArrival) -> bool| {
            let arrivals = light.deliveries.iter().filter_map(|arrival| {
                let message = &outcome.messages[arrival.message as usize];
                let ns = arrival.received_ns.saturating_sub(message.published_ns);
                (!message.warm_up && which(message, arrival)).then_some(ns as f64 / 1e6)
            });
            Sorted::new(arrivals.collect())
        };
        let is_light = |message: &Message| message.publisher >= scenario.nodes;
        let sorted_ms = latency(&|_, _| true);
        let is_from_store = |_: &Message, arrival: &LightArrival| arrival.from_store;
        let from_store = light.deliveries.iter().filter(|a| a.from_store).count();
        let delivered = light.deliveries.len() as u64;
        let floods = light.clients.iter().any(|client| client.floods);
        Some(Self {
            service_nodes: light.service_nodes.len() as u32,
            light_clients: light.clients.len() as u32,
            expected: light.expected,
            delivered,
            lost: light.missing,
            latency_ms: Latency::of(&sorted_ms),
            ways: MessageWays {
                relay_to_relay_ms: to_relays(outcome, |message| !is_light(message)),
                relay_to_light_ms: Latency::of(&latency(&|message, _| !is_light(message))),
                light_to_relay_ms: to_relays(outcome, is_light),
                light_to_light_ms: Latency::of(&latency(&|message, _| is_light(message))),
            },
            from_store: StoreRecovery {
                deliveries: from_store as u64,
                latency_ms: Latency::of(&latency(&is_from_store)),
            },
            bytes_per_message: bytes_per_message(outcome, light),
            requests: requests(light, false),
            flood: floods.then(|| requests(light, true)),
            sends: sends(light),
            readings: readings(light),
            stores: stores(scenario, light),
            peers: peers(light),
            channel: channel(scenario, light),
            troubles: troubles(light),
            sorted_ms,
        })
    }
}

fn to_relays(outcome: &Outcome, which: impl Fn(&Message) -> bool) -> Option<Latency> {
    let latencies = outcome.deliveries.iter().filter_map(|delivery| {
        let message = &outcome.messages[delivery.message as usize];
        let ns = delivery.received_ns.saturating_sub(message.published_ns);
        (!message.warm_up && which(message)).then_some(ns as f64 / 1e6)
    });
    Latency::of(&Sorted::new(latencies.collect()))
}

fn bytes_per_message(outcome: &Outcome, light: &ServicesOutcome) -> BytesPerMessage {
    let messages = outcome.messages.len().max(1) as f64;
    let wire = |node: &Counters| node.wire_sent_bytes + node.wire_received_bytes;
    let mean = |sum: u64, count: usize| sum as f64 / count.max(1) as f64 / messages;
    let (relays, serving) = outcome.nodes.split_at(light.service_nodes.start as usize);
    let of_client = |client: &ClientCounters| client.wire_sent_bytes + client.wire_received_bytes;
    let honest: Vec<_> = light.clients.iter().filter(|c| !c.floods).collect();
    BytesPerMessage {
        relay: mean(relays.iter().map(wire).sum(), relays.len()),
        service_node: mean(serving.iter().map(wire).sum(), serving.len()),
        service_node_for_clients: mean(
            light.clients.iter().map(of_client).sum(),
            light.service_nodes.len(),
        ),
        light_client: mean(honest.iter().copied().map(of_client).sum(), honest.len()),
    }
}

fn requests(light: &ServicesOutcome, of_flood: bool) -> RequestFigures {
    let mut figures = RequestFigures::default();
    for client in light.clients.iter().filter(|c| c.floods == of_flood) {
        for service in 0..3 {
            figures.made[service] += client.requests[service];
            figures.answered[service] += client.answered[service];
            figures.refused[service] += client.refused[service];
        }
    }
    figures
}

fn sends(light: &ServicesOutcome) -> SendFigures {
    let sum = |field| of_clients(light, field);
    let (taken, stored) = (sum(|c| c.sends), sum(|c| c.sends_stored));
    let (propagated, failed) = (sum(|c| c.sends_propagated), sum(|c| c.sends_failed));
    SendFigures {
        taken,
        stored,
        propagated,
        failed,
        open: taken.saturating_sub(stored + propagated + failed),
    }
}

fn readings(light: &ServicesOutcome) -> Option<ReadingFigures> {
    let pages: u64 = light.readings.iter().map(|r| u64::from(r.pages)).sum();
    let took_ns: u64 = light
        .readings
        .iter()
        .map(|r| r.ended_ns - r.started_ns)
        .sum();
    (pages > 0).then(|| ReadingFigures {
        readings: light.readings.len() as u64,
        pages,
        messages: light.readings.iter().map(|r| u64::from(r.messages)).sum(),
        page_ms: took_ns as f64 / 1e6 / pages as f64,
    })
}

fn stores(scenario: &Scenario, light: &ServicesOutcome) -> Option<StoreFigures> {
    scenario.services.as_ref().filter(|setup| setup.store)?;
    let archived = || light.served.iter().map(|node| node.archived);
    let sum = |field: fn(&ServiceCounters) -> u64| light.served.iter().map(field).sum();
    Some(StoreFigures {
        fewest: archived().min()?,
        most: archived().max()?,
        sessions: sum(|node| node.sync_sessions),
        received: sum(|node| node.sync_received),
        sent_bytes: sum(|node| node.sync_sent_bytes),
    })
}

fn peers(light: &ServicesOutcome) -> PeerFigures {
    PeerFigures {
        found: of_clients(light, |client| client.peers_found),
        other_clusters: of_clients(light, |client| client.other_clusters),
    }
}

fn channel(scenario: &Scenario, light: &ServicesOutcome) -> Option<ChannelFigures> {
    scenario.services.as_ref().filter(|setup| setup.channel)?;
    Some(ChannelFigures {
        acknowledged: of_clients(light, |client| client.channel_acknowledged),
        resent: of_clients(light, |client| client.channel_resent),
        repaired: of_clients(light, |client| client.channel_repaired),
        syncs: of_clients(light, |client| client.channel_syncs),
        lost: of_clients(light, |client| client.channel_lost),
        with_gaps: of_clients(light, |client| client.channel_gaps),
    })
}

fn of_clients(light: &ServicesOutcome, field: fn(&ClientCounters) -> u64) -> u64 {
    light.clients.iter().map(field).sum()
}

fn troubles(light: &ServicesOutcome) -> TroubleFigures {
    let sum = |field| of_clients(light, field);
    TroubleFigures {
        connections_lost: sum(|c| c.connections_lost),
        streams_broken: sum(|c| c.streams_broken),
        sleeps: sum(|c| c.sleeps),
        offences_noticed: sum(|c| c.offences),
    }
}
