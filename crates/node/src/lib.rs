//! Waku relay node on real sockets: libp2p, REST and configuration around the relay state machine.

pub mod assemble;
pub mod command;
pub mod config;
pub mod delivery_log;
pub mod driver;
pub mod handle;
pub mod logging;
pub mod rest;
mod swarm;

pub use libp2p::identity::Keypair;
pub use libp2p::{Multiaddr, PeerId};
