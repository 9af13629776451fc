//! Messages asked for and not yet received.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::time::Time;
use crate::types::{MessageId, PeerIx};

/// One request. Of each IWANT one random id is `tracked`: not delivering that one costs score.
#[derive(Clone, Copy, Debug)]
struct Request {
    peer: PeerIx,
    /// When another peer may be asked in its place.
    given_up: Time,
    /// When the promise is broken.
    expires: Time,
    tracked: bool,
}

/// What decides whether one more peer is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    pub(crate) now: Time,
    pub(crate) in_flight_max: usize,
}

/// Open requests by message id.
#[derive(Debug)]
pub(crate) struct Promises {
    requests: BTreeMap<MessageId, Vec<Request>>,
    count: usize,
    give_up: Duration,
    followup: Duration,
    max: usize,
}

impl Promises {
    pub(crate) fn new(give_up: Duration, followup: Duration, max: usize) -> Self {
        Self {
            requests: BTreeMap::new(),
            count: 0,
            give_up,
            followup,
            max,
        }
    }

    /// Whether one more peer may be asked for `id`, given how many may be asked at once.
    pub(crate) fn may_ask(&self, id: &MessageId, peer: PeerIx, asking: Asking) -> bool {
        let mut open = self.requests.get(id).into_iter().flatten();
        !self.is_asked(id, asking) && open.all(|request| request.peer != peer)
    }

    /// Whether as many peers are asked for `id` as may be; one that was given up does not count.
    pub(crate) fn is_asked(&self, id: &MessageId, asking: Asking) -> bool {
        let open = self.requests.get(id).into_iter().flatten();
        let in_flight = open.filter(|request| asking.now < request.given_up);
        in_flight.count() >= asking.in_flight_max
    }

    /// How many more requests may be made.
    pub(crate) fn room(&self) -> usize {
        self.max.saturating_sub(self.count)
    }

    /// `peer` was asked for `ids`; `tracked` is the index of the one it is held to.
    pub(crate) fn asked(&mut self, ids: &[MessageId], tracked: usize, peer: PeerIx, now: Time) {
        let (given_up, expires) = (now.after(self.give_up), now.after(self.followup));
        for (i, id) in ids.iter().enumerate() {
            let request = Request {
                peer,
                given_up,
                expires,
                tracked: i == tracked,
            };
            self.requests.entry(*id).or_default().push(request);
            self.count += 1;
        }
    }

    /// The message came, from whomever: every promise of it is kept.
    pub(crate) fn kept(&mut self, id: &MessageId) {
        if let Some(requests) = self.requests.remove(id) {
            self.count -= requests.len();
        }
    }

    /// Drops what is overdue and counts the broken promises of each peer.
    pub(crate) fn broken(&mut self, now: Time) -> BTreeMap<PeerIx, u32> {
        let mut broken = BTreeMap::new();
        let mut dropped = 0;
        self.requests.retain(|_, requests| {
            requests.retain(|request| {
                let open = now < request.expires;
                if !open {
                    dropped += 1;
                    if request.tracked {
                        *broken.entry(request.peer).or_default() += 1;
                    }
                }
                open
            });
            !requests.is_empty()
        });
        self.count -= dropped;
        broken
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }
}
