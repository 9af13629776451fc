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
