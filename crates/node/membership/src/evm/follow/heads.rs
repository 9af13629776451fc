//! Handling of a new head: an extension of the chain, another fork, or an endpoint that lags.

use undertone_rln::Fr;

use super::fork::ForkSearch;
use super::{Follower, MAX_BEHIND, MAX_UNKNOWN_FORKS, ORPHAN_BLOCKS, Outcome, Phase};
use crate::evm::chain::{BlockRef, Head};
use crate::evm::store::Checkpoint;
use crate::registry::Version;
use crate::storage::StorageError;

impl Follower {
    pub(super) fn on_head(&mut self, head: Head) -> Result<Outcome, StorageError> {
        self.head = Some(head.block);
        let Some(hash) = self.cursor.hash else {
            return self.on_head_amid_pages(head);
        };
        let known = BlockRef {
            number: self.cursor.number,
            hash,
        };
        if head.block == known && self.cursor.accepted == self.store.version()? {
            self.behind = 0;
            self.phase = Phase::Idle;
            return Ok(Outcome::Synced);
        }
        if head.block.number < known.number {
            let below = |checkpoint: &&Checkpoint| checkpoint.block.number <= head.block.number;
            let checkpoints = self.store.checkpoints()?;
            return match checkpoints.iter().rev().find(below) {
                None => self.on_behind(head),
                Some(checkpoint) if checkpoint.block == head.block => self.on_behind(head),
                Some(checkpoint) if checkpoint.block.number == head.block.number => {
                    self.search_fork(head, checkpoint.block.number)
                }
                Some(checkpoint) => {
                    let checkpoint = checkpoint.block;
                    self.phase = Phase::Probe { head, checkpoint };
                    Ok(Outcome::Going)
                }
            };
        }
        let follows = head.block.number == known.number + 1 && head.parent == hash;
        if head.block == known || follows {
            self.go_on(head.block)
        } else if head.block.number <= known.number + 1 {
            self.search_fork(head, known.number)
        } else {
            self.phase = Phase::Probe {
                head,
                checkpoint: known,
            };
            Ok(Outcome::Going)
        }
    }

    /// Handles a head between two pages, before the root was compared. The last page's end must still be on
    /// the chain: otherwise changes of replaced blocks would mix with those of the new ones.
    fn on_head_amid_pages(&mut self, head: Head) -> Result<Outcome, StorageError> {
        let below = |checkpoint: &&Checkpoint| checkpoint.block.number <= head.block.number;
        match self.store.checkpoints()?.iter().rev().find(below) {
            Some(checkpoint) => {
                let checkpoint = checkpoint.block;
                self.phase = Phase::Probe { head, checkpoint };
                Ok(Outcome::Going)
            }
            _ if head.block.number < self.cursor.number => self.on_behind(head),
            _ => self.go_on(head.block),
        }
    }

    pub(super) fn go_on(&mut self, head: BlockRef) -> Result<Outcome, StorageError> {
        self.behind = 0;
        self.unknown_forks = 0;
        self.phase = match head.number == self.cursor.number {
            true => Phase::State {
                head,
                events: Vec::new(),
            },
            false => Phase::Pages { head, end: None },
        };
        Ok(Outcome::Going)
    }

    pub(super) fn on_behind(&mut self, head: Head) -> Result<Outcome, StorageError> {
        self.behind += 1;
        if self.behind > MAX_BEHIND {
            return self.search_fork(head, head.block.number + 1);
        }
        self.phase = Phase::Idle;
        Ok(Outcome::Behind {
            newest: head.block.number,
            known: self.cursor.number,
        })
    }

    /// Searches for the newest known block that is still on the chain; the one at `gone` is not.
    pub(super) fn search_fork(&mut self, head: Head, gone: u64) -> Result<Outcome, StorageError> {
        let mut checkpoints = self.store.checkpoints()?;
        checkpoints.retain(|checkpoint| {
            checkpoint.block.number < gone && checkpoint.block.number <= head.block.number
        });
        self.on_search(head, ForkSearch::new(checkpoints))
    }

    pub(super) fn on_search(
        &mut self,
        head: Head,
        search: ForkSearch,
    ) -> Result<Outcome, StorageError> {
        let to = match search.found() {
            None => {
                self.phase = Phase::Fork { head, search };
                return Ok(Outcome::Going);
            }
            Some(Some(checkpoint)) => checkpoint,
            Some(None) => {
                self.unknown_forks += 1;
                if self.unknown_forks < MAX_UNKNOWN_FORKS {
                    return Ok(Outcome::UnknownFork);
                }
                let block = BlockRef {
                    number: self.store.before_first()?,
                    hash: Default::default(),
                };
                let version = Version(0);
                Checkpoint { block, version }
            }
        };
        self.rewind(&to, head.block.number)
    }

    /// Rolls back to a block that is on the chain. Its root is compared again before the state is accepted: a
    /// leaf read from the contract is as of a later block and may differ in this one.
    fn rewind(&mut self, to: &Checkpoint, head: u64) -> Result<Outcome, StorageError> {
        let undone = self.store.steps_after(to.version)?;
        let mut view = self.view.lock();
        let before: Vec<Fr> = view.orphans().copied().collect();
        view.roll_back(&undone, to.version);
        let new: Vec<Fr> = view
            .orphans()
            .filter(|root| !before.contains(root))
            .copied()
            .collect();
        let until = head.max(self.cursor.number) + ORPHAN_BLOCKS;
        self.store.rewind(to, &new, until)?;
        self.cursor = self.store.cursor()?;
        self.refill = true;
        drop(view);
        self.behind = 0;
        self.unknown_forks = 0;
        Ok(Outcome::RolledBack {
            to: to.block.number,
            changes: undone.len() as u64,
        })
    }
}
