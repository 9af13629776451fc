//! Messages and faults.

/// Who publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Publishers {
    /// Always this node.
    One(u32),
    /// The first so many nodes in turn.
    RoundRobin(u32),
    /// Every message by a node chosen at random.
    Random,
}

/// Time between messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Always the same, nanoseconds; 0 publishes all at once.
    Constant(u64),
    /// Poisson process of this mean interval, nanoseconds.
    Poisson(u64),
}

/// Who publishes what, when.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Who.
    pub publishers: Publishers,
    /// Number of messages.
    pub messages: u32,
    /// Payload bytes of the messages, in turn; not empty.
    pub payload_bytes: Vec<u32>,
    /// When the first message is published, from the start of the simulation, nanoseconds.
    pub first_ns: u64,
    /// Time between messages.
    pub spacing: Spacing,
}

/// Something that goes wrong at a given time.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// When, nanoseconds.
    pub at_ns: u64,
    /// To whom: the first so many nodes, counted from the last one down (node 0 publishes in most
    /// scenarios).
    pub nodes: u32,
    /// What.
    pub kind: FaultKind,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultKind {
    /// The nodes vanish; their peers notice after a delay.
    Crash {
        /// Nanoseconds until a peer closes the connection.
        noticed_after_ns: u64,
    },
    /// The nodes leave their topics and close their connections.
    Leave,
    /// The nodes join only now.
    Join,
    /// Nothing passes between the nodes and the others for a while.
    Partition {
        /// Nanoseconds.
        for_ns: u64,
    },
    /// The nodes' links run at a share of their rate from now on.
    Slow {
        /// Between 0 and 1.
        factor: f64,
    },
    /// The nodes lose packets with this probability from now on.
    Lossy {
        /// Between 0 and 1.
        loss: f64,
    },
    /// The nodes' clocks are off by this from now on, nanoseconds.
    ClockSkew {
        /// Positive: ahead.
        by_ns: i64,
    },
    /// The nodes publish without regard to their limit from now on.
    Spam {
        /// Nanoseconds between two messages of a node.
        interval_ns: u64,
    },
    /// The nodes keep their places in meshes and announce what they have, but send no message of others
    /// from now on, neither forwarded nor asked for.
    Silent,
}
