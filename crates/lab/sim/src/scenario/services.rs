//! Scenario parameters of service nodes and their light clients.

pub use undertone_services::lightpush::PushVersion;
pub use undertone_services::rate_limit::{LimitedService, RateLimitError, RateLimits};

/// Service nodes and light clients of a network.
///
/// The service nodes are the last of the relays, so that faults reach them first. Light clients are numbered after the
/// relays. Losses, sleeps and troubles end with the last message; the time after it is calm.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServicesSetup {
    /// Number of relays that are service nodes, at least 1.
    pub service_nodes: u32,
    /// Number of light clients, those of a flood included.
    pub light_clients: u32,
    /// Service nodes that each client knows, at its start or later.
    pub peers_per_client: u32,
    /// Service nodes that each client knows at its start, and asks for others by peer exchange; `None` if it knows all
    /// `peers_per_client` from the start.
    pub known_peers: Option<u32>,
    /// Whether clients ask each service node for its metadata, and leave one of another cluster.
    pub metadata: bool,
    /// Service nodes with which a client keeps each subscription at once.
    pub filter_peers: u32,
    /// Whether clients subscribe.
    pub subscribes: bool,
    /// One message in this many is published by a light client, the clients taking turns; 0 for none.
    pub publish_one_in: u32,
    /// Version of lightpush that clients publish with.
    pub lightpush: PushVersion,
    /// Whether clients send and receive as members of one channel of scalable data sync.
    pub channel: bool,
    /// Number of content topics over which messages are spread.
    pub content_topics: u32,
    /// Content topics that each client subscribes to.
    pub topics_per_client: u32,
    /// Whether service nodes keep history.
    pub store: bool,
    /// Time that an archive takes for a query, nanoseconds. Queries are processed one after another.
    pub query_ns: u64,
    /// Time between two readings of the whole history by a client, nanoseconds; `None` if no client reads it.
    pub read_every_ns: Option<u64>,
    /// Messages on a page of such a reading, 1 to 100.
    pub page_size: u32,
    /// Time between two sessions in which a service node compares its history with another one's and both exchange
    /// missing messages, nanoseconds; `None` for never.
    pub sync_every_ns: Option<u64>,
    /// Limits on the requests of clients.
    pub rates: RateLimits,
    /// Uplink and downlink of each client, bytes per second; `None` for the network's rates.
    pub client_rates: Option<(u64, u64)>,
    /// Probability that a stream breaks, with its request, its answer or its pushed message.
    pub stream_loss: f64,
    /// Mean time after which a client's connection is lost, nanoseconds; `None` for never.
    pub connection_lost_every_ns: Option<u64>,
    /// Sleeps of the clients' machines.
    pub sleep: Option<ClientSleep>,
    /// Time after which a service node notices that a client sleeps and closes its connection, nanoseconds.
    pub noticed_after_ns: u64,
    /// Troubles of service nodes.
    pub troubles: Vec<ServiceTrouble>,
    /// Flood of requests.
    pub flood: Option<RequestFlood>,
}

impl ServicesSetup {
    /// Service nodes without troubles, with history and without rate limits except the filter's default, and light
    /// clients that subscribe to the only content topic and publish every second message.
    pub fn new(service_nodes: u32, light_clients: u32) -> Self {
        const S: u64 = 1_000_000_000;
        Self {
            service_nodes,
            light_clients,
            peers_per_client: service_nodes.min(4),
            known_peers: None,
            metadata: false,
            filter_peers: 2,
            subscribes: true,
            publish_one_in: 2,
            lightpush: PushVersion::V3,
            channel: false,
            content_topics: 1,
            topics_per_client: 1,
            store: true,
            query_ns: S / 500,
            read_every_ns: None,
            page_size: 20,
            sync_every_ns: None,
            rates: RateLimits::default(),
            client_rates: None,
            stream_loss: 0.0,
            connection_lost_every_ns: None,
            sleep: None,
            noticed_after_ns: 30 * S,
            troubles: Vec::new(),
            flood: None,
        }
    }

    /// Number of clients that are not part of a flood.
    pub fn honest_clients(&self) -> u32 {
        let flooding = self.flood.map_or(0, |flood| flood.clients);
        self.light_clients.saturating_sub(flooding)
    }
}

/// Sleeps of a client's machine. Its process is suspended, and the network holds the data sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientSleep {
    /// Mean time awake between two sleeps, nanoseconds.
    pub every_ns: u64,
    /// Length of a sleep, nanoseconds.
    pub for_ns: u64,
}

/// Temporary trouble of a service node. Its relay keeps running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceTrouble {
    /// Number of the service node, from 0.
    pub peer: u32,
    /// Start of the trouble, nanoseconds.
    pub at_ns: u64,
    /// Length of the trouble, nanoseconds.
    pub for_ns: u64,
    /// Kind of the trouble.
    pub kind: TroubleKind,
}

/// Kind of a trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TroubleKind {
    /// The services are down: connections are closed, none is accepted, no message is stored, and subscriptions are
    /// forgotten.
    Gone,
    /// Connections look alive, but no request is answered and no message is pushed or stored.
    Hangs,
    /// Requests are answered, but nothing is pushed.
    Mute,
    /// Requests are answered with lies: nothing is published, unrequested messages are pushed, and history pages name
    /// messages that do not exist or hold messages that were not requested.
    Lies,
    /// The process restarts in another cluster: connections are closed once, then accepted. Nothing is stored or
    /// pushed, and subscriptions, messages and queries are answered as by that network.
    OtherCluster,
}

/// Flood of requests by the last clients, each at one service node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestFlood {
    /// Clients that flood, counted from the last.
    pub clients: u32,
    /// Start of the flood, nanoseconds.
    pub at_ns: u64,
    /// Length of the flood, nanoseconds.
    pub for_ns: u64,
    /// Time between two requests of a client, nanoseconds.
    pub interval_ns: u64,
    /// Service that is flooded; `None` for all in turn.
    pub service: Option<FloodedService>,
}

/// Service that a flood targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FloodedService {
    /// Queries for the largest pages of history.
    Store,
    /// Subscriptions to a hundred content topics each.
    Filter,
    /// Messages to publish, without a proof.
    Lightpush,
}
