//! State machine that follows a contract's newest roots and one path, without a clock or a socket.
//!
//! One call detects whether the contract's roots have changed. If so, the newest block is requested, and
//! everything else as of that block, identified by its hash, so that roots and path are consistent. No part
//! of the answers is used unless all of them are consistent.
//!
//! A contract without `getRecentRoots`, such as an older deployment, refuses that request. In that case
//! `root()` is followed, and the roots of the blocks since the last poll are searched for.

use std::sync::Arc;

use parking_lot::Mutex;
use undertone_rln::{Fr, MerklePath};

use super::between::Between;
use super::store::LightStore;
use super::view::{LightView, News, Own, OwnPlace};
use crate::evm::chain::{Answer, Ask, BlockRef, Next, Recent};
use crate::evm::follow::MAX_BEHIND;
use crate::registry::Member;
use crate::storage::StorageError;

/// Number of polls of `root()` after which recent roots are requested again, in case the contract was
/// upgraded. An hour of regular polls at the default interval.
const LOOKS_BY_ROOT: u32 = 120;

/// Result of processing an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LightOutcome {
    /// The follower has more questions.
    Going,
    /// The state is known up to the newest block; holds what changed.
    Synced(News),
    /// The endpoint's newest block is older than the newest known block.
    Behind {
        /// Height of the endpoint's newest block.
        newest: u64,
        /// Height of the newest known block.
        known: u64,
    },
    /// The endpoint's membership, path and root are inconsistent.
    Mismatch,
    /// The answer does not match the request.
    InvalidAnswer,
}

/// State machine of the follower in light mode.
#[derive(Debug)]
pub(super) struct LightFollower {
    store: Arc<LightStore>,
    view: Arc<Mutex<LightView>>,
    /// Commitment whose membership is followed.
    watched: Option<Fr>,
    /// The contract's roots as of the last processed block.
    last: Option<Recent>,
    /// Whether the last [`LightPhase::Glance`] reported changed roots.
    is_changed: bool,
    history: History,
    phase: LightPhase,
    behind: u32,
}

/// Which roots the contract can report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum History {
    /// The recent roots, unless it refuses.
    Roots,
    /// Only the newest root.
    Root {
        /// Number of polls since the contract refused the recent roots.
        looks: u32,
    },
}

#[derive(Debug)]
enum LightPhase {
    Idle,
    /// Asks whether the roots have changed.
    Glance,
    Head,
    Roots {
        at: BlockRef,
    },
    /// Searches for the roots since the last poll.
    Between {
        at: BlockRef,
        between: Between,
        height: u64,
    },
    Membership {
        at: BlockRef,
        recent: Recent,
        commitment: Fr,
        /// The member whose path did not lead to the root.
        misfit: Option<Member>,
    },
    Path {
        at: BlockRef,
        recent: Recent,
        member: Member,
        /// Whether the member was just requested, not remembered.
        is_fresh: bool,
    },
}

impl LightFollower {
    /// Creates a follower that keeps its state in `store` and `view`.
    pub(super) fn new(store: Arc<LightStore>, view: Arc<Mutex<LightView>>) -> Self {
        Self {
            store,
            view,
            watched: None,
            last: None,
            is_changed: false,
            history: History::Roots,
            phase: LightPhase::Head,
            behind: 0,
        }
    }

    /// Returns the height of the last processed block.
    pub(super) fn block(&self) -> u64 {
        let view = self.view.lock();
        view.known().block.map_or(0, |block| block.number)
    }

    /// Follows the membership of this commitment from now on.
    pub(super) fn watch(&mut self, commitment: Fr) {
        if self.watched.replace(commitment) != Some(commitment) {
            self.phase = LightPhase::Head;
        }
    }

    /// Starts a poll for news, if the follower is idle.
    pub(super) fn wake(&mut self) {
        if matches!(self.phase, LightPhase::Idle) {
            if let History::Root { looks } = self.history
                && looks >= LOOKS_BY_ROOT
            {
                self.history = History::Roots;
            }
            self.phase = self.beginning();
        }
    }

