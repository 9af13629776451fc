//! State machine that follows a contract. It has no clock and no socket, only questions and answers.
//!
//! No state is accepted before the tree's root was compared with the contract's root as of the same block,
//! identified by its hash. This detects whatever an endpoint omits, invents or takes from another block. It
//! also detects erased members whose leaf was emptied without an event.

use std::sync::Arc;

use super::chain::{Answer, Ask, BlockRef, ContractEvent, Head, Next};
use super::store::{BlockCursor, Store};
use crate::storage::StorageError;
use crate::view::MembershipView;
use parking_lot::Mutex;

mod draft;
mod fork;
mod heads;
mod pages;
mod range;
mod repair;

use fork::ForkSearch;
use pages::near;
pub(super) use range::Range;
use repair::Repair;

/// Number of blocks below the newest for which roots are requested and hashes remembered. Deeper
/// blocks are assumed to be final, until the root shows otherwise.
const NEAR_BLOCKS: u64 = 1024;

/// Number of blocks for which the roots of abandoned blocks stay accepted.
pub(super) const ORPHAN_BLOCKS: u64 = 32;

/// Number of consecutive older heads that are attributed to a lagging endpoint. After that, the chain is
/// assumed to have become shorter.
pub(super) const MAX_BEHIND: u32 = 12;

/// Consecutive heads without any known block after which everything is read again.
const MAX_UNKNOWN_FORKS: u32 = 3;

/// Result of processing an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The follower has more questions.
    Going,
    /// The state is known up to the newest block, and its root was compared.
    Synced,
    /// The chain was reorganised; changes of abandoned blocks were undone.
    RolledBack {
        /// Height of the last common block.
        to: u64,
        /// Number of leaf changes that were undone.
        changes: u64,
    },
    /// The endpoint's newest block is older than the newest known block.
    Behind {
        /// Height of the endpoint's newest block.
        newest: u64,
        /// Height of the newest known block.
        known: u64,
    },
    /// The endpoint's chain has none of the known blocks.
    UnknownFork,
    /// The endpoint's events do not lead to its root.
    Mismatch,
    /// The answer does not match the request.
    InvalidAnswer,
}

/// The kind of failure of a request, as far as the follower distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestFailure {
    /// The request was too large; one for fewer blocks or leaves may be answered.
    TooMuch,
    /// Any other failure.
    Other,
}

/// State machine of the follower in full mode.
#[derive(Debug)]
pub(super) struct Follower {
    store: Arc<Store>,
    view: Arc<Mutex<MembershipView>>,
    cursor: BlockCursor,
    head: Option<BlockRef>,
    phase: Phase,
    range: Range,
    leaves_at_once: u32,
    /// Whether the accepted roots must be rebuilt from the stored changes.
    refill: bool,
    mismatches: u32,
    behind: u32,
    unknown_forks: u32,
}

#[derive(Debug)]
enum Phase {
    Idle,
    Head,
    /// Asks whether a known block is still on the chain.
    Probe {
        head: Head,
        checkpoint: BlockRef,
    },
    Fork {
        head: Head,
        search: ForkSearch,
    },
    /// Asks for the next page of events, and before that for the hash of the page's last block. Otherwise a
    /// block without events could be replaced unnoticed by one that has some.
    Pages {
        head: BlockRef,
        end: Option<BlockRef>,
    },
    /// One page of several was received: asks whether the newest block known before it is still on
    /// the chain. If not, the page is of another fork than the state it would be added to.
    Check {
        head: BlockRef,
        end: BlockRef,
        events: Vec<ContractEvent>,
        checkpoint: BlockRef,
    },
    State {
        head: BlockRef,
        events: Vec<ContractEvent>,
    },
    Repair(Repair),
}

impl Follower {
    /// Creates a follower that continues from `store`, and sets `view` to the stored state.
    pub(super) fn new(
        store: Arc<Store>,
        view: Arc<Mutex<MembershipView>>,
        range: Range,
    ) -> Result<Self, StorageError> {
        let mut follower = Self {
            cursor: store.cursor()?,
            store,
            view,
            head: None,
            phase: Phase::Head,
            range,
            leaves_at_once: repair::MAX_LEAVES,
            refill: true,
            mismatches: 0,
            behind: 0,
            unknown_forks: 0,
        };
        follower.restore()?;
        Ok(follower)
    }

    /// Sets the view to the stored state, at the start and after an error of the store.
    pub(super) fn restore(&mut self) -> Result<(), StorageError> {
        self.cursor = self.store.cursor()?;
        let version = self.store.version()?;
        let leaves = self.store.leaves()?;
        let unaccepted = self.store.steps_after(self.cursor.accepted)?;
        let mut view = self.view.lock();
        let tail = self.store.tail(self.cursor.accepted, view.window())?;
        view.clear_tree();
        view.write(&leaves, version);
        let back: Vec<_> = unaccepted.iter().map(|s| (s.index, s.before)).collect();
        let forth: Vec<_> = unaccepted
            .iter()
            .rev()
            .map(|s| (s.index, s.after))
            .collect();
        view.write(&back, version);
        view.accept(&tail, true);
        view.write(&forth, version);
        view.set_orphans(self.store.orphans()?);
        drop(view);
        self.refill = true;
        self.phase = Phase::Head;
        Ok(())
    }

    /// Returns the height of the last processed block.
    pub(super) fn block(&self) -> u64 {
        self.cursor.number
    }

    /// Returns the newest block that an endpoint reported.
    pub(super) fn head(&self) -> Option<BlockRef> {
        self.head
    }

