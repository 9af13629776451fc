//! Messages asked for and not yet received.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::time::Time;
use crate::types::{MessageId, PeerIx};

/// One request. Of each IWANT one random id is `tracked`: not delivering that one costs score.
#[derive(Clone, Copy, Debug)]
struct Request {
    peer: PeerIx,
    expires: Time,
    tracked: bool,
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

    /// Whether one more peer may be asked for `id`, given how many may be asked at once.
    pub(crate) fn may_ask(&self, id: &MessageId, peer: PeerIx, in_flight_max: usize) -> bool {
        let open = self.requests.get(id).map_or(&[][..], Vec::as_slice);
        open.len() < in_flight_max && open.iter().all(|request| request.peer != peer)
    }

    /// Whether as many peers are asked for `id` as may be.
    pub(crate) fn is_asked(&self, id: &MessageId, in_flight_max: usize) -> bool {
        self.requests
            .get(id)
            .is_some_and(|open| open.len() >= in_flight_max)
    }

    /// How many more requests may be made.
    pub(crate) fn room(&self) -> usize {
        self.max.saturating_sub(self.count)
    }

    /// `peer` was asked for `ids`; `tracked` is the index of the one it is held to.
    pub(crate) fn asked(&mut self, ids: &[MessageId], tracked: usize, peer: PeerIx, now: Time) {
        let expires = now.after(self.followup);
        for (i, id) in ids.iter().enumerate() {
            let request = Request {
                peer,
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
