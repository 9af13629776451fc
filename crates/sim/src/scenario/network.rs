//! Topology, links, transport.

/// Who is connected to whom. Both directions carry traffic whoever dialled.
#[derive(Clone, Debug, PartialEq)]
pub enum Topology {
    /// Every node dials this many others, chosen at random, so that it has about twice as many
    /// connections.
    Dials(u32),
    /// Every node has exactly this many connections, chosen at random; `nodes * degree` must be
    /// even.
    Regular(u32),
    /// Node 0 to 1 to 2 and so on.
    Line,
    /// A line whose ends are connected.
    Ring,
    /// Everybody is connected to node 0.
    Star,
    /// Everybody is connected to everybody.
    FullMesh,
    /// These connections, as (dialler, dialled).
    Edges(Vec<(u32, u32)>),
}

/// How nodes make their connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialling {
    /// All at the same time, as soon as both nodes run.
    AtOnce,
    /// Each node makes one connection after another. Meshes then form from the first few.
    OneByOne,
}

/// One-way delay between two hosts.
#[derive(Clone, Debug, PartialEq)]
pub enum Delay {
    /// The same between any two.
    Constant {
        /// Nanoseconds.
        one_way_ns: u64,
    },
    /// By the places the hosts are at: node `n` is at place `n % places`.
    Places {
        /// `one_way_ns[from][to]`, nanoseconds; square.
        one_way_ns: Vec<Vec<u64>>,
    },
    /// Drawn for each ordered pair of hosts, uniformly between two bounds, and constant from then on.
    Uniform {
        /// Nanoseconds.
        min_ns: u64,
        /// Nanoseconds.
        max_ns: u64,
    },
}

/// What happens to packets that wait at the receiver's last hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qdisc {
    /// First in, first out, up to so many bytes; what does not fit is dropped.
    Fifo {
        /// Bytes.
        max_bytes: u64,
    },
    /// `CoDel` (RFC 8289): drops at the head while packets have waited longer than a target for an
    /// interval.
    CoDel {
        /// Nanoseconds.
        target_ns: u64,
        /// Nanoseconds.
        interval_ns: u64,
    },
}

/// Which transport is modelled; the numbers behind the names are `undertone_link`'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpProfile {
    /// A Linux kernel's.
    Linux,
    /// The one of the Shadow simulator.
    Shadow,
}

/// Links and transport.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Uplink of every host, bytes per second.
    pub uplink_bytes_per_s: u64,
    /// Downlink of every host, bytes per second.
    pub downlink_bytes_per_s: u64,
    /// Rates that differ by place, as (uplink, downlink); node `n` is at place `n % places`. Empty:
    /// all hosts have the two above.
    pub place_rates: Vec<(u64, u64)>,
    /// Rates do not bind before this time, nanoseconds (Shadow's `bootstrap_end_time`).
    pub unlimited_until_ns: u64,
    /// One-way delay.
    pub delay: Delay,
    /// Added to the delay of each burst of packets, drawn evenly between 0 and this, nanoseconds.
    pub jitter_ns: u64,
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Loss that differs by place, `[from][to]`; empty: the one above between any two.
    pub place_loss: Vec<Vec<f64>>,
    /// The receiver's queue.
    pub queue: Qdisc,
    /// Transport.
    pub tcp: TcpProfile,
    /// Whether a silence takes a connection's window back towards where it began (RFC 2861), as Linux
    /// does unless `net.ipv4.tcp_slow_start_after_idle` is 0.
    pub slow_start_after_idle: bool,
    /// Packets that a connection has carried in each direction before the first frame of the relay
    /// (handshakes, identification): they have opened its window.
    pub setup_packets: u32,
    /// Bytes that security and muxing add to each frame.
    pub mux_overhead_bytes: u32,
    /// Bytes that muxing hands to the transport at once: each such piece ends with a packet of its own
    /// if it can leave at once. 0: a frame is one piece.
    pub mux_piece_bytes: u32,
}
