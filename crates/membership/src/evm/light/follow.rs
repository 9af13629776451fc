//! What to ask of a contract for its newest roots and one path: without a clock or a socket.
//!
//! As long as the contract's roots are what they were, one call says so. Otherwise the newest block
//! is asked for, and everything as of that block, named by its hash, so that roots and path fit
//! together. Nothing of an answer is used unless all of it fits.
//!
//! A contract without `getRecentRoots`, as older deployments are, refuses that question. Then its
//! `root()` is followed, and the roots of the blocks since the last look are searched for.

use std::sync::{Arc, Mutex};

use undertone_rln::{Fr, MerklePath};

use super::between::Between;
use super::store::Store;
use super::view::{LightView, News, Own, Place};
use crate::evm::chain::{Answer, Ask, BlockRef, Next, Recent};
use crate::evm::follow::MAX_BEHIND;
use crate::evm::signals::lock;
use crate::registry::Member;
use crate::sqlite::StorageError;

/// Looks at `root()` after which the contract is asked for recent roots again: it may have been
/// upgraded. An hour of looks without demand.
const LOOKS_BY_ROOT: u32 = 120;

/// What an answer led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There is more to ask.
    Going,
    /// All is known; with what differs from before.
    Synced(News),
    /// The endpoint's newest block is older than what is known.
    Behind {
        /// Its height.
        newest: u64,
        /// Height of what is known.
        known: u64,
    },
    /// Membership, path and root of the endpoint do not fit together.
    Mismatch,
    /// The answer is none to the question.
    Nonsense,
}

/// The state machine.
#[derive(Debug)]
pub(super) struct Follower {
    store: Arc<Store>,
    view: Arc<Mutex<LightView>>,
    /// Whose membership is wanted.
    watched: Option<Fr>,
    /// The contract's roots as of the last block that was taken in.
    last: Option<Recent>,
    /// The contract's roots have changed, it was said.
    is_changed: bool,
    history: History,
    phase: Phase,
    behind: u32,
}

/// Which roots the contract tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum History {
    /// Recent ones, as far as is known.
    Roots,
    /// The newest alone.
    Root {
        /// Looks since it refused to tell more.
        looks: u32,
    },
}

#[derive(Debug)]
enum Phase {
    Idle,
    /// Whether anything has changed.
    Glance,
    Head,
    Roots {
        at: BlockRef,
    },
    /// Which roots there were since the last look.
    Between {
        at: BlockRef,
        between: Between,
        height: u64,
    },
    Membership {
        at: BlockRef,
        recent: Recent,
        commitment: Fr,
        /// Whose path did not fit.
        misfit: Option<Member>,
    },
    Path {
        at: BlockRef,
        recent: Recent,
        member: Member,
        /// Whether the contract was asked for the member just now.
        is_fresh: bool,
    },
}

impl Follower {
    /// A follower that keeps what it learns in `store` and `view`.
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

    /// Height of the block that is known.
    pub(super) fn block(&self) -> u64 {
        let view = lock(&self.view);
        view.known().block.map_or(0, |block| block.number)
    }

    /// From now on the membership of this commitment is wanted.
    pub(super) fn watch(&mut self, commitment: Fr) {
        if self.watched.replace(commitment) != Some(commitment) {
            self.phase = Phase::Head;
        }
    }

    /// Looks for news.
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

    /// Where a look begins. Roots of replaced blocks go by the height, so that has to be known.
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

    /// What to do.
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

    /// Takes note that there is no answer.
    pub(super) fn failed(&mut self) {
        self.is_changed = false;
        // It was not the function that was missing.
        if self.history == (History::Root { looks: 0 }) {
            self.history = History::Roots;
        }
        self.phase = self.beginning();
    }

    /// Takes the answer to what [`Self::next`] said.
    ///
    /// # Errors
    /// When it cannot be stored. Then nothing was taken in.
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
            // The state of older blocks is not there any more.
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
                // The same place again, whose path does not fit.
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

    /// The root of a contract that keeps no others.
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

    /// What a glance is to show as long as nothing changes.
    fn glimpse(&self, recent: &Recent) -> Recent {
        match self.history {
            History::Roots => recent.clone(),
            History::Root { .. } => recent.newest(1),
        }
    }

    fn on_roots(&mut self, at: BlockRef, recent: Recent) -> Result<Outcome, StorageError> {
        let is_same = self.last == Some(self.glimpse(&recent));
        if is_same && self.is_changed {
            // The endpoint is several, and not all of them know the newest block.
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
            // The same tree has the same paths, and the same members.
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

/// All that a contract tells that keeps no recent roots.
fn only(root: Fr) -> Recent {
    Recent {
        roots: vec![root],
        is_full: true,
    }
}

#[cfg(test)]
mod tests;
