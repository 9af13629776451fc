//! Sans-IO network emulation: rates, delays, queues, and a TCP model on top.
//!
//! [`Host`] is one machine's network stack: an uplink, a downlink, and the two TCP halves of each
//! connection. It is driven like every state machine of this project: an input with the time, then
//! outputs until there are none, then a timer. Hosts exchange bursts: packets that leave back to
//! back on one connection travel as one event, so the work of a run grows with the number of
//! messages, not of packets.
//!
//! Times are nanoseconds from an arbitrary start, rates are bytes per second.

mod connection;
mod downlink;
mod host;
mod inflight;
pub mod packet;
mod profile;
mod queue;
mod rate;
mod uplink;

pub use downlink::QueueDiscipline;
pub use host::{
    Arrival, ConnIx, Host, Input, Misuse, Output, Priority, StackConfig, TrafficTotals,
};
pub use profile::{Idle, LARGE_WINDOW_PACKETS, Profile, Sharing};
pub use rate::LinkRate;
