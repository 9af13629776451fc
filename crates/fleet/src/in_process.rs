//! Nodes in one process, on loopback, and the members that they publish as.

mod arrivals;
mod crowd;
mod error;
mod files;
mod members;
mod network;
mod tokens;
mod topology;

pub use error::NodesError;

pub(crate) use arrivals::{Arrivals, numbered};
pub(crate) use crowd::{Crowd, Limit, Publishes};
pub(crate) use error::within;
pub(crate) use members::identity;
pub(crate) use network::{Network, Node, SharedRln, connected, stop_all};
pub(crate) use tokens::Terms;
pub(crate) use topology::choose;
