//! Result of a run's services and light clients.

use std::ops::Range;

/// Services and light clients of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ServicesOutcome {
    /// Relays that served.
    pub service_nodes: Range<u32>,
    /// Deliveries to light clients that a network without faults would make: every message to every client, other than
    /// its publisher, that had already subscribed to its content topic.
    pub expected: u64,
    /// Expected deliveries that were not made by the end of the run.
    pub missing: u64,
    /// Deliveries to light clients, other than the publisher, ordered by message, then receiver.
    pub deliveries: Vec<LightArrival>,
    /// Counters of each client.
    pub clients: Vec<ClientCounters>,
    /// Counters of each service node.
    pub served: Vec<ServiceCounters>,
    /// Readings of the whole history that were completed.
    pub readings: Vec<HistoryReading>,
}

/// Delivery of one message to one light client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LightArrival {
    /// Number of the message.
    pub message: u32,
    /// Number of the client among all nodes; clients come after the relays.
    pub receiver: u32,
    /// Time at which the message was delivered to the application, nanoseconds.
    pub received_ns: u64,
    /// Whether the message came from a store, because no filter peer had pushed it before.
    pub from_store: bool,
}

/// Counters of one light client. Arrays are for store, filter and lightpush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCounters {
    /// Whether the client is part of a flood.
    pub floods: bool,
    /// Bytes sent on the wire, including multiplexing, TCP and IP.
    pub wire_sent_bytes: u64,
    /// Bytes received from the wire.
    pub wire_received_bytes: u64,
    /// Requests that the client made, including those without a connection.
    pub requests: [u64; 3],
    /// Requests that were answered, other than refusals for lack of capacity.
    pub answered: [u64; 3],
    /// Requests that were refused: over the rate limit, or no capacity.
    pub refused: [u64; 3],
    /// Messages that were pushed to the client, copies included.
    pub pushes: u64,
    /// Streams that broke on the client's side.
    pub streams_broken: u64,
    /// Connections that were lost at random.
    pub connections_lost: u64,
    /// Sleeps of the client's machine.
    pub sleeps: u64,
    /// Misbehaviour of service nodes that the client noticed.
    pub offences: u64,
    /// Messages that the client accepted for sending.
    pub sends: u64,
    /// Messages confirmed by a store.
    pub sends_stored: u64,
    /// Messages that reached the network, without confirmation by a store.
    pub sends_propagated: u64,
    /// Messages that failed.
    pub sends_failed: u64,
    /// Messages that the client refused to send.
    pub sends_refused: u64,
    /// Connections that the client closed because the service node named another cluster.
    pub other_clusters: u64,
    /// Service nodes that the client learnt of by peer exchange and that accepted a connection.
    pub peers_found: u64,
    /// Own messages of the channel that another member has acknowledged.
    pub channel_acknowledged: u64,
    /// Messages of the channel that the client resent because nobody had acknowledged them.
    pub channel_resent: u64,
    /// Messages of others that the client sent again because a member had asked for them.
    pub channel_repaired: u64,
    /// Sync messages of the channel, which have no content and tell others what the client has.
    pub channel_syncs: u64,
    /// Messages of the channel that the client no longer waits for.
    pub channel_lost: u64,
    /// Messages of the channel delivered before all of their causal predecessors.
    pub channel_gaps: u64,
}

/// Counters of one service node. Arrays are for store, filter and lightpush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceCounters {
    /// Requests that arrived.
    pub requests: [u64; 3],
    /// Requests that a rate limit refused.
    pub refused: [u64; 3],
    /// Messages pushed to clients.
    pub pushes: u64,
    /// Messages in the archive at the end.
    pub archived: u64,
    /// Sessions that the node began with other stores.
    pub sync_sessions: u64,
    /// Messages that the node received first from another store.
    pub sync_received: u64,
    /// Bytes written to other stores: sessions and messages, with their frames.
    pub sync_sent_bytes: u64,
    /// Metadata requests of clients that were answered.
    pub metadata_answers: u64,
    /// Records of service nodes sent by peer exchange.
    pub peers_given: u64,
    /// Requests that arrived while the node belonged to another cluster.
    pub as_other_cluster: u64,
}

/// Reading of the whole history by a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryReading {
    /// Client that read.
    pub client: u32,
    /// Service node that answered.
    pub node: u32,
    /// Time of the first request, nanoseconds.
    pub started_ns: u64,
    /// Time at which the last page arrived, nanoseconds.
    pub ended_ns: u64,
    /// Pages of the reading.
    pub pages: u32,
    /// Messages of the reading.
    pub messages: u32,
}
