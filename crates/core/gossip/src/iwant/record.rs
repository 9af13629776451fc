//! Record of one missing message: its holders and its open requests.

use std::time::Duration;

use super::reliability::Reliability;
use crate::time::Time;
use crate::types::{MessageId, PeerIx};

/// A peer that announced a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) peer: PeerIx,
    /// Time of the peer's last announcement.
    pub(crate) heard_at: Time,
}

/// Time window for requesting an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AskWindow {
    /// Earliest time of the IWANT.
    pub(crate) due: Time,
    /// Latest time of the IWANT, even if a transfer that may hold the message is in progress.
    pub(crate) deadline: Time,
}

impl AskWindow {
    /// Returns the same window, with the earlier of its own due time and `due`.
    pub(crate) fn or_sooner(self, due: Option<Time>) -> Self {
        let due = due.map_or(self.due, |due| due.min(self.due));
        Self { due, ..self }
    }
}

/// One id about to be requested from a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) id: MessageId,
    /// Whether the peer certainly still has the message: its announcement is younger than its cache.
    pub(crate) is_binding: bool,
}

/// Peer to ask, and how long to wait for its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskedPeer {
    pub(crate) peer: PeerIx,
    pub(crate) reliability: Reliability,
    /// Time after which another peer may be asked.
    pub(crate) patience: Duration,
}

/// Limits on the peers asked for one message at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlightLimits {
    pub(crate) now: Time,
    /// Limit while no request has failed.
    pub(crate) max: usize,
    /// Limit after requests to untried or dubious peers have failed.
    pub(crate) retry_max: usize,
}

/// One message requested from one peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRequest {
    pub(super) peer: PeerIx,
    pub(super) reliability: Reliability,
    /// Time from which another peer may be asked.
    pub(super) given_up: Time,
    /// Time at which the promise counts as broken.
    pub(super) expires: Time,
    /// Whether the peer certainly still had the message when it was asked.
    pub(super) is_binding: bool,
    /// Whether the request was counted as overdue.
    pub(super) is_overdue: bool,
}

/// Holders of a missing message to ask later.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Peers that have the message, in the order of their first announcements.
    pub(super) holders: Vec<Holder>,
    pub(super) window: AskWindow,
}

impl Waiting {
    /// Records an announcement. If the list of holders is full, one that is worse by `is_worse` is replaced.
    pub(super) fn note(
        &mut self,
        holder: Holder,
        holders_max: usize,
        is_worse: impl Fn(PeerIx, PeerIx) -> bool,
    ) {
        let holders = &mut self.holders;
        if let Some(known) = holders.iter_mut().find(|h| h.peer == holder.peer) {
            known.heard_at = known.heard_at.max(holder.heard_at);
        } else if holders.len() < holders_max {
            holders.push(holder);
        } else if let Some(worse) = holders.iter_mut().find(|h| is_worse(h.peer, holder.peer)) {
            *worse = holder;
        }
    }
}

/// State of one missing message. A record without requests and holders is dropped.
#[derive(Debug, Default)]
pub(super) struct Missing {
    pub(super) requests: Vec<OpenRequest>,
    pub(super) waiting: Option<Waiting>,
}

impl Missing {
    /// Whether a request to the peer is open.
    pub(super) fn is_asked(&self, peer: PeerIx) -> bool {
        self.requests.iter().any(|request| request.peer == peer)
    }

    /// Returns the number of requests that were given up, except those to trusted peers, which are only
    /// late.
    pub(super) fn failed(&self, now: Time) -> usize {
        let given_up = self.requests.iter().filter(|r| now >= r.given_up);
        given_up
            .filter(|request| request.reliability != Reliability::Trusted)
            .count()
    }

    /// Returns how many more peers of that reliability may be asked now. A request that was given up does
    /// not count, and none counts against more reliable peers. Each failed request allows one more in flight
    /// at a time. Otherwise many unreliable peers together could hide a message until the others have
    /// dropped it from their caches.
    pub(super) fn places(&self, reliability: Reliability, limits: InFlightLimits) -> usize {
        let in_flight = self.requests.iter().filter(|r| limits.now < r.given_up);
        let taken = in_flight.filter(|request| request.reliability <= reliability);
        let retry_max = limits.retry_max.max(limits.max);
        let max = (limits.max + self.failed(limits.now)).min(retry_max);
        max.saturating_sub(taken.count())
    }

    /// Returns when the first of the current requests to dubious peers is given up; `None` if there are
    /// none.
    pub(super) fn dubious_until(&self, now: Time) -> Option<Time> {
        let dubious = |r: &&OpenRequest| r.reliability == Reliability::Dubious && now < r.given_up;
        let requests = self.requests.iter().filter(dubious);
        requests.map(|request| request.given_up).min()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.waiting.is_none()
    }
}
