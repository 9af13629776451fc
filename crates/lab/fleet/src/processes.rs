//! Nodes as processes on an emulated wide-area network: a scenario, run with real TCP and real proofs.
//!
//! [`Campaigner::run`] runs a scenario once with each seed. Each node is a process in its own network
//! namespace. Messages are published over REST, and the nodes' delivery logs are turned into the same
//! outcome type as the simulator's.

mod campaigner;
mod costs;
mod error;
mod faults;
mod folder;
mod gather;
mod hops;
mod log;
mod memory;
mod network;
mod node;
mod nodes;
mod refuse;
mod report;
pub mod rest;
mod runner;
mod timeline;
mod traffic;

pub use campaigner::Campaigner;
pub use costs::Costs;
pub use error::{CampaignError, RunError};
pub use hops::{Connections, MeasuredHop};
pub use network::emulated;
pub use nodes::Setup;
pub use report::CampaignReport;
pub use runner::Packets;
