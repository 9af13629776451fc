//! Missing messages: their holders, their open requests, and the time of the next request.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::record::{
    AskWindow, Asked, AskedPeer, Holder, InFlightLimits, Missing, OpenRequest, Waiting,
};
use super::reliability::Reliability;
use crate::limits::Limits;
use crate::time::Time;
use crate::types::{MessageId, PeerIx};

/// Limits on what the fetcher remembers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FetcherLimits {
    /// Maximum number of open requests, over all peers and messages.
    pub(crate) requests_max: usize,
    /// Maximum number of missing messages with holders to ask later.
    pub(crate) waiting_max: usize,
    /// Maximum number of holders to ask later, for each message.
    pub(crate) holders_max: usize,
}

impl From<&Limits> for FetcherLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            requests_max: limits.promises_max,
            waiting_max: limits.promises_max,
            holders_max: limits.holders_per_id_max,
        }
    }
}

/// Counts of unanswered requests since the last heartbeat, by peer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Unanswered {
    /// Requests that became overdue, by peer.
    pub(crate) overdue: BTreeMap<PeerIx, u32>,
    /// Requests that expired (broken promises), by peer.
    pub(crate) broken: BTreeMap<PeerIx, u32>,
}

/// Missing messages, one record for each, bounded in number.
#[derive(Debug)]
pub(crate) struct Fetcher {
    missing: BTreeMap<MessageId, Missing>,
    /// Ids with holders to ask, by the time at which they are due.
    due: BTreeSet<(Time, MessageId)>,
    /// Ids that would be asked for now if no long frame were in transit.
    on_hold: BTreeSet<MessageId>,
    requests: usize,
    /// Time after which an unanswered request is a broken promise.
    followup: Duration,
    limits: FetcherLimits,
}

impl Fetcher {
    pub(crate) fn new(followup: Duration, limits: FetcherLimits) -> Self {
        Self {
            missing: BTreeMap::new(),
            due: BTreeSet::new(),
            on_hold: BTreeSet::new(),
            requests: 0,
            followup,
            limits,
        }
    }

    /// Whether a request for `id` to the peer is open.
    pub(crate) fn is_asked(&self, id: &MessageId, peer: PeerIx) -> bool {
        self.missing.get(id).is_some_and(|m| m.is_asked(peer))
    }

    /// Returns how many more peers of that reliability may be asked for `id` now.
    pub(crate) fn places(
        &self,
        id: &MessageId,
        reliability: Reliability,
        limits: InFlightLimits,
    ) -> usize {
        let unknown = Missing::default();
        let missing = self.missing.get(id).unwrap_or(&unknown);
        missing.places(reliability, limits)
    }

    /// Returns the number of requests for `id` that were given up, except those to trusted peers.
    pub(crate) fn failed(&self, id: &MessageId, now: Time) -> usize {
        self.missing.get(id).map_or(0, |m| m.failed(now))
    }

    /// Time at which the first of the current requests for `id` to dubious peers is given up.
    pub(crate) fn dubious_until(&self, id: &MessageId, now: Time) -> Option<Time> {
        self.missing.get(id)?.dubious_until(now)
    }

    /// Returns the number of requests that may still be made.
    pub(crate) fn room(&self) -> usize {
        self.limits.requests_max.saturating_sub(self.requests)
    }

    /// Returns how many more missing messages may wait to be requested.
    pub(crate) fn room_to_wait(&self) -> usize {
        self.limits.waiting_max.saturating_sub(self.due.len())
    }

    /// Records requests to one peer.
    pub(crate) fn on_asked(&mut self, wanted: &[Asked], asked: AskedPeer, now: Time) {
        for Asked { id, is_binding } in wanted {
            let request = OpenRequest {
                peer: asked.peer,
                reliability: asked.reliability,
                given_up: now.after(asked.patience),
                expires: now.after(self.followup),
                is_binding: *is_binding,
                is_overdue: false,
            };
            let missing = self.missing.entry(*id).or_default();
            missing.requests.push(request);
            self.requests += 1;
        }
    }

    /// Records that `holder` has a missing message, to be requested in `window` or at the time already set if
    /// that is sooner. If the list of holders is full, one that is worse by `is_worse` is replaced.
    pub(crate) fn ask_later(
        &mut self,
        id: MessageId,
        holder: Holder,
        window: AskWindow,
        is_worse: impl Fn(PeerIx, PeerIx) -> bool,
    ) {
        let missing = self.missing.get_mut(&id);
        if let Some(waiting) = missing.and_then(|missing| missing.waiting.as_mut()) {
            waiting.note(holder, self.limits.holders_max, is_worse);
            if window.due < waiting.window.due && !self.on_hold.contains(&id) {
                self.reschedule(id, window.due);
            }
            return;
        }
        // An id that does not fit is not lost: it is advertised again at the next heartbeat.
        if self.room_to_wait() > 0 {
            self.due.insert((window.due, id));
            let holders = vec![holder];
            self.missing.entry(id).or_default().waiting = Some(Waiting { holders, window });
        }
    }

