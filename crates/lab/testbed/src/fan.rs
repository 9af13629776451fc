//! Measurement of one host that sends a message to many peers at once over one uplink, as a reference for how
//! connections share an uplink. Times are per connection.
//!
//! One program plays both roles. It runs on this machine's kernel (namespaces and a token bucket on the sender's
//! device, [`measure`]) or, one role at a time, in other networks ([`send`], [`receive`]). [`simulated`] is the same
//! measurement in virtual time. All connections lead to one receiver, whose links are wide.

mod measure;
mod model;
mod rows;
mod socket;
mod table;

#[cfg(test)]
#[path = "tests/fan.rs"]
mod tests;

pub use measure::{FanError, measure};
pub use model::{FanStack, simulated};
pub use rows::{FanRow, FanRowError, HEADER, parse};
pub use socket::{listen, receive, send};
pub use table::{FanErrors, errors, table};

/// Rate of the receiver's links, Mbit/s: ten times the fastest uplink that is measured.
pub const RECEIVER_MBIT_PER_S: u64 = 1_000;

/// Parameters of one measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FanCase {
    /// Rate of the sender's uplink, Mbit/s.
    pub mbit_per_s: u64,
    /// One-way delay, milliseconds.
    pub one_way_ms: u64,
    /// Number of connections, to each of which the message is written.
    pub connections: u32,
    /// Length of the message, bytes.
    pub size_bytes: u64,
    /// Pause before the third message, milliseconds.
    pub idle_ms: u64,
}

/// Arrival of a message on one connection, since its first write on any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FanTime {
    /// Time until the first bytes were read, microseconds.
    pub begun_us: u64,
    /// Time until the last byte was read, microseconds.
    pub done_us: u64,
}

/// Arrivals of a cold, a warm and an idle message, each per connection in the order in which connections were opened.
pub type FanTimes = [Vec<FanTime>; 3];
