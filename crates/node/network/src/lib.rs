//! A Waku relay on real sockets: the machine of `undertone-relay` driven over libp2p.
//!
//! [`driver::start`] runs a node from [`driver::NodeOptions`]. It accepts and dials connections, reads and writes
//! frames, verifies and generates proofs on separate threads, and maps ports on routers. Commands go through the node's
//! [`handle::NodeHandle`]; [`command`] has their answers and snapshots of the node's state. The services that a node
//! offers, and its REST API, are crates above this one. They open and accept streams through [`swarm`], and add spans
//! to [`traces`].

pub mod command;
pub mod driver;
pub mod handle;
mod portmap;
mod stopped;
pub mod swarm;
pub mod traces;

pub use libp2p::identity::Keypair;
pub use libp2p::{Multiaddr, PeerId};
pub use traces::{TraceConfig, TraceTotals};
