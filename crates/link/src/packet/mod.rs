//! Packet-level emulation of a wide-area network: sans-IO, exact to the nanosecond.
//!
//! ```text
//! from ── uplink queue ── uplink rate ──(delay, jitter, loss)── downlink queue ── downlink rate ── to
//! ```
//!
//! Every host has one uplink and one downlink, each with a rate, a burst and a bounded queue
//! ([`LinkConfig`]); every ordered pair of hosts has a path with a delay, jitter, loss and, if wanted,
//! reordering ([`Path`]). A packet is a handle of the driver's choice and a length: its content is
//! never looked at. [`Network`] is driven like the other machines of this workspace: `handle`, then
//! `poll` until nothing is left, then again no later than `next_timeout`.
//!
//! Rates, losses and cuts change while it runs ([`Change`]).
//!
//! Events happen at the moments they are due, not when the driver calls: a driver that is late (a
//! real clock always is) delays what it delivers but not what the network does meanwhile.
//!
//! Not modelled: the content of packets, link layers, corruption, duplication, queues inside the
//! path (put them at the hosts).

mod change;
mod codel;
mod config;
mod network;
mod path;
mod queue;
mod rate;
mod rng;
mod shaper;

#[cfg(test)]
mod tests;

pub use change::Change;
pub use config::{CoDel, ConfigError, Discipline, HostConfig, LinkConfig, Rate};
pub use network::{ApiMisuse, Dropped, Input, Network, Output, Side, Why};
pub use path::{Jitter, Order, Path, Paths};
