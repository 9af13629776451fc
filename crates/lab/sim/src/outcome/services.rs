//! Result of a run's services and light clients.

use std::ops::Range;

/// Services and light clients of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ServicesOutcome {
    /// Relays that served.
    pub service_nodes: Range<u32>,
    /// Deliveries to light clients that a network without faults would make: every message to every client that had
    /// subscribed to its content topic before, but its publisher.
    pub expected: u64,
    /// Expected deliveries that were not made by the end of the run.
    pub missing: u64,
    /// Deliveries to light clients of messages that they did not publish themselves, ordered by message, then receiver.
    pub deliveries: Vec<LightArrival>,
    /// Counters of each client.
    pub clients: Vec<ClientCounters>,
    /// Counters of each service node.
    pub served: Vec<ServiceCounters>,
    /// Readings of the whole history that came to its end.
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
    /// Whether a store had the message, which no filter peer had pushed before.
    pub from_store: bool,
}

/// Counters of one light client. Those with three numbers are for store, filter and lightpush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCounters {
    /// Whether the client is part of a flood.
    pub floods: bool,
    /// Bytes sent on the wire, including multiplexing, TCP and IP.
    pub wire_sent_bytes: u64,
    /// Bytes received from the wire.
    pub wire_received_bytes: u64,
    /// Requests that the client made, those without a connection included.
    pub requests: [u64; 3],
    /// Requests that were answered, and not for want of capacity.
    pub answered: [u64; 3],
    /// Requests that were refused: too many, or no capacity.
    pub refused: [u64; 3],
    /// Messages that were pushed to the client, copies included.
    pub pushes: u64,
    /// Streams that broke on the client's side.
    pub streams_broken: u64,
    /// Connections that were lost at random.
    pub connections_lost: u64,
    /// Sleeps of the client's machine.
    pub sleeps: u64,
    /// Offences of service nodes that the client has noticed.
    pub offences: u64,
    /// Messages that the client took to send.
    pub sends: u64,
    /// Messages of which a store says that it has them.
    pub sends_stored: u64,
    /// Messages that reached the network, which no store could tell.
    pub sends_propagated: u64,
    /// Messages that failed.
    pub sends_failed: u64,
    /// Messages that the client did not take to send.
    pub sends_refused: u64,
    /// Connections that the client closed because the service node named another cluster.
    pub other_clusters: u64,
    /// Service nodes that the client learnt of by peer exchange and that accepted a connection.
    pub peers_found: u64,
    /// Own messages of the channel that another member has acknowledged.
    pub channel_acknowledged: u64,
    /// Messages of the channel that the client sent again, as nobody had acknowledged them.
    pub channel_resent: u64,
    /// Messages of others that the client sent once more, as a member had asked for them.
    pub channel_repaired: u64,
    /// Messages of the channel without content, which tell what the client has.
    pub channel_syncs: u64,
    /// Messages of the channel that the client no longer waits for.
    pub channel_lost: u64,
    /// Messages of the channel that were delivered without all that they come after.
    pub channel_gaps: u64,
}

/// Counters of one service node. Those with three numbers are for store, filter and lightpush.
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
    /// Messages that the node had from another store first.
    pub sync_received: u64,
    /// Bytes written to other stores: sessions and messages, with their frames.
    pub sync_sent_bytes: u64,
    /// Questions of clients for metadata that were answered.
    pub metadata_answers: u64,
    /// Records of service nodes given by peer exchange.
    pub peers_given: u64,
    /// Requests that arrived while the node was one of another cluster.
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
    /// Time at which the last page was there, nanoseconds.
    pub ended_ns: u64,
    /// Pages of the reading.
    pub pages: u32,
    /// Messages of the reading.
    pub messages: u32,
}
