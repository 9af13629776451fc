//! Requests for messages (IWANT) that have not been answered yet.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::time::Time;
use crate::types::{MessageId, PeerIx};

/// What a peer's answers to earlier requests promise for one more; the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// The peer has answered a request, and none since is overdue.
    Trusted,
    /// The peer has answered none yet, and none is overdue.
    Untried,
    /// A request is overdue, and the peer has answered none since.
    Dubious,
}

/// One request.
#[derive(Clone, Copy, Debug)]
struct Request {
    peer: PeerIx,
    standing: Standing,
    /// When another peer may be asked in its place.
    given_up: Time,
    /// When the promise is broken.
    expires: Time,
    /// Whether the peer still had the message for certain when it was asked.
    is_binding: bool,
    /// Whether it was counted as overdue.
    is_overdue: bool,
}

/// A request that is about to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) id: MessageId,
    /// Whether the peer still has the message for certain: its announcement is younger than its cache.
    pub(crate) is_binding: bool,
}

/// How many peers may be asked for a message at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) now: Time,
    /// As long as those that were asked can be relied on.
    pub(crate) max: usize,
    /// After untried peers did not answer.
    pub(crate) retry_max: usize,
}

/// What became of requests since the last heartbeat, by peer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Unanswered {
    /// Requests given up.
    pub(crate) overdue: BTreeMap<PeerIx, u32>,
    /// Requests whose time has passed.
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

    /// Whether a peer of that standing may be asked for `id` now.
    pub(crate) fn may_ask(
        &self,
        id: &MessageId,
        peer: PeerIx,
        standing: Standing,
        in_flight: InFlight,
    ) -> bool {
        !self.is_open(id, peer) && self.places(id, standing, in_flight) > 0
    }

    /// Whether the peer was asked for `id` and its time has not passed.
    pub(crate) fn is_open(&self, id: &MessageId, peer: PeerIx) -> bool {
        let mut open = self.requests.get(id).into_iter().flatten();
        open.any(|request| request.peer == peer)
    }

    /// How many more peers of that standing may be asked for `id` now. A request that was given up takes no
    /// place, and none takes one from a peer of better standing. For each peer that did not answer, trusted
    /// ones aside, one more may be asked at a time, so that many such peers together cannot hide a
    /// message until those that have it have forgotten it.
    pub(crate) fn places(&self, id: &MessageId, standing: Standing, in_flight: InFlight) -> usize {
        let open = self.requests.get(id).into_iter().flatten();
        let under_way = open.filter(|request| in_flight.now < request.given_up);
        let taken = under_way.filter(|request| request.standing <= standing);
        let retry_max = in_flight.retry_max.max(in_flight.max);
        let max = (in_flight.max + self.failed(id, in_flight.now)).min(retry_max);
        max.saturating_sub(taken.count())
    }

    /// Requests for `id` that were given up, but for those to trusted peers, which are only late.
    pub(crate) fn failed(&self, id: &MessageId, now: Time) -> usize {
        let open = self.requests.get(id).into_iter().flatten();
        let given_up = open.filter(|request| now >= request.given_up);
        given_up
            .filter(|request| request.standing != Standing::Trusted)
            .count()
    }

    /// When the first of the requests for `id` to dubious peers is given up, if one is under way.
    pub(crate) fn dubious_until(&self, id: &MessageId, now: Time) -> Option<Time> {
        let open = self.requests.get(id).into_iter().flatten();
        let dubious = open.filter(|r| r.standing == Standing::Dubious && now < r.given_up);
        dubious.map(|request| request.given_up).min()
    }

    /// How many more requests may be made.
    pub(crate) fn room(&self) -> usize {
        self.max.saturating_sub(self.count)
    }

    /// A peer was asked for messages, each of which is given up after `patience`.
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

    /// The message came: every promise of it is kept. Returns whether `sender` had been asked for it.
    pub(crate) fn kept(&mut self, id: &MessageId, sender: Option<PeerIx>) -> bool {
        let requests = self.requests.remove(id).unwrap_or_default();
        self.count -= requests.len();
        sender.is_some_and(|sender| requests.iter().any(|request| request.peer == sender))
    }

    /// The connection to a peer has ended: what it was asked for on it cannot come any more, which is nobody's
    /// fault.
    pub(crate) fn forget(&mut self, peer: PeerIx) {
        self.retain(|request| request.peer != peer);
    }

    /// Drops what has expired, and counts the requests of each peer that were not answered in time. Those
    /// that did not bind the peer are not counted.
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
