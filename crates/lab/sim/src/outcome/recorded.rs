//! Optional records of a run besides its deliveries.

use super::{Counters, KindCounter};

/// Records to make during a run; none by default. They do not affect the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordOptions {
    /// Whether every copy of a message is recorded at its sender and its receiver.
    pub copies: bool,
    /// Whether traffic is counted for each direction of each connection.
    pub links: bool,
    /// Length of the intervals in which sent traffic is counted by kind, nanoseconds; `None` to record none.
    pub traffic_every_ns: Option<u64>,
}

impl RecordOptions {
    /// No records; the starting point for other options.
    pub const NONE: Self = Self {
        copies: false,
        links: false,
        traffic_every_ns: None,
    };

    /// Whether nodes must record the traffic of their connections.
    pub(crate) const fn is_by_connection(&self) -> bool {
        self.copies || self.links
    }
}

/// One copy of a message that a relay handed to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyRecord {
    /// Number of the message.
    pub message: u32,
    /// Fragment of the message; 0 for a message in one piece.
    pub fragment: u8,
    /// Node that sent the copy.
    pub from: u32,
    /// Node at the other end of the connection.
    pub to: u32,
    /// Number of hops from the publisher to the receiver along the path of this copy; `None` if the sender never
    /// had the whole message.
    pub hops: Option<u16>,
    /// Length of the message with its envelope in the frame, bytes.
    pub bytes: u32,
    /// Time at which the sender wrote the copy to the connection, nanoseconds.
    pub sent_ns: u64,
    /// Time at which the receiver's relay got the copy, nanoseconds; `None` if it did not.
    pub received_ns: Option<u64>,
    /// Whether it was the receiver's first copy of the message or fragment.
    pub is_first: bool,
}

/// Traffic that one relay handed to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkRecord {
    /// Node that sent.
    pub from: u32,
    /// Node at the other end of the connection.
    pub to: u32,
    /// Number of frames.
    pub frames: u64,
    /// Length of the frames with the overhead of multiplexing, bytes.
    pub bytes: u64,
    /// Messages in the frames.
    pub messages: KindCounter,
    /// Subscriptions and control entries in the frames.
    pub control: KindCounter,
}

/// Traffic that all relays handed to their connections during an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrafficInterval {
    /// Start of the interval, nanoseconds.
    pub from_ns: u64,
    /// Traffic by kind; the other counters are not used.
    pub sent: Counters,
}

/// Records of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Copies, ordered by message, time sent, sender and receiver. Messages of spammers are left out.
    pub copies: Vec<CopyRecord>,
    /// Directions of connections on which anything was sent, ordered by sender and receiver.
    pub links: Vec<LinkRecord>,
    /// Intervals in which anything was sent, in order of time.
    pub traffic: Vec<TrafficInterval>,
}
