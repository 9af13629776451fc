//! Comparison with history: stores list the hashes of their messages, and the client fetches the missing ones.
//!
//! Each listing begins where the store's last one ended, less an overlap. The overlap is longer every few minutes and
//! longest every hour ([`ListingDepth`](super::wanted::ListingDepth)). A message is therefore found if any store that
//! is known long enough holds it, whatever was interrupted in between; an interruption only makes the next comparison
//! come sooner.

use std::collections::VecDeque;
use std::time::Duration;

use undertone_gossip::Time;

use super::config::LightConfig;
use super::context::{CheckContext, FoundMessage};
use super::io::{Offence, Output, ServicePeerFailure};
use super::listing::{ListingStep, PageError, StoreListing};
use super::peers::PeerService;
use super::wanted::Chunk;
use crate::history::{HistoryPage, HistoryQuery};
use crate::{PeerNo, RequestNo};

/// Comparison with several stores, one after the other.
#[derive(Debug)]
struct Round {
    done: Vec<PeerNo>,
    /// Store being asked, with its remaining chunks.
    current: Option<(PeerNo, VecDeque<Chunk>)>,
    listing: Option<StoreListing>,
    /// Whether the current store has answered everything so far.
    is_complete: bool,
    /// Time before which no store can be chosen.
    not_before: Time,
}

#[derive(Debug)]
struct PendingCheck {
    request: RequestNo,
    store: PeerNo,
    deadline: Time,
}

/// Comparisons with history, one query at a time.
#[derive(Debug)]
pub(crate) struct Checks {
    due: Time,
    last: Option<Time>,
    round: Option<Round>,
    pending: Option<PendingCheck>,
}

impl Checks {
    pub(crate) fn new() -> Self {
        Self {
            due: Time::MAX,
            last: None,
            round: None,
            pending: None,
        }
    }

    /// Brings the next comparison forward, because messages may have been missed.
    pub(crate) fn hurry(&mut self, now: Time, config: &LightConfig) {
        let earliest = self
            .last
            .map_or(now, |last| last.after(config.check_spacing).max(now));
        self.due = self.due.min(earliest);
    }

    /// Drops the current comparison without blaming a store, because this machine slept.
    pub(crate) fn resumed(&mut self) {
        self.pending = None;
        self.round = None;
    }

    pub(crate) fn disconnected(&mut self, peer: PeerNo, context: &mut CheckContext<'_>) {
        if let Some(pending) = self.pending.take_if(|pending| pending.store == peer) {
            self.failed(pending.store, None, context);
        }
    }

    pub(crate) fn expire(&mut self, context: &mut CheckContext<'_>) {
        let now = context.now;
        let Some(pending) = self.pending.take_if(|pending| pending.deadline <= now) else {
            return;
        };
        let listing = self.round.as_mut().and_then(|round| round.listing.as_mut());
        match listing {
            // One lost answer is no reason to avoid a store for minutes.
            Some(listing) if !listing.is_repeated => listing.repeat(),
            Some(_) | None => self.failed(pending.store, None, context),
        }
    }

    /// Handles the answer to a query; returns the requested messages in it.
    pub(crate) fn answer(
        &mut self,
        request: RequestNo,
        answer: Result<HistoryPage, ServicePeerFailure>,
        context: &mut CheckContext<'_>,
    ) -> Vec<FoundMessage> {
        let Some(pending) = self.pending.take_if(|pending| pending.request == request) else {
            return Vec::new(); // A late answer, already counted as missing.
        };
        let store = pending.store;
        let page = match answer {
            Ok(page) => page,
            Err(failure) => {
                let retry_after = match failure {
                    ServicePeerFailure::Busy { retry_after } => retry_after,
                    ServicePeerFailure::NoAnswer
                    | ServicePeerFailure::NoSubscription
                    | ServicePeerFailure::Refused => None,
                };
                self.failed(store, retry_after, context);
                return Vec::new();
            }
        };
        let Some(listing) = self.round.as_mut().and_then(|round| round.listing.as_mut()) else {
            return Vec::new();
        };
        let (found, verdict) = listing.page(store, page, context.memory, context.config);
        match verdict {
            Ok(()) => context
                .pool
                .answered(context.now, store, PeerService::Store),
            Err(PageError::Wrong) => self.offended(store, Offence::WrongPage, context),
            Err(PageError::Hollow) => self.offended(store, Offence::HollowListing, context),
        }
        found
    }

    /// Records that a message could not be remembered, so that it is fetched again later.
    pub(crate) fn left_behind(&mut self) {
        if let Some(listing) = self.round.as_mut().and_then(|round| round.listing.as_mut()) {
            listing.has_gaps = true;
        }
    }