    /// Returns the first phase of a poll. If roots of replaced blocks are still accepted, it must find the
    /// height, because they expire by height.
    fn beginning(&self) -> LightPhase {
        let view = self.view.lock();
        let is_answered = self
            .watched
            .is_none_or(|commitment| view.membership(commitment).is_some());
        match self.last.is_some() && is_answered && view.known().orphans.is_empty() {
            true => LightPhase::Glance,
            false => LightPhase::Head,
        }
    }

    /// Returns the next action.
    pub(super) fn next(&self) -> Next {
        let is_kept = self.history == History::Roots;
        Next::Ask(match &self.phase {
            LightPhase::Idle => return Next::Idle,
            LightPhase::Glance if is_kept => Ask::Recent { at: None },
            LightPhase::Glance => Ask::RootOf { height: None },
            LightPhase::Head => Ask::Head,
            LightPhase::Roots { at } if is_kept => Ask::Recent { at: Some(*at) },
            LightPhase::Roots { at } => Ask::Root { at: *at },
            LightPhase::Between { height, .. } => Ask::RootOf {
                height: Some(*height),
            },
            LightPhase::Membership { at, commitment, .. } => Ask::Membership {
                commitment: *commitment,
                at: *at,
            },
            LightPhase::Path { at, member, .. } => Ask::Path {
                index: member.index,
                at: *at,
            },
        })
    }

    /// Records that the request failed; the poll starts again.
    pub(super) fn failed(&mut self) {
        self.is_changed = false;
        // A request after the refusal failed too: the refusal does not show that
        // `getRecentRoots` is missing.
        if self.history == (History::Root { looks: 0 }) {
            self.history = History::Roots;
        }
        self.phase = self.beginning();
    }

    /// Processes the answer to the request that [`Self::next`] returned.
    ///
    /// # Errors
    /// [`StorageError`] when the state cannot be stored; then nothing was changed.
    pub(super) fn answer(&mut self, answer: Answer) -> Result<LightOutcome, StorageError> {
        match (std::mem::replace(&mut self.phase, LightPhase::Head), answer) {
            (LightPhase::Glance, Answer::Recent(recent)) => Ok(self.on_glance(&recent)),
            (LightPhase::Head, Answer::Head(head)) => Ok(self.on_head(head.block)),
            (LightPhase::Roots { at }, Answer::Recent(recent)) => self.on_roots(at, recent),
            (phase @ (LightPhase::Glance | LightPhase::Roots { .. }), Answer::Refused) => {
                self.history = History::Root { looks: 0 };
                self.phase = phase;
                Ok(LightOutcome::Going)
            }
            (LightPhase::Glance, Answer::Root(root)) => Ok(self.on_glance(&only(root))),
            (LightPhase::Roots { at }, Answer::Root(root)) => self.on_root(at, root),
            (
                LightPhase::Between {
                    at,
                    mut between,
                    height,
                },
                Answer::Root(root),
            ) => {
                between.take(height, root);
                self.search(at, between)
            }
            // The endpoint no longer has the state of older blocks.
            (LightPhase::Between { at, between, .. }, Answer::Refused) => {
                self.on_roots(at, between.roots())
            }
            (
                LightPhase::Membership {
                    at, recent, misfit, ..
                },
                Answer::Membership(member),
            ) => match member {
                None => self.take(at, recent, None),
                // The same member as before, whose path did not lead to the root.
                Some(_) if member == misfit => Ok(self.mismatch()),
                Some(member) => {
                    self.phase = LightPhase::Path {
                        at,
                        recent,
                        member,
                        is_fresh: true,
                    };
                    Ok(LightOutcome::Going)
                }
            },
            (
                LightPhase::Path {
                    at,
                    recent,
                    member,
                    is_fresh,
                },
                Answer::Path(siblings),
            ) => {
                let path = MerklePath {
                    index: member.index.get(),
                    siblings: *siblings,
                };
                let place = OwnPlace { member, path };
                if place.leads_to(recent.roots.last()) {
                    return self.take(at, recent, Some(place));
                }
                if is_fresh {
                    return Ok(self.mismatch());
                }
                self.phase = LightPhase::Membership {
                    at,
                    recent,
                    commitment: member.commitment,
                    misfit: Some(member),
                };
                Ok(LightOutcome::Going)
            }
            _ => Ok(LightOutcome::InvalidAnswer),
        }
    }

