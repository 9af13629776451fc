//! What is simulated: plain data, in nanoseconds, bytes and bytes per second.
//!
//! Where these numbers come from, and how people write them down, is the laboratory's business; a
//! run's identity is this value, the seed and the commit.

mod network;
mod relay;
mod traffic;

pub use network::{Delay, Dialling, Network, Qdisc, TcpProfile, Topology};
pub use relay::{Cpu, RelaySetup, Rln, Verification};
pub use traffic::{Fault, FaultKind, Publishers, Spacing, Traffic};

/// One simulated network and what happens in it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// For reports.
    pub name: String,
    /// Nodes, at least 2.
    pub nodes: u32,
    /// Who is connected to whom.
    pub topology: Topology,
    /// How the connections are made.
    pub dialling: Dialling,
    /// Links and transport.
    pub network: Network,
    /// The relay that every node runs.
    pub relay: RelaySetup,
    /// Rate limit and its costs; `None` for a network without.
    pub rln: Option<Rln>,
    /// Costs of processing.
    pub cpu: Cpu,
    /// Who publishes what, when.
    pub traffic: Traffic,
    /// What goes wrong.
    pub faults: Vec<Fault>,
    /// When nodes start, from the start of the simulation, nanoseconds.
    pub start_ns: u64,
    /// Nodes start spread evenly at random over this time, so that their heartbeats differ,
    /// nanoseconds.
    pub start_spread_ns: u64,
    /// Time after the last message was published until the run ends, nanoseconds.
    pub drain_ns: u64,
    /// Messages at the start that do not count in the statistics: they warm up the connections.
    pub warm_up_messages: u32,
}

impl Scenario {
    /// A network without surprises, to change from there: every node dials five others at random
    /// within the first second, 50 ms from each to each, 100 Mbit/s, a Linux kernel's TCP,
    /// nwaku's relay without rate limit, one message of 1000 bytes by node 0 after ten heartbeats,
    /// and ten seconds for it to get around.
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
                slow_start_after_idle: true,
                setup_packets: 16,
                mux_overhead_bytes: 22,
                mux_piece_bytes: 0,
            },
            relay: RelaySetup {
                protocol: "/vac/waku/relay/2.0.0".to_owned(),
                gossip: undertone_gossip::Config::waku(),
                max_message_bytes: 150 << 10,
                fragments: 1,
                topics: 1,
            },
            rln: None,
            cpu: Cpu::default(),
            traffic: Traffic {
                publishers: Publishers::One(0),
                messages: 1,
                payload_bytes: vec![1000],
                first_ns: 10 * S,
                spacing: Spacing::Constant(S),
            },
            faults: Vec::new(),
            start_ns: 0,
            start_spread_ns: S,
            drain_ns: 10 * S,
            warm_up_messages: 0,
        }
    }
}