    fn offended(&mut self, peer: PeerNo, offence: Offence, context: &mut CheckContext<'_>) {
        context.out.push_back(Output::Misbehaved { peer, offence });
        context.pool.distrust(context.now, peer, PeerService::Store);
        self.gave_up(peer);
    }

    fn failed(
        &mut self,
        store: PeerNo,
        retry_after: Option<Duration>,
        context: &mut CheckContext<'_>,
    ) {
        context
            .pool
            .failed(context.now, store, PeerService::Store, retry_after);
        self.gave_up(store);
    }

    /// Handles a store that did not answer: its remaining questions and the messages that it listed go to other stores.
    fn gave_up(&mut self, store: PeerNo) {
        let Some(round) = &mut self.round else { return };
        let is_lister = round
            .current
            .as_ref()
            .is_some_and(|(lister, _)| *lister == store);
        if let Some(listing) = &mut round.listing {
            listing.source_failed(store, is_lister);
        }
        if is_lister {
            round.is_complete = false;
        }
    }

    /// Starts and continues a comparison until a query is in flight or nothing can be done now.
    pub(crate) fn drive(
        &mut self,
        context: &mut CheckContext<'_>,
        mut send: impl FnMut(PeerNo, HistoryQuery) -> RequestNo,
    ) {
        if context.wanted.is_empty() {
            *self = Self::new();
            return;
        }
        if self.due == Time::MAX {
            self.due = context.now;
        }
        while self.pending.is_none() {
            let now = context.now;
            let Some(round) = &mut self.round else {
                if self.due > now {
                    return;
                }
                self.start(context);
                continue;
            };
            if let Some(listing) = &mut round.listing {
                match listing.next(context) {
                    ListingStep::Ask(store, query) => {
                        self.pending = Some(PendingCheck {
                            request: send(store, query),
                            store,
                            deadline: now.after(context.config.store_timeout),
                        });
                        return;
                    }
                    ListingStep::Wait => return,
                    ListingStep::Done => round.finish_listing(context),
                }
                continue;
            }
            if !round.next_listing(context) {
                if round.done.len() >= context.config.stores_per_check || !round.has_more(context) {
                    self.round = None;
                    continue;
                }
                // If no store can answer now, the comparison is dropped once the next one is due.
                if self.due <= now {
                    self.round = None;
                    continue;
                }
                return;
            }
        }
    }

    fn start(&mut self, context: &mut CheckContext<'_>) {
        let config = context.config;
        self.last = Some(context.now);
        self.due = context.now.after(config.check_every);
        self.round = Some(Round {
            done: Vec::new(),
            current: None,
            listing: None,
            is_complete: true,
            not_before: context.now,
        });
    }

    pub(crate) fn next_timeout(&self) -> Time {
        if let Some(pending) = &self.pending {
            return pending.deadline;
        }
        match &self.round {
            None => self.due,
            // The pool keeps the deadline of the pending connection.
            Some(round) if round.listing.is_some() => Time::MAX,
            Some(round) if round.not_before == Time::MAX => self.due,
            Some(round) => round.not_before.min(self.due),
        }
    }
}

impl Round {
    /// Begins the next listing; returns `false` if no store can be asked now.
    fn next_listing(&mut self, context: &mut CheckContext<'_>) -> bool {
        let now = context.now;
        loop {
            let Some((store, chunks)) = &mut self.current else {
                if self.done.len() >= context.config.stores_per_check {
                    return false;
                }
                let is_done = |peer| self.done.contains(&peer);
                let Some(store) = context.pool.pick(now, PeerService::Store, None, is_done) else {
                    self.not_before =
                        context
                            .pool
                            .next_usable(now, PeerService::Store, None, is_done);
                    return false;
                };
                let size = context.config.limits.topics_per_query;
                self.current = Some((store, context.wanted.chunks(size).into()));
                self.is_complete = true;
                continue;
            };
            let store = *store;
            if !context.pool.usable(now, store, PeerService::Store, None) {
                // The store failed: its remaining chunks wait for its next turn.
                self.current = None;
                continue;
            }
            let Some(chunk) = chunks.pop_front() else {
                if self.is_complete {
                    self.done.push(store);
                } else {
                    // No store had the missing messages; asking again at once would not help.
                    context.pool.failed(now, store, PeerService::Store, None);
                }
                self.current = None;
                continue;
            };
            if let Some(listing) = StoreListing::begin(chunk, store, context) {
                self.listing = Some(listing);
                return true;
            }
        }
    }

    fn finish_listing(&mut self, context: &mut CheckContext<'_>) {
        if let Some(listing) = self.listing.take() {
            self.is_complete &= listing.finish(context.wanted);
        }
    }

    /// Whether any store is left that this comparison has not asked, even one in backoff.
    fn has_more(&self, context: &CheckContext<'_>) -> bool {
        self.not_before != Time::MAX && context.pool.offers(PeerService::Store, None)
    }
}
