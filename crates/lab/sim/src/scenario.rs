//! Input of a simulation: plain data, in nanoseconds, bytes and bytes per second.
//!
//! The laboratory knows the origin of these numbers and their file format. A run is identified by this value, the seed
//! and the commit.

mod discovery;
mod groups;
mod network;
mod policy;
mod relay;
mod services;
mod traffic;

pub use undertone_link::{HANDSHAKES, HandshakeProfile};

pub use discovery::{Churn, Discovery};
pub use groups::{Group, GroupRelay, Members};
pub use network::{Delay, Dialling, Multiplexer, Network, Qdisc, TcpProfile, Topology};
pub use policy::{Policy, Targets};
pub use relay::{Cpu, RelaySetup, Rln, Verification};
pub use services::{
    ClientSleep, FloodedService, LimitedService, PushVersion, RateLimitError, RateLimits,
    RequestFlood, ServiceTrouble, ServicesSetup, TroubleKind,
};
pub use traffic::{Fault, FaultKind, ListedMessage, Publishers, Spacing, Traffic};

/// Largest number of nodes of a network.
pub const MAX_NODES: u32 = 4_000_000;

/// One simulated network, its traffic and its faults. Create one with [`Scenario::plain`] and change its fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Scenario {
    /// Name of the scenario, for reports.
    pub name: String,
    /// Number of nodes, at least 2.
    pub nodes: u32,
    /// Connections between the nodes.
    pub topology: Topology,
    /// Order in which the connections are made.
    pub dialling: Dialling,
    /// Links between the nodes, and their transport.
    pub network: Network,
    /// Relay that every node runs.
    pub relay: RelaySetup,
    /// Rate limit and its costs; `None` for a network without a rate limit.
    pub rln: Option<Rln>,
    /// Processing costs of a node.
    pub cpu: Cpu,
    /// Service nodes and light clients; `None` for a network of relays alone.
    pub services: Option<ServicesSetup>,
    /// Messages published during the run.
    pub traffic: Traffic,
    /// Messages, each with its own time, publisher and topic. If there are any, `traffic` only states their number and
    /// sizes.
    pub listed: Vec<ListedMessage>,
    /// Faults injected during the run.
    pub faults: Vec<Fault>,
    /// Groups of nodes that differ from the rest; a node is in one group at most.
    pub groups: Vec<Group>,
    /// Time from which nodes start, from the start of the simulation, nanoseconds.
    pub start_ns: u64,
    /// Length of the interval in which nodes start, evenly at random so that their heartbeats differ, nanoseconds.
    pub start_spread_ns: u64,
    /// Time from the last message or fault to the end of the run, nanoseconds.
    pub drain_ns: u64,
    /// Number of messages at the start that only warm up the connections and do not
    /// count in the statistics.
    pub warm_up_messages: u32,
    /// Time from each of these messages to the next one, nanoseconds; `None` for the spacing of the traffic.
    pub warm_up_spacing_ns: Option<u64>,
}

impl Scenario {
    /// A plain network as a starting point for others. Every node dials five others at random within the
    /// first second; the delay between any two nodes is 50 ms, the rate 100 Mbit/s; the TCP is that of a
    /// Linux kernel and the relay that of nwaku without a rate limit. Node 0 publishes one message of
    /// 1000 bytes after ten heartbeats, and the run ends ten seconds later.
    pub fn plain(nodes: u32) -> Self {
        const MS: u64 = 1_000_000;
        const S: u64 = 1000 * MS;
        Self {
            name: "plain".to_owned(),
            nodes,
            topology: Topology::Dials(5),
            dialling: Dialling::AtOnce,
            network: Network {
                uplink_bytes_per_s: 12_500_000,
                downlink_bytes_per_s: 12_500_000,
                place_rates: Vec::new(),
                unlimited_until_ns: 0,
                delay: Delay::Constant {
                    one_way_ns: 50 * MS,
                },
                jitter_ns: 0,
                loss: 0.0,
                place_loss: Vec::new(),
                queue: Qdisc::CoDel {
                    target_ns: 5 * MS,
                    interval_ns: 100 * MS,
                },
                tcp: TcpProfile::Linux,
                tuned_send_buffers: false,
                slow_start_after_idle: true,
                setup_packets: 16,
                handshake: None,
                mux_overhead_bytes: 22,
                mux_piece_bytes: 0,
                mux: Multiplexer::default(),
            },
            relay: RelaySetup {
                protocol: "/vac/waku/relay/2.0.0".to_owned(),
                gossip: undertone_gossip::Config::waku(),
                max_message_bytes: 150 << 10,
                fragments: 1,
                topics: 1,
                topics_per_node: None,
            },
            rln: None,
            cpu: Cpu::default(),
            services: None,
            traffic: Traffic {
                publishers: Publishers::One(0),
                messages: 1,
                payload_bytes: vec![1000],
                first_ns: 10 * S,
                spacing: Spacing::Constant(S),
            },
            listed: Vec::new(),
            faults: Vec::new(),
            groups: Vec::new(),
            start_ns: 0,
            start_spread_ns: S,
            drain_ns: 10 * S,
            warm_up_messages: 0,
            warm_up_spacing_ns: None,
        }
    }
}
