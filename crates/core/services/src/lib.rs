#![doc = include_str!("../README.md")]
//!
//! # Where to start
//!
//! [`host::ServiceHost`] combines the servers of all services for a driver. Each service has a module of its own,
//! and [`history`] has the types that stores and archives share.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod filter;
pub mod history;
pub mod host;
pub mod light;
pub mod lightpush;
pub mod metadata;
pub mod peer_exchange;
pub mod rate_limit;
pub mod rendezvous;
pub mod request;
mod rng;
pub mod rpc;
pub mod sending;
pub mod sharding;
pub mod store;
pub mod sync;
pub mod trust;
mod turns;

pub use request::{PeerNo, RequestNo};

/// Returns the ids of the service protocols between nodes, except those of store synchronisation.
pub fn service_protocols() -> impl Iterator<Item = &'static str> {
    let requests = host::RequestProtocol::ALL.into_iter();
    requests
        .map(host::RequestProtocol::id)
        .chain([filter::PUSH_PROTOCOL_ID])
}
