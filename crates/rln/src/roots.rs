//! The Merkle roots that a proof may refer to.

use std::collections::VecDeque;

use crate::field::Fr;

/// The newest roots of the membership tree.
///
/// A publisher's tree lags behind the registry, so a receiver accepts a few older roots too (The
/// Waku Network: 50). An empty window accepts nothing.
#[derive(Clone, Debug)]
pub struct RootWindow {
    roots: VecDeque<Fr>,
    capacity: usize,
}

impl RootWindow {
    /// An empty window of at most `capacity` roots. With capacity 0 it stays empty.
    pub fn new(capacity: usize) -> Self {
        Self {
            roots: VecDeque::new(),
            capacity,
        }
    }

    /// Adds the newest root and drops the oldest when the window is full.
    ///
    /// A root equal to the newest is ignored: hearing of it twice must not push out an older one.
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

    /// The root pushed last.
    pub fn newest(&self) -> Option<Fr> {
        self.roots.back().copied()
    }

    /// The roots, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Fr> {
        self.roots.iter()
    }

    /// Number of roots held.
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// Whether no root is held, so that every proof is refused.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }
}

#[cfg(test)]
mod tests;
