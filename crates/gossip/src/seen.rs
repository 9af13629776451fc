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
    /// The message is not judged yet, and this peer had not sent it before.
    Unjudged,
    /// Nothing.
    Nothing,
}

/// What is remembered of one message.
#[derive(Debug)]
struct Record {
    status: Status,
    /// Tells it from an earlier record of the same id, which was removed on request.
    number: u64,
}

/// The place of a record in the order in which records are forgotten.
#[derive(Clone, Copy, Debug)]
struct Place {
    expires: Time,
    id: MessageId,
    number: u64,
}

/// Messages seen, forgotten in the order in which they first came.
#[derive(Debug)]
pub(crate) struct Seen {
    records: IdMap<Record>,
    /// A place may outlive its record, see [`Self::remove`].
    order: VecDeque<Place>,
    next_number: u64,
    max: usize,
}

impl Seen {
    pub(crate) fn new(rng: &mut Rng, max: usize) -> Self {
        Self {
            records: IdMap::new(rng),
            order: VecDeque::new(),
            next_number: 0,
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
        let number = self.next_number;
        self.next_number += 1;
        let place = Place {
            expires,
            id,
            number,
        };
        self.records.insert(id, Record { status, number });
        self.order.push_back(place);
    }

    /// Forgets a message that was not judged, so that its next copy is a first one; returns who had
    /// sent a copy. The place in the order stays until its time, unless it is the newest.
    pub(crate) fn remove(&mut self, id: &MessageId) -> Vec<PeerIx> {
        let Some(record) = self.records.remove(id) else {
            return Vec::new();
        };
        if self
            .order
            .back()
            .is_some_and(|newest| newest.number == record.number)
        {
            self.order.pop_back();
        }
        match record.status {
            Status::Unknown { senders } => senders,
            _ => Vec::new(),
        }
    }

    /// Who sent a copy of a message that is not judged yet, the first one first.
    pub(crate) fn senders(&self, id: &MessageId) -> &[PeerIx] {
        match self.records.get(id).map(|record| &record.status) {
            Some(Status::Unknown { senders }) => senders,
            _ => &[],
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
        let record = self.records.get_mut(id);
        match record.map(|record| &mut record.status) {
            Some(Status::Unknown { senders }) => {
                if senders.contains(&peer) {
                    return Copy::Nothing;
                }
                senders.push(peer);
                Copy::Unjudged
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
        let record = self.records.get_mut(id);
        let Some(status @ Status::Unknown { .. }) = record.map(|record| &mut record.status) else {
            return Vec::new();
        };
        let Status::Unknown { senders } = std::mem::replace(status, verdict) else {
            return Vec::new();
        };
        if let Status::Valid { credited, .. } = status {
            credited.clone_from(&senders);
        }
        senders
    }

    pub(crate) fn expire(&mut self, now: Time) {
        while self
            .order
            .front()
            .is_some_and(|oldest| oldest.expires <= now)
        {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(Place { id, number, .. }) = self.order.pop_front() else {
            return;
        };
        let record = self.records.get(&id);
        if record.is_some_and(|record| record.number == number) {
            self.records.remove(&id);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }
}
