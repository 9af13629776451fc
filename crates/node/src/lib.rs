#![doc = include_str!("../README.md")]

pub mod assemble;
pub mod command;
pub mod config;
pub mod delivery_log;
pub mod discovery;
pub mod doctor;
pub mod driver;
mod files_limit;
pub mod handle;
pub mod logging;
mod portmap;
pub mod rest;
pub mod services;
mod swarm;
mod traces;

pub use files_limit::raise_files_limit;
pub use libp2p::identity::Keypair;
pub use libp2p::{Multiaddr, PeerId};
pub use traces::{TraceConfig, TraceTotals};
