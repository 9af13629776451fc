//! State machine that follows a contract's newest roots and one path, without a clock or a socket.
//!
//! One call tells whether the contract's roots have changed. If so, the newest block is requested,
//! and all else as of that block, named by its hash, so that roots and path are consistent. No part
//! of the answers is used unless all of them are consistent.
//!
//! A contract without `getRecentRoots`, such as an older deployment, refuses that request. Then its
//! `root()` is followed, and the roots of the blocks since the last poll are searched for.

use std::sync::{Arc, Mutex};

use undertone_rln::{Fr, MerklePath};

use super::between::Between;
use super::store::Store;
use super::view::{LightView, News, Own, Place};
use crate::evm::chain::{Answer, Ask, BlockRef, Next, Recent};
use crate::evm::follow::MAX_BEHIND;
use crate::evm::signals::lock;
use crate::registry::Member;
use crate::storage::StorageError;

/// Number of polls of `root()` after which recent roots are requested again, in case the contract
/// was upgraded: an hour of regular polls at the default interval.
const LOOKS_BY_ROOT: u32 = 120;

/// Result of processing an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The follower has more questions.
    Going,
    /// The state is known up to the newest block; with what changed.
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
    Nonsense,
}

/// State machine of the follower in light mode.
#[derive(Debug)]
pub(super) struct Follower {
    store: Arc<Store>,
    view: Arc<Mutex<LightView>>,
    /// Commitment whose membership is followed.
    watched: Option<Fr>,
    /// The contract's roots as of the last processed block.
    last: Option<Recent>,
    /// Whether the last glance reported changed roots.
    is_changed: bool,
    history: History,
    phase: Phase,
    behind: u32,
}

/// Roots that the contract can report.
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
enum Phase {
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

impl Follower {
    /// Creates a follower that keeps its state in `store` and `view`.
    pub(super) fn new(store: Arc<Store>, view: Arc<Mutex<LightView>>) -> Self {
        Self {
            store,
            view,
            watched: None,
            last: None,
            is_changed: false,
            history: History::Roots,
            phase: Phase::Head,
            behind: 0,
        }
    }

    /// Returns the height of the last processed block.
    pub(super) fn block(&self) -> u64 {
        let view = lock(&self.view);
        view.known().block.map_or(0, |block| block.number)
    }

    /// Follows the membership of this commitment from now on.
    pub(super) fn watch(&mut self, commitment: Fr) {
        if self.watched.replace(commitment) != Some(commitment) {
            self.phase = Phase::Head;
        }
    }

    /// Starts a poll for news, if the follower is idle.
    pub(super) fn wake(&mut self) {
        if matches!(self.phase, Phase::Idle) {
            if let History::Root { looks } = self.history
                && looks >= LOOKS_BY_ROOT
            {
                self.history = History::Roots;
            }
            self.phase = self.beginning();
        }
    }

    /// Returns the first phase of a poll. Roots of replaced blocks expire by height, which then has
    /// to be known.
    fn beginning(&self) -> Phase {
        let view = lock(&self.view);
        let is_answered = self
            .watched
            .is_none_or(|commitment| view.membership(commitment).is_some());
        match self.last.is_some() && is_answered && view.known().orphans.is_empty() {
            true => Phase::Glance,
            false => Phase::Head,
        }
    }

