//! The membership tree of 10,000 members.

use serde::Serialize;
use undertone_rln::{Fr, MerkleTree};

use super::clock::median_ms;

const MEMBERS: u32 = 10_000;

/// Time for building the tree in one batch, and its size in memory.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Tree {
    /// Number of members.
    pub members: u32,
    /// Time to build the tree, milliseconds.
    pub build_ms: f64,
    /// Size of the tree in memory, 10^6 bytes.
    pub size_mb: f64,
}

/// Measures the tree, as the median of `runs` runs.
pub fn measure(runs: usize) -> Tree {
    Tree {
        members: MEMBERS,
        build_ms: median_ms(runs, leaves, |leaves| build(&leaves)),
        size_mb: build(&leaves()).memory_bytes() as f64 / 1e6,
    }
}

pub(super) fn build(leaves: &[(u32, Fr)]) -> MerkleTree {
    let mut tree = MerkleTree::new();
    tree.set_many(leaves)
        .expect("10,000 leaves are inside the tree");
    tree
}

pub(super) fn leaves() -> Vec<(u32, Fr)> {
    (0..MEMBERS).map(|at| (at, Fr::from(at + 1))).collect()
}
