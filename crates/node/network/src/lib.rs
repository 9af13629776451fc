//! A Waku relay on real sockets: the machine of `undertone-relay` driven over libp2p.
//!
//! [`driver::start`] runs a node from [`driver::NodeOptions`]: it accepts and dials connections, reads and writes frames,
//! verifies and makes proofs on threads of their own, and maps ports of routers. Commands go through the node's
//! [`handle::NodeHandle`], and [`command`] has their answers and snapshots of the node's state. What a node serves to others,
//! and its REST API, are crates above this one; they open and accept streams by [`swarm`], and add spans to [`traces`].

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
