//! Open requests for messages (IWANT).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::time::Time;
use crate::types::{MessageId, PeerIx};

/// Reliability of a peer by its answers to earlier requests; the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// The peer has answered a request, and no later one is overdue.
    Trusted,
    /// The peer has answered no request yet, and none is overdue.
    Untried,
    /// A request is overdue, and the peer has answered none since.
    Dubious,
}

/// One message requested from one peer.
#[derive(Clone, Copy, Debug)]
struct Request {
    peer: PeerIx,
    standing: Standing,
    /// Time from which on another peer may be asked instead.
    given_up: Time,
    /// Time at which the promise counts as broken.
    expires: Time,
    /// Whether the peer certainly still had the message when it was asked.
    is_binding: bool,
    /// Whether the request was counted as overdue.
    is_overdue: bool,
}

/// One id that a peer is about to be asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) id: MessageId,
    /// Whether the peer certainly still has the message: its announcement is younger than its cache.
    pub(crate) is_binding: bool,
}

/// Limits on the peers asked for one message at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) now: Time,
    /// Limit while no request has failed.
    pub(crate) max: usize,
    /// Limit after requests to untried or dubious peers have failed.
    pub(crate) retry_max: usize,
}

/// Counts of unanswered requests since the last heartbeat, by peer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Unanswered {
    /// Requests that became overdue, by peer.
    pub(crate) overdue: BTreeMap<PeerIx, u32>,
    /// Requests that expired (broken promises), by peer.
    pub(crate) broken: BTreeMap<PeerIx, u32>,
}

/// Open requests by message id.
#[derive(Debug)]
pub(crate) struct Promises {
    requests: BTreeMap<MessageId, Vec<Request>>,
    count: usize,
    followup: Duration,
    max: usize,
}

impl Promises {
    pub(crate) fn new(followup: Duration, max: usize) -> Self {
        Self {
            requests: BTreeMap::new(),
            count: 0,
            followup,
            max,
        }
    }

    /// Whether `peer`, of that standing, may be asked for `id` now.
    pub(crate) fn may_ask(
        &self,
        id: &MessageId,
        peer: PeerIx,
        standing: Standing,
        in_flight: InFlight,
    ) -> bool {
        !self.is_open(id, peer) && self.places(id, standing, in_flight) > 0
    }

    /// Whether a request for `id` to the peer is open.
    pub(crate) fn is_open(&self, id: &MessageId, peer: PeerIx) -> bool {
        let mut open = self.requests.get(id).into_iter().flatten();
        open.any(|request| request.peer == peer)
    }

    /// Number of further peers of that standing that may be asked for `id` now. A request that was given up
    /// does not count, and none counts against peers of better standing. For each failed request, except
    /// those to trusted peers, one more may be in flight at a time, so that many unreliable peers together
    /// cannot hide a message until the others have dropped it from their caches.
    pub(crate) fn places(&self, id: &MessageId, standing: Standing, in_flight: InFlight) -> usize {
        let open = self.requests.get(id).into_iter().flatten();
        let under_way = open.filter(|request| in_flight.now < request.given_up);
        let taken = under_way.filter(|request| request.standing <= standing);
        let retry_max = in_flight.retry_max.max(in_flight.max);
        let max = (in_flight.max + self.failed(id, in_flight.now)).min(retry_max);
        max.saturating_sub(taken.count())
    }

    /// Number of requests for `id` that were given up, without those to trusted peers, which are only late.
    pub(crate) fn failed(&self, id: &MessageId, now: Time) -> usize {
        let open = self.requests.get(id).into_iter().flatten();
        let given_up = open.filter(|request| now >= request.given_up);
        given_up
            .filter(|request| request.standing != Standing::Trusted)
            .count()
    }

    /// Time at which the first of the current requests for `id` to dubious peers is given up;
    /// `None` without any.
    pub(crate) fn dubious_until(&self, id: &MessageId, now: Time) -> Option<Time> {
        let open = self.requests.get(id).into_iter().flatten();
        let dubious = open.filter(|r| r.standing == Standing::Dubious && now < r.given_up);
        dubious.map(|request| request.given_up).min()
    }

    /// Number of requests that may still be made.
    pub(crate) fn room(&self) -> usize {
        self.max.saturating_sub(self.count)
    }

    /// Records requests to a peer, each of which is given up after `patience`.
    pub(crate) fn asked(
        &mut self,
        wanted: &[Asked],
        peer: PeerIx,
        standing: Standing,
        now: Time,
        patience: Duration,
    ) {
        for asked in wanted {
            let request = Request {
                peer,
                standing,
                given_up: now.after(patience),
                expires: now.after(self.followup),
                is_binding: asked.is_binding,
                is_overdue: false,
            };
            self.requests.entry(asked.id).or_default().push(request);
            self.count += 1;
        }
    }

    /// Closes all requests for a message that arrived. Returns whether `sender` had been asked for it.
    pub(crate) fn kept(&mut self, id: &MessageId, sender: Option<PeerIx>) -> bool {
        let requests = self.requests.remove(id).unwrap_or_default();
        self.count -= requests.len();
        sender.is_some_and(|sender| requests.iter().any(|request| request.peer == sender))
    }

    /// Drops the requests to a peer that disconnected: their answers cannot arrive any more, which
    /// is nobody's fault.
    pub(crate) fn forget(&mut self, peer: PeerIx) {
        self.retain(|request| request.peer != peer);
    }

    /// Drops expired requests, and counts for each peer those that were not answered in time. Requests that
    /// did not bind the peer are not counted.
    pub(crate) fn unanswered(&mut self, now: Time) -> Unanswered {
        let mut unanswered = Unanswered::default();
        self.retain(|request| {
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

    fn retain(&mut self, mut keep: impl FnMut(&mut Request) -> bool) {
        let count = &mut self.count;
        self.requests.retain(|_, requests| {
            let before = requests.len();
            requests.retain_mut(&mut keep);
            *count -= before - requests.len();
            !requests.is_empty()
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }
}
