//! Window of the Merkle roots that a proof may refer to.

use std::collections::VecDeque;

use crate::field::Fr;

/// Window of the newest roots of the membership tree.
///
/// A publisher's tree lags behind the registry, so a receiver accepts a few older roots too (The
/// Waku Network: 50). An empty window accepts nothing.
#[derive(Clone, Debug)]
pub struct RootWindow {
    roots: VecDeque<Fr>,
    capacity: usize,
}

impl RootWindow {
    /// Creates an empty window of at most `capacity` roots. With capacity 0 the window stays empty.
    pub fn new(capacity: usize) -> Self {
        Self {
            roots: VecDeque::new(),
            capacity,
        }
    }

    /// Adds the newest root and drops the oldest when the window is full.
    ///
    /// A root equal to the newest is ignored, so that a repeated report does not push out an older
    /// root.
    pub fn push(&mut self, root: Fr) {
        if self.capacity == 0 || self.newest() == Some(root) {
            return;
        }
        if self.roots.len() == self.capacity {
            self.roots.pop_front();
        }
        self.roots.push_back(root);
    }

    /// Whether `root` is one of the accepted roots.
    pub fn contains(&self, root: &Fr) -> bool {
        self.roots.contains(root)
    }

    /// Root that was pushed last; `None` for an empty window.
    pub fn newest(&self) -> Option<Fr> {
        self.roots.back().copied()
    }

    /// Iterates over the roots, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Fr> {
        self.roots.iter()
    }

    /// Number of roots in the window.
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// Whether the window is empty, so that every proof is refused.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }
}

#[cfg(test)]
#[path = "tests/roots.rs"]
mod tests;
