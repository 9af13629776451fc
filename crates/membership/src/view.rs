//! A follower of a registry: the tree and the accepted roots.

use std::path::{Path, PathBuf};

use undertone_rln::tree::{MerkleTree, snapshot};
use undertone_rln::{Fr, MerklePath, RootWindow, SnapshotError, rate_commitment};

use crate::registry::{
    Change, ChangeKind, MemberIndex, Registry, RegistryError, RegistryId, Version,
};

/// Changes fetched at once.
const PAGE: usize = 1024;

/// Why no view was loaded. Start from [`MembershipView::new`] then: the registry has everything, the
/// snapshot only saves time.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read, or is damaged.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The file is of another registry.
    #[error("{path}: of registry {found}, this is {expected}; the tree has to be rebuilt from it")]
    OtherRegistry {
        /// The file.
        path: PathBuf,
        /// The registry that the file belongs to.
        found: RegistryId,
        /// The registry that is followed.
        expected: RegistryId,
    },
}

/// The membership tree and the newest roots, as of a registry's version.
#[derive(Clone, Debug)]
pub struct MembershipView {
    tree: MerkleTree,
    newest: RootWindow,
    window: usize,
    version: Version,
    revision: u64,
    /// Roots of states that were taken back, with the newest last. Still accepted, see
    /// [`MembershipView::roots`].
    orphans: RootWindow,
    accepted: RootWindow,
}

impl MembershipView {
    /// A view of the empty registry, that will accept the newest `capacity` roots.
    pub fn new(capacity: usize) -> Self {
        Self {
            tree: MerkleTree::new(),
            newest: RootWindow::new(capacity),
            window: capacity,
            version: Version::default(),
            revision: 0,
            orphans: RootWindow::new(capacity),
            accepted: RootWindow::new(capacity),
        }
    }

    /// The view of `registry` that was saved at `path`, if there is a file. It goes on from there.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn load(
        path: &Path,
        registry: RegistryId,
        capacity: usize,
    ) -> Result<Option<Self>, LoadError> {
        let Some(snapshot) = snapshot::load(path)? else {
            return Ok(None);
        };
        let found = RegistryId(snapshot.registry);
        if found != registry {
            return Err(LoadError::OtherRegistry {
                path: path.to_owned(),
                found,
                expected: registry,
            });
        }
        let mut view = Self::new(capacity);
        view.tree = snapshot.tree;
        view.version = Version(snapshot.version);
        for root in snapshot.roots {
            view.newest.push(root);
        }
        view.offer_roots();
        Ok(Some(view))
    }

    /// Saves the view of `registry` in place of the file at `path`; a crash leaves the old or the new one.
    ///
    /// # Errors
    /// [`SnapshotError::Io`].
    pub fn save(&self, path: &Path, registry: RegistryId) -> Result<(), SnapshotError> {
        snapshot::save(path, registry.0, self.version.0, &self.tree, &self.newest)
    }

    /// Takes in what happened since the last call; tells whether anything did.
    ///
    /// Each change gives one root, so that a publisher who lags by a few registrations is still
    /// understood. Changes too old to leave a root in the window are applied together. After an
    /// error the view is at some version between the old and the new one, and can go on from there.
    ///
    /// # Errors
    /// [`RegistryError::RolledBack`], [`RegistryError::Gap`], or whatever keeps the registry from
    /// being read.
    pub fn refresh(&mut self, registry: &dyn Registry) -> Result<bool, RegistryError> {
        let (known, newest) = (self.version, registry.version()?);
        if newest < known {
            return Err(RegistryError::RolledBack {
                known,
                found: newest,
            });
        }
        let rootless = Version(newest.0.saturating_sub(self.window as u64));
        loop {
            let page = registry.changes_since(self.version, PAGE)?;
            let reached_end = page.len() < PAGE;
            let (old, new) = page.split_at(page.partition_point(|c| c.version <= rootless));
            self.apply(old)?;
            for change in new {
                self.apply(std::slice::from_ref(change))?;
                self.newest.push(self.tree.root());
            }
            self.offer_roots();
            if reached_end {
                return Ok(self.version != known);
            }
        }
    }

    /// The tree.
    pub fn tree(&self) -> &MerkleTree {
        &self.tree
    }

    /// The accepted roots; empty until the first member came, so that nothing is accepted.
    ///
    /// After a chain was reorganised, also the roots of the blocks that are no longer on it, for a
    /// while: publishers that have not heard of it yet prove against them. They take no place away
    /// from the others.
    pub fn roots(&self) -> &RootWindow {
        &self.accepted
    }

    /// Goes up with every change of the tree or of the accepted roots, by the number of leaves
    /// written. Unlike the version it never goes back.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The registry's version that this view is at.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The path of a member in the present tree.
    pub fn path(&self, index: MemberIndex) -> MerklePath {
        self.tree
            .path(index.get())
            .expect("every MemberIndex is inside the tree")
    }

    fn apply(&mut self, changes: &[Change]) -> Result<(), RegistryError> {
        let mut known = self.version;
        let mut leaves = Vec::with_capacity(changes.len());
        for change in changes {
            let found = change.version;
            if Some(found.0) != known.0.checked_add(1) {
                return Err(RegistryError::Gap { known, found });
            }
            known = found;
            leaves.push((change.index.get(), leaf(change)));
        }
        self.tree
            .set_many(&leaves)
            .expect("every MemberIndex is inside the tree");
        self.revision += leaves.len() as u64;
        self.version = known;
        Ok(())
    }

    fn offer_roots(&mut self) {
        let mut accepted = RootWindow::new(2 * self.window);
        for root in self.orphans.iter().chain(self.newest.iter()) {
            accepted.push(*root);
        }
        self.accepted = accepted;
    }
}

fn leaf(change: &Change) -> Fr {
    match change.kind {
        ChangeKind::Registered { commitment, limit } => rate_commitment(commitment, limit),
        ChangeKind::Removed => Fr::from(0),
        ChangeKind::Placed { leaf } => leaf,
    }
}

mod chain;
mod interface;

pub(crate) use chain::Step;
pub use interface::View;

#[cfg(test)]
mod tests;
