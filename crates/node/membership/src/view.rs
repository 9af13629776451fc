//! A follower of a registry: the membership tree and the accepted roots.

use std::path::{Path, PathBuf};

use undertone_rln::tree::{MerkleTree, snapshot};
use undertone_rln::{Fr, MerklePath, RootWindow, SnapshotError, rate_commitment};

use crate::registry::{
    Change, ChangeKind, MemberIndex, MembershipLog, RegistryError, RegistryId, Version,
};

/// Number of changes fetched from the registry at once.
const PAGE: usize = 1024;

/// Error of loading a saved view. In that case start from [`MembershipView::new`]: the snapshot only saves
/// time, the registry has everything.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The snapshot file cannot be read, or is damaged.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The snapshot belongs to another registry.
    #[error("{path}: of registry {found}, not {expected}; rebuild the tree from the registry")]
    OtherRegistry {
        /// Path of the snapshot file.
        path: PathBuf,
        /// The registry that the snapshot belongs to.
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
    /// Roots of abandoned blocks after a reorganisation, the newest last. They are still
    /// accepted, see [`MembershipView::roots`].
    orphans: RootWindow,
    accepted: RootWindow,
}

impl MembershipView {
    /// Creates a view of the empty registry that will accept the newest `capacity` roots.
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

    /// Loads the view of `registry` that was saved at `path`; `None` if there is no file. The next
    /// [`Self::refresh`] continues from the saved version.
    ///
    /// # Errors
    /// [`LoadError`], when the file is unreadable, damaged or of another registry.
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

    /// Saves the view of `registry` at `path`, atomically: after a crash the file is the old or
    /// the new one.
    ///
    /// # Errors
    /// [`SnapshotError::Io`] when the file cannot be written.
    pub fn save(&self, path: &Path, registry: RegistryId) -> Result<(), SnapshotError> {
        snapshot::save(path, registry.0, self.version.0, &self.tree, &self.newest)
    }

    /// Applies the log's changes since the last call; returns whether there were any.
    ///
    /// Each change gives one root, so that proofs of a publisher who lags by a few registrations
    /// are still accepted. Changes too old to leave a root in the window are applied together.
    /// After an error the view is at some version between the old and the new one, and the next
    /// call continues from there.
    ///
    /// # Errors
    /// [`RegistryError::RolledBack`], [`RegistryError::Gap`], or any error of reading the registry.
    pub fn refresh(&mut self, log: &dyn MembershipLog) -> Result<bool, RegistryError> {
        let (known, newest) = (self.version, log.version()?);
        if newest < known {
            return Err(RegistryError::RolledBack {
                known,
                found: newest,
            });
        }
        let rootless = Version(newest.0.saturating_sub(self.window as u64));
        loop {
            let page = log.changes_since(self.version, PAGE)?;
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

    /// Returns the membership tree.
    pub fn tree(&self) -> &MerkleTree {
        &self.tree
    }

    /// Returns the accepted roots; empty until the first member is registered, so that
    /// nothing is accepted.
    ///
    /// After a chain reorganisation they include, for a while, the roots of the abandoned blocks:
    /// publishers that have not yet seen the reorganisation prove against them. These do not
    /// displace the other roots.
    pub fn roots(&self) -> &RootWindow {
        &self.accepted
    }

    /// Returns a counter that grows with every change of the tree or of the accepted roots, by at
    /// least the number of leaves written. Unlike the version it never decreases.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the registry's version that this view has reached.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the Merkle path of a member in the present tree.
    pub fn path(&self, index: MemberIndex) -> MerklePath {
        self.tree
            .path(index.get())
            .expect("every MemberIndex is inside the tree")
    }

    /// Applies the next changes to the tree, without their roots.
    pub(crate) fn apply(&mut self, changes: &[Change]) -> Result<(), RegistryError> {
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

#[cfg(feature = "evm")]
mod chain;
mod interface;

#[cfg(feature = "evm")]
pub(crate) use chain::LeafChange;
pub use interface::View;

#[cfg(test)]
mod tests;