    /// Forgets a message that arrived. Returns whether `sender` had been asked for it.
    pub(crate) fn on_received(&mut self, id: &MessageId, sender: Option<PeerIx>) -> bool {
        let Some(missing) = self.missing.remove(id) else {
            return false;
        };
        self.requests -= missing.requests.len();
        if let Some(waiting) = &missing.waiting {
            self.due.remove(&(waiting.window.due, *id));
            self.on_hold.remove(id);
        }
        sender.is_some_and(|sender| missing.is_asked(sender))
    }

    /// Drops the requests to a peer that disconnected: their answers cannot arrive any more, which
    /// is nobody's fault.
    pub(crate) fn forget(&mut self, peer: PeerIx) {
        self.retain_requests(|request| request.peer != peer);
    }

    /// Drops expired requests, and counts the unanswered ones per peer. Requests that did not bind the peer
    /// are not counted.
    pub(crate) fn unanswered(&mut self, now: Time) -> Unanswered {
        let mut unanswered = Unanswered::default();
        self.retain_requests(|request| {
            let (peer, binds) = (request.peer, u32::from(request.is_binding));
            let overdue = now >= request.given_up.min(request.expires);
            if overdue && !std::mem::replace(&mut request.is_overdue, true) {
                *unanswered.overdue.entry(peer).or_default() += binds;
            }
            let is_open = now < request.expires;
            if !is_open {
                *unanswered.broken.entry(peer).or_default() += binds;
            }
            is_open
        });
        unanswered.overdue.retain(|_, count| *count > 0);
        unanswered.broken.retain(|_, count| *count > 0);
        unanswered
    }

    /// Time at which the next id is due; [`Time::MAX`] when there is none.
    pub(crate) fn next_due(&self) -> Time {
        self.due.first().map_or(Time::MAX, |(due, _)| *due)
    }

    /// Removes and returns one due id, with the holders to ask for it.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<(MessageId, Vec<Holder>)> {
        let (due, id) = *self.due.first().filter(|(due, _)| *due <= now)?;
        self.due.remove(&(due, id));
        self.on_hold.remove(&id);
        let missing = self.missing.get_mut(&id)?;
        let waiting = missing.waiting.take()?;
        if missing.is_empty() {
            self.missing.remove(&id);
        }
        Some((id, waiting.holders))
    }

    /// Postpones the due ids until `until`, but none beyond its own deadline.
    pub(crate) fn hold(&mut self, now: Time, until: Time) {
        let due = self.due.iter().take_while(|(due, _)| *due <= now);
        let due: Vec<_> = due.map(|(_, id)| *id).collect();
        for id in due {
            let missing = self.missing.get(&id);
            let waiting = missing.and_then(|missing| missing.waiting.as_ref());
            let deadline = waiting.map(|waiting| waiting.window.deadline);
            if let Some(deadline) = deadline.filter(|deadline| *deadline > now) {
                self.reschedule(id, until.min(deadline));
                self.on_hold.insert(id);
            }
        }
    }

    /// Whether any id waits for a transfer to end.
    pub(crate) fn is_any_on_hold(&self) -> bool {
        !self.on_hold.is_empty()
    }

    /// Makes all ids due that were waiting for transfers.
    pub(crate) fn release(&mut self, now: Time) {
        for id in std::mem::take(&mut self.on_hold) {
            self.reschedule(id, now);
        }
    }

    /// Whether no message is missing.
    pub(crate) fn is_idle(&self) -> bool {
        self.missing.is_empty()
    }

    /// Number of open requests.
    pub(crate) fn requests(&self) -> usize {
        self.requests
    }

    /// Number of missing messages with holders that are to be asked later.
    pub(crate) fn waiting(&self) -> usize {
        self.due.len()
    }

    fn reschedule(&mut self, id: MessageId, due: Time) {
        let missing = self.missing.get_mut(&id);
        if let Some(waiting) = missing.and_then(|missing| missing.waiting.as_mut()) {
            self.due.remove(&(waiting.window.due, id));
            waiting.window.due = due;
            self.due.insert((due, id));
        }
    }

    fn retain_requests(&mut self, mut keep: impl FnMut(&mut OpenRequest) -> bool) {
        let count = &mut self.requests;
        self.missing.retain(|_, missing| {
            let before = missing.requests.len();
            missing.requests.retain_mut(&mut keep);
            *count -= before - missing.requests.len();
            !missing.is_empty()
        });
    }
}
