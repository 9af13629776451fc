//! Errors in network graphs.

use thiserror::Error;

/// Maximum number of places; delays are kept for every pair.
pub(in crate::scenario) const MAX_PLACES: usize = 2_000;

/// Error in a network graph.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GmlError {
    /// A word is not valid at its position.
    #[error("{found:?} is not GML here: expected {expected}")]
    Syntax {
        /// The word that was found.
        found: String,
        /// Description of the expected word.
        expected: &'static str,
    },
    /// A value is not allowed for its key.
    #[error("{key} = {value:?}: expected {expected}")]
    BadValue {
        /// Name of the key.
        key: &'static str,
        /// The value that was given.
        value: String,
        /// Description of the allowed values.
        expected: &'static str,
    },
    /// A required key is missing.
    #[error("this {block} has no {key}")]
    Missing {
        /// Kind of the block, node or edge.
        block: &'static str,
        /// Name of the key.
        key: &'static str,
    },
    /// An edge leads to a node that does not exist, or a node exists twice.
    #[error("node {id} {problem}")]
    Node {
        /// Id of the node.
        id: i64,
        /// Description of the problem.
        problem: &'static str,
    },
    /// No path joins two places. Shadow requires an edge from each place to itself, too.
    #[error("no path leads from node {from} to node {to}")]
    NoPath {
        /// Id of the node where the path begins.
        from: i64,
        /// Id of the node where the path ends.
        to: i64,
    },
    /// The graph has too many nodes, or none.
    #[error("{found} nodes: expected 1 to {MAX_PLACES}")]
    Places {
        /// Number of nodes found.
        found: usize,
    },
}

/// An error with its line, from 1.
pub(super) type GmlErrorAt = (usize, GmlError);
