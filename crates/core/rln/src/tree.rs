//! The membership tree: a binary Merkle tree of depth 20 over Poseidon, in memory.

use std::array;
use std::sync::LazyLock;

use ark_ff::AdditiveGroup;

use crate::field::Fr;
use crate::poseidon::poseidon;

pub mod snapshot;

/// Depth of the tree, fixed by the circuit.
pub const DEPTH: usize = 20;

/// Number of leaves of the tree.
pub const CAPACITY: u32 = 1 << DEPTH;

/// Roots of empty subtrees: `ZEROS[k]` is that of height `k`; an empty leaf is 0.
static ZEROS: LazyLock<[Fr; DEPTH + 1]> = LazyLock::new(|| {
    let mut zero = Fr::ZERO;
    array::from_fn(|level| {
        if level > 0 {
            zero = poseidon(&[zero, zero]);
        }
        zero
    })
});

/// Error for a leaf index of 2^20 or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("leaf index {index} is outside the membership tree, which holds {CAPACITY} leaves")]
pub struct IndexOutOfRange {
    /// Leaf index that was asked for.
    pub index: u32,
}

/// Merkle tree of members. Only the part up to the highest leaf ever set takes memory: 64 bytes per leaf.
#[derive(Clone, Debug)]
pub struct MerkleTree {
    /// Nodes by height: `levels[0]` holds the leaves, `levels[DEPTH]` the root. A node beyond a
    /// level's end is the root of an empty subtree.
    levels: [Vec<Fr>; DEPTH + 1],
}

/// Merkle path: the siblings on the way from a leaf to the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MerklePath {
    /// Index of the leaf; bit `k` tells whether the node at height `k` is a right child.
    pub index: u32,
    /// Sibling at each height, the leaf's own sibling first.
    pub siblings: [Fr; DEPTH],
}

impl MerkleTree {
    /// Creates a tree of empty leaves.
    pub fn new() -> Self {
        Self {
            levels: array::from_fn(|_| Vec::new()),
        }
    }

    /// Sets the leaf at `index`; takes 20 hashes.
    ///
    /// # Errors
    /// [`IndexOutOfRange`] when the index is 2^20 or more.
    pub fn set(&mut self, index: u32, leaf: Fr) -> Result<(), IndexOutOfRange> {
        self.set_many(&[(index, leaf)])
    }

    /// Sets several leaves; where an index repeats, the last one counts.
    ///
    /// A node above several of the leaves is hashed once, so `k` neighbours cost about `k + 20` hashes.
    ///
    /// # Errors
    /// [`IndexOutOfRange`] for the first index of 2^20 or more; the tree is then unchanged.
    pub fn set_many(&mut self, leaves: &[(u32, Fr)]) -> Result<(), IndexOutOfRange> {
        let mut dirty = leaves
            .iter()
            .map(|(index, _)| position(*index))
            .collect::<Result<Vec<_>, IndexOutOfRange>>()?;
        if let Some(last) = dirty.iter().max() {
            self.make_room(*last);
        }
        for (at, (_, leaf)) in dirty.iter().zip(leaves) {
            self.write(0, *at, *leaf);
        }
        dirty.sort_unstable();
        for level in 0..DEPTH {
            for at in &mut dirty {
                *at /= 2;
            }
            dirty.dedup();
            for at in &dirty {
                let children = [self.node(level, 2 * at), self.node(level, 2 * at + 1)];
                self.write(level + 1, *at, poseidon(&children));
            }
        }
        Ok(())
    }

    /// Empties the leaf at `index`.
    ///
    /// # Errors
    /// [`IndexOutOfRange`] when the index is 2^20 or more.
    pub fn remove(&mut self, index: u32) -> Result<(), IndexOutOfRange> {
        self.set(index, Fr::ZERO)
    }

    /// Returns the leaf at `index`; 0 when the leaf is empty.
    ///
    /// # Errors
    /// [`IndexOutOfRange`] when the index is 2^20 or more.
    pub fn leaf(&self, index: u32) -> Result<Fr, IndexOutOfRange> {
        Ok(self.node(0, position(index)?))
    }

    /// Root of the tree.
    pub fn root(&self) -> Fr {
        self.node(DEPTH, 0)
    }

    /// Number of leaves that are not empty. Takes time proportional to the leaves held.
    pub fn occupied(&self) -> usize {
        let leaves = self.levels[0].iter();
        leaves.filter(|leaf| **leaf != Fr::ZERO).count()
    }

    /// Memory that the nodes take, in bytes, including reserved capacity.
    pub fn memory_bytes(&self) -> usize {
        let nodes: usize = self.levels.iter().map(Vec::capacity).sum();
        nodes * size_of::<Fr>()
    }

    /// Returns the path of the leaf at `index`, whether the leaf is empty or not.
    ///
    /// # Errors
    /// [`IndexOutOfRange`] when the index is 2^20 or more.
    pub fn path(&self, index: u32) -> Result<MerklePath, IndexOutOfRange> {
        let at = position(index)?;
        let siblings = array::from_fn(|level| self.node(level, (at >> level) ^ 1));
        Ok(MerklePath { index, siblings })
    }

    fn node(&self, level: usize, at: usize) -> Fr {
        self.levels[level]
            .get(at)
            .copied()
            .unwrap_or_else(|| ZEROS[level])
    }

    /// Reserves memory for the leaf at `at` and the nodes above: exactly as much as needed, but at
    /// least an eighth more than present, so that many small batches do not reallocate each time.
    fn make_room(&mut self, at: usize) {
        for (level, nodes) in self.levels.iter_mut().enumerate() {
            let needed = (at >> level) + 1;
            if needed > nodes.capacity() {
                let length = needed.max(nodes.len() + nodes.len() / 8);
                nodes.reserve_exact(length - nodes.len());
            }
        }
    }

    fn write(&mut self, level: usize, at: usize, value: Fr) {
        let nodes = &mut self.levels[level];
        if at >= nodes.len() {
            nodes.resize(at + 1, ZEROS[level]);
        }
        nodes[at] = value;
    }
}

impl Default for MerkleTree {
    fn default() -> Self {
        Self::new()
    }
}

impl MerklePath {
    /// Computes the root of the tree in which `leaf` has this path.
    pub fn root_of(&self, leaf: Fr) -> Fr {
        let mut node = leaf;
        for (level, sibling) in self.siblings.iter().enumerate() {
            node = match self.is_right_child(level) {
                true => poseidon(&[*sibling, node]),
                false => poseidon(&[node, *sibling]),
            };
        }
        node
    }

    /// Whether the node of this path at height `level` is a right child.
    pub(crate) fn is_right_child(&self, level: usize) -> bool {
        (self.index >> level) & 1 == 1
    }
}

fn position(index: u32) -> Result<usize, IndexOutOfRange> {
    if index < CAPACITY {
        Ok(index as usize)
    } else {
        Err(IndexOutOfRange { index })
    }
}

#[cfg(test)]
#[path = "tests/tree.rs"]
mod tests;
