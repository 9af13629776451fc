//! Scenario parameters of messages and faults.

/// Choice of the node that publishes a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Publishers {
    /// Always the same node.
    One(u32),
    /// The nodes numbered below this, in turn.
    RoundRobin(u32),
    /// A node chosen at random for every message.
    Random,
}

/// Time between two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Always the same time, nanoseconds; 0 publishes all messages at once.
    Constant(u64),
    /// Poisson process with this mean interval, nanoseconds.
    Poisson(u64),
}

/// Messages published during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Nodes that publish the messages.
    pub publishers: Publishers,
    /// Number of messages published in the run.
    pub messages: u32,
    /// Payload lengths of the messages, in turn, bytes; not empty.
    pub payload_bytes: Vec<u32>,
    /// Time of the first message, from the start of the simulation, nanoseconds.
    pub first_ns: u64,
    /// Time between two messages.
    pub spacing: Spacing,
}

/// A message with its own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedMessage {
    /// Time at which it is published, nanoseconds.
    pub at_ns: u64,
    /// Node that publishes it.
    pub publisher: u32,
    /// Length of its payload, bytes.
    pub payload_bytes: u32,
    /// Number of its topic, from 0.
    pub topic: u32,
}

/// A fault that is injected at a given time.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Time of the fault, nanoseconds.
    pub at_ns: u64,
    /// Number of nodes affected, counted from the last node down, as node 0 publishes in most scenarios.
    pub nodes: u32,
    /// Kind of the fault.
    pub kind: FaultKind,
}

/// Kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultKind {
    /// The nodes stop without notice; their peers close the connections after a delay.
    Crash {
        /// Time until a peer closes the connection, nanoseconds.
        noticed_after_ns: u64,
    },
    /// The nodes leave their topics and close their connections.
    Leave,
    /// The nodes start only at the time of the fault.
    Join,
    /// No packets pass between the nodes and all others for a while.
    Partition {
        /// Length of the partition, nanoseconds.
        for_ns: u64,
    },
    /// The links of the nodes run at a fraction of their rate from now on.
    Slow {
        /// Fraction of the rate, more than 0 and at most 1.
        factor: f64,
    },
    /// The nodes lose packets with this probability from now on.
    Lossy {
        /// Probability of loss, between 0 and 1.
        loss: f64,
    },
    /// The clocks of the nodes are wrong by an offset from now on.
    ClockSkew {
        /// Offset of the clock, nanoseconds; positive if it is ahead.
        by_ns: i64,
    },
    /// The nodes publish without regard to their rate limit from now on.
    Spam {
        /// Time between two messages of a node, nanoseconds.
        interval_ns: u64,
    },
    /// The nodes stay in their meshes and announce their messages, but from now on send no message of
    /// others, neither forwarded nor requested.
    Silent,
}
