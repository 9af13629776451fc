//! The membership state that a node needs, whether or not the whole tree is known.

use undertone_rln::{MerklePath, RootWindow};

use super::MembershipView;
use crate::registry::{MemberIndex, Version};

/// The membership as known to a node: with the whole tree ([`MembershipView`]), or without it.
pub trait View: Send {
    /// Returns the accepted roots; empty as long as no root is accepted.
    fn roots(&self) -> &RootWindow;

    /// Returns a counter that grows with every change of roots or paths, by at least one for each
    /// root, and never decreases.
    fn revision(&self) -> u64;

    /// Returns the registry's version; `None` if the log of changes is not known.
    fn version(&self) -> Option<Version>;

    /// Returns the number of members; `None` if it is not known.
    fn members(&self) -> Option<usize>;

    /// Returns the path of a member's leaf under the newest accepted root, for making proofs; `None` if it is
    /// not known.
    fn path(&self, index: MemberIndex) -> Option<MerklePath>;
}

impl View for MembershipView {
    fn roots(&self) -> &RootWindow {
        self.roots()
    }

    fn revision(&self) -> u64 {
        self.revision()
    }

    fn version(&self) -> Option<Version> {
        Some(self.version())
    }

    fn members(&self) -> Option<usize> {
        Some(self.tree().occupied())
    }

    /// Returns `None` while the tree is ahead of the newest accepted root, which happens while a chain is
    /// being read.
    fn path(&self, index: MemberIndex) -> Option<MerklePath> {
        let is_accepted = self.newest.newest() == Some(self.tree().root());
        is_accepted.then(|| self.path(index))
    }
}
