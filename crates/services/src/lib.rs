#![doc = include_str!("../README.md")]
//!
//! # Where to start
//!
//! [`history`] has the words that stores and archives share; each service has a module of its own.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod chance;
pub mod filter;
pub mod history;
pub mod light;
pub mod lightpush;
pub mod metadata;
pub mod peer_exchange;
pub mod rate_limit;
pub mod rendezvous;
pub mod request;
pub mod rpc;
pub mod sds;
pub mod sending;
pub mod sharding;
pub mod store;
pub mod sync;
pub mod trust;
mod turns;

pub use request::{PeerNo, RequestNo};
