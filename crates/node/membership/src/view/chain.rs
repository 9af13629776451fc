//! View operations for a chain follower: leaves that are not trusted yet, and rollback.

use undertone_rln::{Fr, MerkleTree, RootWindow};

use super::MembershipView;
use crate::registry::{MemberIndex, Version};

/// A change of one leaf, with the values before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeafChange {
    /// Index of the leaf.
    pub(crate) index: MemberIndex,
    /// Value of the leaf before; 0 when empty.
    pub(crate) before: Fr,
    /// Value of the leaf after; 0 when empty.
    pub(crate) after: Fr,
}

impl MembershipView {
    /// Writes leaves without changing the accepted roots: the tree may be ahead of what was checked.
    pub(crate) fn write(&mut self, leaves: &[(MemberIndex, Fr)], version: Version) {
        self.set(leaves.iter().copied());
        self.version = version;
    }

    /// Accepts the root after each change in `recent`, the changes that led to the present state, the newest
    /// last. With `refill` the window of accepted roots is rebuilt from them.
    pub(crate) fn accept(&mut self, recent: &[LeafChange], refill: bool) {
        let recent = &recent[recent.len().saturating_sub(self.window)..];
        if refill {
            self.newest = RootWindow::new(self.window);
        }
        let revision = self.revision;
        self.set(recent.iter().rev().map(|step| (step.index, step.before)));
        for step in recent {
            self.set([(step.index, step.after)]);
            self.newest.push(self.tree.root());
        }
        self.revision = revision + 1;
        self.offer_roots();
    }

    /// Undoes changes, the newest first. Their roots become orphans, which stay accepted for a while.
    pub(crate) fn roll_back(&mut self, undone: &[LeafChange], to: Version) {
        let mut kept: Vec<Fr> = self.newest.iter().copied().collect();
        let mut gone = Vec::new();
        // Older roots have left the window. A change may result in a root that an earlier state had as well,
        // which stays accepted; a change that was not accepted yet has no root in the window.
        for step in undone.iter().take(self.window) {
            let root = self.tree.root();
            if kept.last() == Some(&root) {
                gone.extend(kept.pop());
            }
            self.set([(step.index, step.before)]);
        }
        self.set(undone.iter().map(|step| (step.index, step.before)));
        for root in gone.iter().rev() {
            self.orphans.push(*root);
        }
        self.newest = RootWindow::new(self.window);
        for root in kept {
            self.newest.push(root);
        }
        self.version = to;
        self.offer_roots();
    }

    /// Returns the roots of abandoned blocks, the oldest first.
    pub(crate) fn orphans(&self) -> impl Iterator<Item = &Fr> {
        self.orphans.iter()
    }

    /// Replaces the roots of abandoned blocks.
    pub(crate) fn set_orphans(&mut self, orphans: impl IntoIterator<Item = Fr>) {
        self.orphans = RootWindow::new(self.window);
        for root in orphans {
            self.orphans.push(root);
        }
        self.revision += 1;
        self.offer_roots();
    }

    /// Empties the tree so that it can be rebuilt.
    pub(crate) fn clear_tree(&mut self) {
        self.tree = MerkleTree::new();
        self.revision += 1;
    }

    /// Returns the value of a leaf; 0 when empty.
    pub(crate) fn leaf(&self, index: MemberIndex) -> Fr {
        self.tree
            .leaf(index.get())
            .expect("every MemberIndex is inside the tree")
    }

    /// Returns the maximum number of accepted roots, without those of abandoned blocks.
    pub(crate) fn window(&self) -> usize {
        self.window
    }

    fn set(&mut self, leaves: impl IntoIterator<Item = (MemberIndex, Fr)>) {
        let leaves: Vec<_> = leaves
            .into_iter()
            .map(|(i, leaf)| (i.get(), leaf))
            .collect();
        self.tree
            .set_many(&leaves)
            .expect("every MemberIndex is inside the tree");
        self.revision += leaves.len() as u64;
    }
}
