//! Changes of leaves that result from events, applied to the view's tree on trial.

use undertone_rln::{Fr, rate_commitment};

use crate::evm::chain::{ContractEvent, EventKind};
use crate::evm::store::{Checkpoint, StoredChange};
use crate::registry::{MemberIndex, Version};
use crate::view::{LeafChange, MembershipView};

/// Number of changes written into the tree together, so that they share the hashing of the upper levels.
const BATCH: usize = 512;

/// A page of events as changes of leaves. They are applied to the tree, and can be undone.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// Changes of leaves, in order.
    pub(super) entries: Vec<StoredChange>,
    /// Indices of erased members whose leaf may or may not have been emptied.
    pub(super) unverified: Vec<MemberIndex>,
    /// For each event, the number of entries after it.
    lengths: Vec<usize>,
    /// Number of entries already written into the tree.
    written: usize,
}

impl Draft {
    /// Applies `events` to the tree.
    ///
    /// An erased membership's leaf stays until its index is used again, unless the transaction
    /// asked for it to be emptied. Newer contracts report the root at the end of the call, which
    /// decides between the two.
    pub(super) fn build(view: &mut MembershipView, events: &[ContractEvent]) -> Self {
        let mut draft = Self::default();
        let mut erased: Vec<MemberIndex> = Vec::new();
        let mut call = None;
        for event in events {
            let place = Some((event.block.number, event.transaction));
            if call != place {
                draft.unverified.append(&mut erased);
                call = place;
            }
            match event.kind {
                EventKind::Registered {
                    commitment,
                    limit,
                    index,
                } => {
                    erased.retain(|other| *other != index);
                    draft.unverified.retain(|other| *other != index);
                    let member = Some((commitment, limit));
                    let leaf = rate_commitment(commitment, limit);
                    draft.push(view, event.block.number, index, leaf, member);
                }
                EventKind::Erased { index } => erased.push(index),
                EventKind::Cleared { index } => {
                    erased.retain(|other| *other != index);
                    draft.push(view, event.block.number, index, Fr::from(0), None);
                }
                EventKind::Root(root) if !erased.is_empty() => {
                    draft.settle(view, event.block.number, root, &mut erased);
                }
                EventKind::Root(_) => {}
            }
            draft.lengths.push(draft.entries.len());
        }
        draft.unverified.append(&mut erased);
        draft.flush(view);
        draft
    }

    /// Sets leaves to the values that were read from the contract.
    pub(super) fn correct(
        &mut self,
        view: &mut MembershipView,
        block: u64,
        leaves: impl Iterator<Item = (MemberIndex, Fr)>,
    ) {
        for (index, leaf) in leaves {
            self.push(view, block, index, leaf, None);
        }
        self.flush(view);
    }

    /// Undoes all changes in the tree, which is at `version` again.
    pub(super) fn undo(&self, view: &mut MembershipView, version: Version) {
        let before = self
            .entries
            .iter()
            .rev()
            .map(|e| (e.step.index, e.step.before));
        view.write(&before.collect::<Vec<_>>(), version);
    }

    /// Returns checkpoints of the blocks that have events, from height `lowest` on, and `end`, the last
    /// block of the page. `base` is the version before the events.
    pub(super) fn checkpoints(
        &self,
        events: &[ContractEvent],
        base: Version,
        lowest: u64,
        end: Checkpoint,
    ) -> Vec<Checkpoint> {
        let mut checkpoints: Vec<Checkpoint> = Vec::new();
        for (event, length) in events.iter().zip(&self.lengths) {
            let checkpoint = Checkpoint {
                block: event.block,
                version: Version(base.0 + *length as u64),
            };
            match checkpoints.last_mut() {
                Some(last) if last.block.number == event.block.number => *last = checkpoint,
                _ if event.block.number >= lowest => checkpoints.push(checkpoint),
                _ => {}
            }
        }
        checkpoints.retain(|checkpoint| checkpoint.block.number != end.block.number);
        checkpoints.push(end);
        checkpoints
    }

    /// Returns the index after the highest leaf that was written.
    pub(super) fn end(&self) -> u32 {
        let indices = self.entries.iter().map(|e| e.step.index.get() + 1);
        indices.max().unwrap_or(0)
    }

    fn settle(
        &mut self,
        view: &mut MembershipView,
        block: u64,
        root: Fr,
        erased: &mut Vec<MemberIndex>,
    ) {
        self.flush(view);
        if view.tree().root() == root {
            erased.clear();
            return;
        }
        let kept = self.entries.len();
        for index in erased.iter() {
            self.push(view, block, *index, Fr::from(0), None);
        }
        self.flush(view);
        if view.tree().root() == root {
            erased.clear();
            return;
        }
        let tried = self.entries.split_off(kept);
        let before: Vec<_> = tried
            .iter()
            .map(|e| (e.step.index, e.step.before))
            .collect();
        view.write(&before, view.version());
        self.written = kept;
    }

    fn push(
        &mut self,
        view: &mut MembershipView,
        block: u64,
        index: MemberIndex,
        after: Fr,
        member: Option<(Fr, u32)>,
    ) {
        let waiting = self.entries[self.written..].iter().rev();
        let waiting = waiting.map(|entry| entry.step).find(|s| s.index == index);
        let before = match waiting {
            Some(step) => step.after,
            None => view.leaf(index),
        };
        if before == after && member.is_none() {
            return;
        }
        let step = LeafChange {
            index,
            before,
            after,
        };
        self.entries.push(StoredChange {
            block,
            step,
            member,
        });
        if self.entries.len() - self.written >= BATCH {
            self.flush(view);
        }
    }

    fn flush(&mut self, view: &mut MembershipView) {
        let waiting = &self.entries[self.written..];
        let leaves: Vec<_> = waiting
            .iter()
            .map(|e| (e.step.index, e.step.after))
            .collect();
        view.write(&leaves, view.version());
        self.written = self.entries.len();
    }
}
