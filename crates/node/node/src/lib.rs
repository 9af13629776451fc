#![doc = include_str!("../README.md")]

pub mod assemble;
pub mod config;
pub mod delivery_log;
pub mod doctor;
mod files_limit;
pub mod logging;

pub use files_limit::raise_files_limit;
pub use undertone_network::{
    Keypair, Multiaddr, PeerId, TraceConfig, TraceTotals, command, driver, handle,
};
pub use undertone_provider::{discovery, services};
pub use undertone_rest as rest;

/// The program in the project's README, which is compiled with the documentation's examples.
#[cfg(doctest)]
#[doc = include_str!("../../../../README.md")]
pub struct ProjectReadme;
