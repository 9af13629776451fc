//! Packet-level emulation of a wide-area network: sans-IO, exact to the nanosecond.
//!
//! ```text
//! from ── uplink queue ── uplink rate ──(delay, jitter, loss)── downlink queue ── downlink rate ── to
//! ```
//!
//! Every host has one uplink and one downlink, each with a rate, a burst and a bounded queue
//! ([`LinkConfig`]). Every ordered pair of hosts has a path with a delay, jitter, loss and, optionally,
//! reordering ([`Path`]). A packet is a handle of the driver's choice and a length; the network never
//! reads its content. [`Network`] is driven like the other state machines of this workspace: `handle`,
//! then `poll` until nothing is left, then again no later than `next_timeout`.
//!
//! Rates, losses and cuts can change while the network runs ([`Change`]).
//!
//! Events happen at the times they are due, not when the driver calls. A driver that is late (a real
//! clock always is) delays the deliveries but not the events inside the network.
//!
//! Not modelled: the content of packets, link layers, corruption, duplication, and queues inside the path
//! (configure them at the hosts).

mod change;
mod codel;
mod config;
mod network;
mod path;
pub(crate) mod queue;
mod rate;
mod rng;
mod shaper;

#[cfg(test)]
mod tests;

pub use change::Change;
pub use config::{CoDel, ConfigError, Discipline, HostConfig, LinkConfig, Rate};
pub use network::{Dropped, Input, Network, NetworkMisuse, Output, Side, Why};
pub use path::{Jitter, Order, Path, Paths};
