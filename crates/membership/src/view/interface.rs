//! What a node needs of a membership, whether the whole tree is known or not.

use undertone_rln::{MerklePath, RootWindow};

use super::MembershipView;
use crate::registry::{MemberIndex, Registry, RegistryError, Version};

/// A membership as a node knows it: with the tree ([`MembershipView`]), or without.
pub trait View: Send {
    /// The accepted roots; empty while nothing is to be accepted.
    fn roots(&self) -> &RootWindow;

    /// Goes up with every change of roots or paths, by at least one for each root; never goes back.
    fn revision(&self) -> u64;

    /// The registry's version; `None` where the log of changes is not known.
    fn version(&self) -> Option<Version>;

    /// Members; `None` where they are not known.
    fn members(&self) -> Option<usize>;

    /// The path of a member's leaf under the newest accepted root, to make proofs with; `None` where
    /// it is not known.
    fn path(&self, index: MemberIndex) -> Option<MerklePath>;

    /// Takes in what happened since the last call; tells whether anything did. A view that moves by
    /// itself has nothing to do.
    ///
    /// # Errors
    /// Whatever keeps the registry from being read.
    fn refresh(&mut self, registry: &dyn Registry) -> Result<bool, RegistryError>;

    /// A copy to be saved; `None` where nothing is.
    fn copy(&self) -> Option<MembershipView>;
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

    /// The tree may be ahead of what was compared, while a chain is read.
    fn path(&self, index: MemberIndex) -> Option<MerklePath> {
        let is_accepted = self.newest.newest() == Some(self.tree().root());
        is_accepted.then(|| self.path(index))
    }

    fn refresh(&mut self, registry: &dyn Registry) -> Result<bool, RegistryError> {
        self.refresh(registry)
    }

    fn copy(&self) -> Option<MembershipView> {
        Some(self.clone())
    }
}