    /// Skips the blocks up to `block`, before the contract's deployment. Returns whether it did;
    /// then [`Self::next`] has changed.
    ///
    /// # Errors
    /// [`StorageError`] when the store cannot be read or written.
    pub(super) fn skip_to(&mut self, block: u64) -> Result<bool, StorageError> {
        let skips = self.cursor.number == self.store.before_first()? && block > self.cursor.number;
        if skips {
            self.store.begin_after(block)?;
            self.cursor = self.store.cursor()?;
            self.phase = Phase::Head;
        }
        Ok(skips)
    }

    /// Starts a poll for news, if the follower is idle.
    pub(super) fn wake(&mut self) {
        if matches!(self.phase, Phase::Idle) {
            self.phase = Phase::Head;
        }
    }

    /// Returns the next action.
    pub(super) fn next(&self) -> Next {
        let ask = match &self.phase {
            Phase::Idle => return Next::Idle,
            Phase::Head => Ask::Head,
            Phase::Probe { checkpoint, .. } | Phase::Check { checkpoint, .. } => Ask::Header {
                number: checkpoint.number,
            },
            Phase::Fork { search, .. } => Ask::Header {
                number: search.middle().block.number,
            },
            Phase::Pages { head, end } => self.page(head, *end),
            Phase::State { head, .. } => Ask::Root { at: *head },
            Phase::Repair(repair) => repair.ask(self.leaves_at_once),
        };
        Next::Ask(ask)
    }

    /// Asks for the header of the page's last block or, once that is known, for the page's events.
    fn page(&self, head: &BlockRef, end: Option<BlockRef>) -> Ask {
        let from = self.cursor.number + 1;
        let near = near(head);
        let roots = from > near;
        let last = if roots { head.number } else { near };
        let to = self.range.end(from).min(last);
        if to < head.number && end.is_none() {
            return Ask::Header { number: to };
        }
        Ask::Events { from, to, roots }
    }

    /// Processes the answer to the request that [`Self::next`] returned.
    ///
    /// # Errors
    /// [`StorageError`] of the store; call [`Self::restore`] before going on.
    pub(super) fn answer(&mut self, answer: Answer) -> Result<Outcome, StorageError> {
        let asked = self.next();
        let phase = std::mem::replace(&mut self.phase, Phase::Head);
        match (phase, answer) {
            (Phase::Head, Answer::Head(head)) => self.on_head(head),
            (Phase::Probe { head, checkpoint }, Answer::Header(found)) => {
                if found.hash != checkpoint.hash {
                    self.search_fork(head, checkpoint.number)
                } else if head.block.number < self.cursor.number {
                    self.on_behind(head)
                } else {
                    self.go_on(head.block)
                }
            }
            (Phase::Fork { head, mut search }, Answer::Header(found)) => {
                search.narrow(found.hash);
                self.on_search(head, search)
            }
            (Phase::Pages { head, end: None }, Answer::Header(found))
                if asked
                    == Next::Ask(Ask::Header {
                        number: found.number,
                    }) =>
            {
                self.phase = Phase::Pages {
                    head,
                    end: Some(found),
                };
                Ok(Outcome::Going)
            }
            (Phase::Pages { head, end }, Answer::Events(events))
                if matches!(asked, Next::Ask(Ask::Events { .. })) =>
            {
                self.range.answered(events.len());
                let end = end.unwrap_or(head);
                let is_one_of_many = self.cursor.hash.is_none() || end != head;
                match self.store.checkpoints()?.last() {
                    Some(checkpoint) if is_one_of_many => {
                        let checkpoint = checkpoint.block;
                        self.phase = Phase::Check {
                            head,
                            end,
                            events,
                            checkpoint,
                        };
                        Ok(Outcome::Going)
                    }
                    _ => self.on_page(head, end, events),
                }
            }
            (
                Phase::Check {
                    head,
                    end,
                    events,
                    checkpoint,
                },
                Answer::Header(found),
            ) => match found.hash == checkpoint.hash {
                true => self.on_page(head, end, events),
                // The next head leads to a search for the fork.
                false => Ok(Outcome::Going),
            },
            (Phase::State { head, events }, Answer::Root(root)) => {
                self.compare(Repair::new(head, events, root))
            }
            (Phase::Repair(mut repair), answer) => {
                let fits = match answer {
                    Answer::Count(count) => repair.counted(count),
                    Answer::Leaves(leaves) => repair.take(leaves, self.leaves_at_once),
                    _ => false,
                };
                if !fits {
                    return Ok(Outcome::InvalidAnswer);
                }
                if !repair.is_done() {
                    self.phase = Phase::Repair(repair);
                    return Ok(Outcome::Going);
                }
                self.compare(repair)
            }
            _ => Ok(Outcome::InvalidAnswer),
        }
    }

    /// Records that the request failed: requests less, or starts again with the newest block.
    pub(super) fn failed(&mut self, failure: RequestFailure) {
        if failure == RequestFailure::TooMuch {
            match self.next() {
                Next::Ask(Ask::Events { from, to, .. }) if self.range.refused(to - from + 1) => {
                    if let Phase::Pages { end, .. } = &mut self.phase {
                        *end = None;
                    }
                    return;
                }
                Next::Ask(Ask::Leaves { first, last, .. }) if last > first => {
                    self.leaves_at_once = (last - first).div_ceil(2);
                    return;
                }
                _ => {}
            }
        }
        self.phase = Phase::Head;
    }
}

#[cfg(test)]
mod tests;
