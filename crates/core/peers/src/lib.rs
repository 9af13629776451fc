#![doc = include_str!("../README.md")]
//!
//! # Where to start
//!
//! [`ConnectionManager`] is the state machine; [`PeerStore`] holds what it knows about peers.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod address;
pub mod facts;
mod io;
mod manager;
pub mod store;

#[cfg(test)]
mod tests;

pub use address::{AddressHost, AddressRules, host_of};
pub use facts::{Capabilities, PeerFacts, PeerOffer, PeerSource};
pub use io::{CloseReason, Input, Output, PeerDemand};
pub use manager::{ConnectionManager, ConnectionTargets, ManagerConfig};
pub use store::{DialState, OfferRefusal, PeerEntry, PeerStore, PeerStoreLimits};