    /// Returns the next action.
    pub(super) fn next(&self) -> Next {
        let is_kept = self.history == History::Roots;
        Next::Ask(match &self.phase {
            Phase::Idle => return Next::Idle,
            Phase::Glance if is_kept => Ask::Recent { at: None },
            Phase::Glance => Ask::RootOf { height: None },
            Phase::Head => Ask::Head,
            Phase::Roots { at } if is_kept => Ask::Recent { at: Some(*at) },
            Phase::Roots { at } => Ask::Root { at: *at },
            Phase::Between { height, .. } => Ask::RootOf {
                height: Some(*height),
            },
            Phase::Membership { at, commitment, .. } => Ask::Membership {
                commitment: *commitment,
                at: *at,
            },
            Phase::Path { at, member, .. } => Ask::Path {
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
    pub(super) fn answer(&mut self, answer: Answer) -> Result<Outcome, StorageError> {
        match (std::mem::replace(&mut self.phase, Phase::Head), answer) {
            (Phase::Glance, Answer::Recent(recent)) => Ok(self.on_glance(&recent)),
            (Phase::Head, Answer::Head(head)) => Ok(self.on_head(head.block)),
            (Phase::Roots { at }, Answer::Recent(recent)) => self.on_roots(at, recent),
            (phase @ (Phase::Glance | Phase::Roots { .. }), Answer::Refused) => {
                self.history = History::Root { looks: 0 };
                self.phase = phase;
                Ok(Outcome::Going)
            }
            (Phase::Glance, Answer::Root(root)) => Ok(self.on_glance(&only(root))),
            (Phase::Roots { at }, Answer::Root(root)) => self.on_root(at, root),
            (
                Phase::Between {
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
            (Phase::Between { at, between, .. }, Answer::Refused) => {
                self.on_roots(at, between.roots())
            }
            (
                Phase::Membership {
                    at, recent, misfit, ..
                },
                Answer::Membership(member),
            ) => match member {
                None => self.take(at, recent, None),
                // The same member again, whose path does not lead to the root.
                Some(_) if member == misfit => Ok(self.mismatch()),
                Some(member) => {
                    self.phase = Phase::Path {
                        at,
                        recent,
                        member,
                        is_fresh: true,
                    };
                    Ok(Outcome::Going)
                }
            },
            (
                Phase::Path {
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
                let place = Place { member, path };
                if place.leads_to(recent.roots.last()) {
                    return self.take(at, recent, Some(place));
                }
                if is_fresh {
                    return Ok(self.mismatch());
                }
                self.phase = Phase::Membership {
                    at,
                    recent,
                    commitment: member.commitment,
                    misfit: Some(member),
                };
                Ok(Outcome::Going)
            }
            _ => Ok(Outcome::Nonsense),
        }
    }

    fn on_glance(&mut self, recent: &Recent) -> Outcome {
        self.is_changed = self.last.as_ref() != Some(recent);
        if self.is_changed {
            return Outcome::Going;
        }
        self.looked();
        Outcome::Synced(News::default())
    }

    fn looked(&mut self) {
        if let History::Root { looks } = &mut self.history {
            *looks += 1;
        }
        self.phase = Phase::Idle;
    }

    fn on_head(&mut self, head: BlockRef) -> Outcome {
        let known = self.block();
        if head.number < known && self.behind < MAX_BEHIND {
            self.behind += 1;
            self.phase = Phase::Idle;
            return Outcome::Behind {
                newest: head.number,
                known,
            };
        }
        self.behind = 0;
        self.phase = Phase::Roots { at: head };
        Outcome::Going
    }

    /// Handles the root of a contract that reports no others.
    fn on_root(&mut self, at: BlockRef, root: Fr) -> Result<Outcome, StorageError> {
        let view = lock(&self.view);
        let known = view.known();
        let before = match (known.block, known.roots.last()) {
            (Some(block), Some(last)) if *last != root => block.number,
            _ => at.number,
        };
        drop(view);
        self.search(at, Between::new(before, at.number, root))
    }

    fn search(&mut self, at: BlockRef, between: Between) -> Result<Outcome, StorageError> {
        let Some(height) = between.next() else {
            return self.on_roots(at, between.roots());
        };
        self.phase = Phase::Between {
            at,
            between,
            height,
        };
        Ok(Outcome::Going)
    }

    /// Returns the answer to a glance that means that nothing has changed.
    fn glimpse(&self, recent: &Recent) -> Recent {
        match self.history {
            History::Roots => recent.clone(),
            History::Root { .. } => recent.newest(1),
        }
    }

    fn on_roots(&mut self, at: BlockRef, recent: Recent) -> Result<Outcome, StorageError> {
        let is_same = self.last == Some(self.glimpse(&recent));
        if is_same && self.is_changed {
            // There are several nodes behind the endpoint, and not all of them know the newest block.
            self.is_changed = false;
            self.phase = Phase::Idle;
            return Ok(Outcome::Behind {
                newest: at.number,
                known: at.number + 1,
            });
        }
        let Some(commitment) = self.watched else {
            return self.commit(at, recent, None);
        };
        let own = lock(&self.view).known().own.clone();
        let own = own.filter(|own| own.commitment == commitment);
        self.phase = match own {
            // The tree is unchanged, and so are paths and members.
            Some(own) if is_same => return self.commit(at, recent, Some(own)),
            Some(Own {
                place: Some(Place { member, .. }),
                ..
            }) => Phase::Path {
                at,
                recent,
                member,
                is_fresh: false,
            },
            _ => Phase::Membership {
                at,
                recent,
                commitment,
                misfit: None,
            },
        };
        Ok(Outcome::Going)
    }

    fn mismatch(&mut self) -> Outcome {
        self.is_changed = false;
        Outcome::Mismatch
    }

    fn take(
        &mut self,
        at: BlockRef,
        recent: Recent,
        place: Option<Place>,
    ) -> Result<Outcome, StorageError> {
        let own = self.watched.map(|commitment| Own { commitment, place });
        self.commit(at, recent, own)
    }

    fn commit(
        &mut self,
        at: BlockRef,
        recent: Recent,
        own: Option<Own>,
    ) -> Result<Outcome, StorageError> {
        let mut view = lock(&self.view).clone();
        let news = view.take(at, &recent, own);
        self.store.save(view.known())?;
        *lock(&self.view) = view;
        self.last = Some(self.glimpse(&recent));
        self.is_changed = false;
        self.looked();
        Ok(Outcome::Synced(news))
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
