//! Which messages were seen, who delivered them while their validity was unknown, and what a further
//! copy means. One record serves the duplicate check and the score function's delivery states.

use std::collections::VecDeque;
use std::time::Duration;

use crate::idmap::IdMap;
use crate::rng::Rng;
use crate::time::Time;
use crate::types::{MessageId, PeerIx};

/// The life of a message, as far as scoring cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// The validator has not spoken; these peers sent a copy, the first one first.
    Unknown { senders: Vec<PeerIx> },
    /// Accepted at that time; these peers have had their credit.
    Valid { at: Time, credited: Vec<PeerIx> },
    /// Rejected: every further copy is an offence.
    Invalid,
    /// Neither: copies cost and earn nothing.
    Ignored,
}

/// What a further copy means for the one who sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copy {
    /// Near enough to the first delivery to count for the mesh (P3).
    Credit,
    /// A copy of a rejected message (P4).
    Penalty,
    /// Nothing.
    Nothing,
}

/// Messages seen, forgotten in the order in which they first came.
#[derive(Debug)]
pub(crate) struct Seen {
    records: IdMap<Status>,
    order: VecDeque<(Time, MessageId)>,
    max: usize,
}

impl Seen {
    pub(crate) fn new(rng: &mut Rng, max: usize) -> Self {
        Self {
            records: IdMap::new(rng),
            order: VecDeque::new(),
            // The newest message is always remembered, or its verdict would find nobody.
            max: max.max(1),
        }
    }

    pub(crate) fn contains(&self, id: &MessageId) -> bool {
        self.records.contains(id)
    }

    /// First copy of a message, to be remembered until `expires`.
    pub(crate) fn begin(&mut self, id: MessageId, status: Status, expires: Time) {
        while self.order.len() >= self.max {
            self.forget_oldest();
        }
        if self.records.insert(id, status).is_none() {
            self.order.push_back((expires, id));
        }
    }

    /// A further copy from `peer`, with the near-first window of the topic.
    pub(crate) fn copy(
        &mut self,
        id: &MessageId,
        peer: PeerIx,
        now: Time,
        window: Duration,
    ) -> Copy {
        match self.records.get_mut(id) {
            Some(Status::Unknown { senders }) => {
                if !senders.contains(&peer) {
                    senders.push(peer);
                }
                Copy::Nothing
            }
            Some(Status::Valid { at, credited }) => {
                if credited.contains(&peer) || now > at.after(window) {
                    return Copy::Nothing;
                }
                credited.push(peer);
                Copy::Credit
            }
            Some(Status::Invalid) => Copy::Penalty,
            Some(Status::Ignored) | None => Copy::Nothing,
        }
    }

    /// The validator spoke: moves the record on and returns who had sent a copy by then. A second
    /// verdict on the same message finds nobody.
    pub(crate) fn settle(&mut self, id: &MessageId, verdict: Status) -> Vec<PeerIx> {
        let Some(record @ Status::Unknown { .. }) = self.records.get_mut(id) else {
            return Vec::new();
        };
        let Status::Unknown { senders } = std::mem::replace(record, verdict) else {
            return Vec::new();
        };
        if let Some(Status::Valid { credited, .. }) = self.records.get_mut(id) {
            credited.clone_from(&senders);
        }
        senders
    }

    pub(crate) fn expire(&mut self, now: Time) {
        while self
            .order
            .front()
            .is_some_and(|(expires, _)| *expires <= now)
        {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, id)) = self.order.pop_front() {
            self.records.remove(&id);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }
}
