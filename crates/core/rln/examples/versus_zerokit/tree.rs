//! The membership tree.

use undertone_rln::{Fr, MerkleTree};

use crate::clock::{median_ms, once_ms};

/// Results of the tree's measurement.
pub(crate) struct TreeFigures {
    /// 10,000 leaves set in one batch.
    pub(crate) insert_10k_ms: f64,
    /// 1,000,000 leaves set in one batch, once.
    pub(crate) one_million_ms: f64,
    /// Memory of that tree, in 10^6 bytes.
    pub(crate) one_million_mb: f64,
}

pub(crate) fn measure() -> TreeFigures {
    let leaves = leaves(10_000);
    let insert = |()| {
        let mut tree = MerkleTree::new();
        tree.set_many(&leaves).expect("indices of the tree");
        tree
    };
    let many = self::leaves(1_000_000);
    let (one_million_ms, big) = once_ms(|| {
        let mut tree = MerkleTree::new();
        tree.set_many(&many).expect("indices of the tree");
        tree
    });
    TreeFigures {
        insert_10k_ms: median_ms(5, || (), insert),
        one_million_ms,
        one_million_mb: big.memory_bytes() as f64 / 1e6,
    }
}

fn leaves(n: u32) -> Vec<(u32, Fr)> {
    (0..n).map(|at| (at, Fr::from(u64::from(at) + 1))).collect()
}
