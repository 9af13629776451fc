//! Nodes in one process, on loopback, and the members that they publish as.

mod arrivals;
mod error;
mod files;
mod nodes;
mod rln;
mod tokens;
mod topology;

pub use error::NodesError;

pub(crate) use arrivals::{Arrivals, numbered};
pub(crate) use error::within;
pub(crate) use nodes::{Limit, Node, Nodes, Publishes, connected};
pub(crate) use rln::identity;
pub(crate) use tokens::Terms;
pub(crate) use topology::choose;
