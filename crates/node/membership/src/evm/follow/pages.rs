//! Handling of a page of events: its changes are stored unaccepted, or accepted with the root.

use std::sync::Arc;

use super::draft::Draft;
use super::repair::Repair;
use super::{Follower, NEAR_BLOCKS, Outcome, Phase};
use crate::evm::chain::{BlockRef, ContractEvent};
use crate::evm::store::{BlockCursor, Checkpoint, StorePage};
use crate::registry::{MemberIndex, Version};
use crate::storage::StorageError;

impl Follower {
    pub(super) fn on_page(
        &mut self,
        head: BlockRef,
        end: BlockRef,
        events: Vec<ContractEvent>,
    ) -> Result<Outcome, StorageError> {
        if end == head {
            self.phase = Phase::State { head, events };
            return Ok(Outcome::Going);
        }
        let last = events.last().map(|event| event.block);
        if last.is_some_and(|last| last.number == end.number && last != end) {
            // Replaced between the two requests. The next head leads to a search for the fork.
            return Ok(Outcome::Going);
        }
        self.commit_unaccepted(&end, &head, &events)
    }

    fn commit_unaccepted(
        &mut self,
        end: &BlockRef,
        head: &BlockRef,
        events: &[ContractEvent],
    ) -> Result<Outcome, StorageError> {
        let base = self.store.version()?;
        let mut view = self.view.lock();
        let draft = Draft::build(&mut view, events);
        let version = Version(base.0 + draft.entries.len() as u64);
        let checkpoint = Checkpoint {
            block: *end,
            version,
        };
        let cursor = BlockCursor {
            number: end.number,
            hash: None,
            accepted: self.cursor.accepted,
        };
        self.store.commit(&StorePage {
            entries: &draft.entries,
            cursor,
            checkpoints: &draft.checkpoints(events, base, near(head), checkpoint),
            unverified: &draft.unverified,
            settled: false,
        })?;
        view.write(&[], version);
        drop(view);
        self.cursor = cursor;
        self.refill = true;
        self.phase = Phase::Pages {
            head: *head,
            end: None,
        };
        Ok(Outcome::Going)
    }

    /// Applies the last page, and keeps it if the tree's root is then the contract's.
    pub(super) fn compare(&mut self, repair: Repair) -> Result<Outcome, StorageError> {
        let base = self.store.version()?;
        let view = Arc::clone(&self.view);
        let mut view = view.lock();
        let mut draft = Draft::build(&mut view, &repair.events);
        draft.correct(&mut view, repair.head.number, repair.found());
        if view.tree().root() != repair.root {
            draft.undo(&mut view, base);
            drop(view);
            return self.mismatch(repair, &draft);
        }
        let version = Version(base.0 + draft.entries.len() as u64);
        let head = repair.head;
        let cursor = BlockCursor {
            number: head.number,
            hash: Some(head.hash),
            accepted: version,
        };
        let end = Checkpoint {
            block: head,
            version,
        };
        let page = StorePage {
            entries: &draft.entries,
            cursor,
            checkpoints: &draft.checkpoints(&repair.events, base, near(&head), end),
            unverified: &[],
            settled: true,
        };
        self.store.commit(&page)?;
        view.write(&[], version);
        if self.refill {
            let tail = self.store.tail(version, view.window())?;
            view.accept(&tail, true);
        } else if !draft.entries.is_empty() {
            let steps: Vec<_> = draft.entries.iter().map(|entry| entry.step).collect();
            view.accept(&steps, false);
        }
        if view.orphans().next().is_some() {
            view.set_orphans(self.store.orphans()?);
        }
        drop(view);
        self.refill = false;
        self.cursor = cursor;
        self.mismatches = 0;
        self.phase = Phase::Idle;
        Ok(Outcome::Synced)
    }

    /// Handles a wrong root. Reads the leaves that may or may not have been emptied. If there are none,
    /// starts over once, because the chain may have changed between two requests. As a last resort, reads all
    /// leaves.
    fn mismatch(&mut self, repair: Repair, draft: &Draft) -> Result<Outcome, StorageError> {
        if !repair.has_read() {
            let mut unverified: Vec<MemberIndex> = self.store.unverified()?;
            unverified.extend(&draft.unverified);
            if !unverified.is_empty() {
                let end = draft.end().max(self.known_end()?);
                self.phase = Phase::Repair(repair.of(&unverified, end));
                return Ok(Outcome::Going);
            }
        }
        self.mismatches += 1;
        match self.mismatches {
            1 => Ok(Outcome::Going),
            n if n % 2 == 1 && !repair.has_read_all() => {
                let end = draft.end().max(self.known_end()?);
                self.phase = Phase::Repair(repair.of_all(end));
                Ok(Outcome::Going)
            }
            _ => Ok(Outcome::Mismatch),
        }
    }

    /// Returns the index after the highest leaf that was ever written.
    fn known_end(&self) -> Result<u32, StorageError> {
        let leaves = self.store.leaves()?;
        Ok(leaves.last().map_or(0, |(index, _)| index.get() + 1))
    }
}

/// Returns the lowest block for which roots are requested while `head` is the newest.
pub(super) fn near(head: &BlockRef) -> u64 {
    head.number.saturating_sub(NEAR_BLOCKS)
}
