//! Nodes in one process, on loopback, and the members as which they publish.

mod arrivals;
mod error;
mod files;
mod local_nodes;
mod members;
mod network;
mod tokens;
mod topology;

pub use error::NodesError;

pub(crate) use arrivals::{ArrivalLog, numbered};
pub(crate) use error::within;
pub(crate) use local_nodes::{Limit, LocalNodes, Publishes};
pub(crate) use members::identity;
pub(crate) use network::{LocalNetwork, LocalNode, SharedRln, connected, stop_all};
pub(crate) use tokens::RateTerms;
pub(crate) use topology::choose;