    fn on_glance(&mut self, recent: &Recent) -> LightOutcome {
        self.is_changed = self.last.as_ref() != Some(recent);
        if self.is_changed {
            return LightOutcome::Going;
        }
        self.looked();
        LightOutcome::Synced(News::default())
    }

    fn looked(&mut self) {
        if let History::Root { looks } = &mut self.history {
            *looks += 1;
        }
        self.phase = LightPhase::Idle;
    }

    fn on_head(&mut self, head: BlockRef) -> LightOutcome {
        let known = self.block();
        if head.number < known && self.behind < MAX_BEHIND {
            self.behind += 1;
            self.phase = LightPhase::Idle;
            return LightOutcome::Behind {
                newest: head.number,
                known,
            };
        }
        self.behind = 0;
        self.phase = LightPhase::Roots { at: head };
        LightOutcome::Going
    }

    /// Handles the root of a contract that reports no others.
    fn on_root(&mut self, at: BlockRef, root: Fr) -> Result<LightOutcome, StorageError> {
        let view = self.view.lock();
        let known = view.known();
        let before = match (known.block, known.roots.last()) {
            (Some(block), Some(last)) if *last != root => block.number,
            _ => at.number,
        };
        drop(view);
        self.search(at, Between::new(before, at.number, root))
    }

    fn search(&mut self, at: BlockRef, between: Between) -> Result<LightOutcome, StorageError> {
        let Some(height) = between.next() else {
            return self.on_roots(at, between.roots());
        };
        self.phase = LightPhase::Between {
            at,
            between,
            height,
        };
        Ok(LightOutcome::Going)
    }

    /// Returns the answer to a glance if nothing has changed.
    fn glimpse(&self, recent: &Recent) -> Recent {
        match self.history {
            History::Roots => recent.clone(),
            History::Root { .. } => recent.newest(1),
        }
    }

    fn on_roots(&mut self, at: BlockRef, recent: Recent) -> Result<LightOutcome, StorageError> {
        let is_same = self.last == Some(self.glimpse(&recent));
        if is_same && self.is_changed {
            // Several nodes may serve the endpoint, and not all of them know the newest block.
            self.is_changed = false;
            self.phase = LightPhase::Idle;
            return Ok(LightOutcome::Behind {
                newest: at.number,
                known: at.number + 1,
            });
        }
        let Some(commitment) = self.watched else {
            return self.commit(at, recent, None);
        };
        let own = self.view.lock().known().own.clone();
        let own = own.filter(|own| own.commitment == commitment);
        self.phase = match own {
            // The tree is unchanged, and so are paths and members.
            Some(own) if is_same => return self.commit(at, recent, Some(own)),
            Some(Own {
                place: Some(OwnPlace { member, .. }),
                ..
            }) => LightPhase::Path {
                at,
                recent,
                member,
                is_fresh: false,
            },
            _ => LightPhase::Membership {
                at,
                recent,
                commitment,
                misfit: None,
            },
        };
        Ok(LightOutcome::Going)
    }

    fn mismatch(&mut self) -> LightOutcome {
        self.is_changed = false;
        LightOutcome::Mismatch
    }

    fn take(
        &mut self,
        at: BlockRef,
        recent: Recent,
        place: Option<OwnPlace>,
    ) -> Result<LightOutcome, StorageError> {
        let own = self.watched.map(|commitment| Own { commitment, place });
        self.commit(at, recent, own)
    }

    fn commit(
        &mut self,
        at: BlockRef,
        recent: Recent,
        own: Option<Own>,
    ) -> Result<LightOutcome, StorageError> {
        let mut view = self.view.lock().clone();
        let news = view.take(at, &recent, own);
        self.store.save(view.known())?;
        *self.view.lock() = view;
        self.last = Some(self.glimpse(&recent));
        self.is_changed = false;
        self.looked();
        Ok(LightOutcome::Synced(news))
    }
}

/// The roots of a contract that reports only the newest.
fn only(root: Fr) -> Recent {
    Recent {
        roots: vec![root],
        is_full: true,
    }
}

#[cfg(test)]
mod tests;
