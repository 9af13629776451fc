//! What following a chain needs of a view: leaves that are not trusted yet, and going back.

use undertone_rln::{Fr, MerkleTree, RootWindow};

use super::MembershipView;
use crate::registry::{MemberIndex, Version};

/// One leaf's change, with what was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Whose leaf.
    pub(crate) index: MemberIndex,
    /// The leaf before; 0 when empty.
    pub(crate) before: Fr,
    /// The leaf after.
    pub(crate) after: Fr,
}

impl MembershipView {
    /// Writes leaves and leaves the accepted roots alone: the tree may be ahead of what was checked.
    pub(crate) fn write(&mut self, leaves: &[(MemberIndex, Fr)], version: Version) {
        self.set(leaves.iter().copied());
        self.version = version;
    }

    /// Accepts the root now, and those before each of `recent`, the changes that led here with the
    /// newest last. With `refill` the window is made anew from them.
    pub(crate) fn accept(&mut self, recent: &[Step], refill: bool) {
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

    /// Takes back changes, the newest first. Their roots become orphans.
    pub(crate) fn roll_back(&mut self, undone: &[Step], to: Version) {
        let mut kept: Vec<Fr> = self.newest.iter().copied().collect();
        let mut gone = Vec::new();
        // What is older has left the window. A root may also be that of an earlier state, which stays;
        // and that of a change that was not accepted yet is not there.
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

    /// The roots of states that were taken back, the oldest first.
    pub(crate) fn orphans(&self) -> impl Iterator<Item = &Fr> {
        self.orphans.iter()
    }

    /// Sets the roots of states that were taken back.
    pub(crate) fn set_orphans(&mut self, orphans: impl IntoIterator<Item = Fr>) {
        self.orphans = RootWindow::new(self.window);
        for root in orphans {
            self.orphans.push(root);
        }
        self.revision += 1;
        self.offer_roots();
    }

    /// Empties the tree, to be written anew.
    pub(crate) fn clear_tree(&mut self) {
        self.tree = MerkleTree::new();
        self.revision += 1;
    }

    /// A leaf.
    pub(crate) fn leaf(&self, index: MemberIndex) -> Fr {
        self.tree
            .leaf(index.get())
            .expect("every MemberIndex is inside the tree")
    }

    /// How many roots are accepted at most.
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
