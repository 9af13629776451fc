//! Scenario parameters of topology, links and transport.

use undertone_link::{HandshakeProfile, MUXES, MuxProfile};

use super::discovery::Discovery;

/// Connections between the nodes. Both directions carry traffic, whichever end dialled.
#[derive(Clone, Debug, PartialEq)]
pub enum Topology {
    /// Every node dials this many others, chosen at random, so it has about twice as many connections.
    Dials(u32),
    /// Every node has exactly this many connections, chosen at random;
    /// `nodes * degree` must be even.
    Regular(u32),
    /// Node 0 is connected to 1, node 1 to 2, and so on.
    Line,
    /// A line whose ends are connected.
    Ring,
    /// Every node is connected to node 0.
    Star,
    /// Every node is connected to every other.
    FullMesh,
    /// Exactly these connections, as (dialler, dialled).
    Edges(Vec<(u32, u32)>),
    /// No connections at the start: the nodes discover each other.
    Discovery(Discovery),
}

impl Topology {
    /// Discovery of peers, if the topology is one of discovery.
    pub fn discovery(&self) -> Option<&Discovery> {
        match self {
            Self::Discovery(discovery) => Some(discovery),
            _ => None,
        }
    }
}

/// Order in which nodes make their connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialling {
    /// All connections at the same time, as soon as both nodes run.
    AtOnce,
    /// Each node makes one connection after another. Meshes then form from the first few.
    OneByOne,
}

/// One-way delay between two hosts.
#[derive(Clone, Debug, PartialEq)]
pub enum Delay {
    /// The same delay between any two hosts.
    Constant {
        /// One-way delay between any two hosts, nanoseconds.
        one_way_ns: u64,
    },
    /// Delays by the places of the hosts: node `n` is at place `n % places`.
    Places {
        /// Square matrix of delays, `one_way_ns[from][to]`, nanoseconds.
        one_way_ns: Vec<Vec<u64>>,
    },
    /// Delays drawn for each ordered pair of hosts, uniformly between two bounds, and
    /// constant from then on.
    Uniform {
        /// Lower bound of the delay, nanoseconds.
        min_ns: u64,
        /// Upper bound of the delay, nanoseconds.
        max_ns: u64,
    },
}

/// Discipline of the queue before the receiver's downlink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qdisc {
    /// First in, first out, with a limit; packets that do not fit are dropped.
    Fifo {
        /// Capacity of the queue, bytes.
        max_bytes: u64,
    },
    /// `CoDel` (RFC 8289): drops at the head after packets have waited longer than a
    /// target for an interval.
    CoDel {
        /// Longest wait that is acceptable (TARGET), nanoseconds.
        target_ns: u64,
        /// How long the wait may exceed the target before the first drop (INTERVAL), nanoseconds.
        interval_ns: u64,
    },
}

/// Transport model; its parameters are those of `undertone_link`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpProfile {
    /// The TCP of a Linux kernel whose device is faster than the uplink: packets of all connections wait behind the
    /// device, in the order in which they were sent.
    Linux,
    /// The TCP of a Linux kernel whose own device is as fast as the uplink, with send buffers that the kernel tunes.
    LinuxDevice,
    /// The TCP of the Shadow simulator.
    Shadow,
}

/// Multiplexer of all nodes, one of `undertone_link::MUXES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiplexer(pub &'static MuxProfile);

impl Default for Multiplexer {
    fn default() -> Self {
        Self(&MUXES[0])
    }
}

impl Multiplexer {
    /// All multiplexers by name, the default first.
    pub fn all() -> Vec<(&'static str, Self)> {
        MUXES.iter().map(|mux| (mux.name, Self(mux))).collect()
    }
}

/// Links between the nodes, and their transport.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Uplink of every host, bytes per second.
    pub uplink_bytes_per_s: u64,
    /// Downlink of every host, bytes per second.
    pub downlink_bytes_per_s: u64,
    /// Rates that differ by place, as (uplink, downlink); node `n` is at place `n % places`. If empty,
    /// all hosts have the two rates above.
    pub place_rates: Vec<(u64, u64)>,
    /// Time before which no rate limit applies, nanoseconds (Shadow's `bootstrap_end_time`).
    pub unlimited_until_ns: u64,
    /// One-way delays between hosts.
    pub delay: Delay,
    /// Upper limit of the random delay added to each burst of packets, drawn evenly from 0, nanoseconds.
    pub jitter_ns: u64,
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Loss that differs by place, `[from][to]`; if empty, [`Network::loss`] holds between any two hosts.
    pub place_loss: Vec<Vec<f64>>,
    /// Discipline of the receiver's queue.
    pub queue: Qdisc,
    /// Transport model of all hosts.
    pub tcp: TcpProfile,
    /// Whether send buffers grow under the stack's tuning; otherwise they hold 4 MiB and accept a whole frame.
    pub tuned_send_buffers: bool,
    /// Whether a silence reduces a connection's window towards its initial size (RFC 2861), as Linux does
    /// unless `net.ipv4.tcp_slow_start_after_idle` is 0.
    pub slow_start_after_idle: bool,
    /// Packets that a connection has carried in each direction before the relay's first frame (handshakes,
    /// identification). They have opened its congestion window.
    pub setup_packets: u32,
    /// Writes of both ends during the connection set-up, in place of `setup_packets`.
    pub handshake: Option<&'static HandshakeProfile>,
    /// Bytes that encryption and multiplexing add to each frame.
    pub mux_overhead_bytes: u32,
    /// Size of the pieces that the multiplexer hands to the transport, bytes; 0 if a frame is one piece.
    /// Each piece ends with a packet of its own if it can leave at once.
    pub mux_piece_bytes: u32,
    /// Multiplexer, whose flow control bounds what is sent before the receiver has read it.
    pub mux: Multiplexer,
}
