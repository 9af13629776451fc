//! Seen messages: which peers delivered them while their validity was unknown, and how further copies are
//! treated. One record serves both the duplicate check and the delivery states of the score function.

use std::collections::VecDeque;
use std::time::Duration;

use crate::idmap::IdMap;
use crate::rng::Rng;
use crate::time::Time;
use crate::types::{MessageId, PeerIx};

/// State of a message, as far as scoring depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SeenStatus {
    /// Verdict awaited; these peers sent a copy, in order of arrival.
    Unknown { senders: Vec<PeerIx> },
    /// Accepted at this time; these peers were credited.
    Valid { at: Time, credited: Vec<PeerIx> },
    /// Rejected: every further copy is an offence.
    Invalid,
    /// Neither accepted nor rejected: copies cost and earn nothing.
    Ignored,
}

/// Consequence of a further copy for its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copy {
    /// Close enough to the first delivery to count as a mesh delivery (P3).
    Credit,
    /// Copy of a rejected message (P4).
    Penalty,
    /// First copy from this peer while the verdict is awaited.
    Unjudged,
    /// No credit and no penalty.
    Nothing,
}

/// Record of one seen message.
#[derive(Debug)]
struct Record {
    status: SeenStatus,
    /// Number that distinguishes the record from an earlier, removed one of the same id.
    number: u64,
}

/// Position of a record in the order of expiry.
#[derive(Clone, Copy, Debug)]
struct ExpiryEntry {
    expires: Time,
    id: MessageId,
    number: u64,
}

/// Seen messages, forgotten in the order of their first copies.
#[derive(Debug)]
pub(crate) struct Seen {
    records: IdMap<Record>,
    /// Order of expiry. A place may outlive its record, see [`Self::remove`].
    order: VecDeque<ExpiryEntry>,
    next_number: u64,
    max: usize,
}

impl Seen {
    pub(crate) fn new(rng: &mut Rng, max: usize) -> Self {
        Self {
            records: IdMap::new(rng),
            order: VecDeque::new(),
            next_number: 0,
            // The newest message is always remembered; otherwise its verdict would find no record.
            max: max.max(1),
        }
    }

    pub(crate) fn contains(&self, id: &MessageId) -> bool {
        self.records.contains(id)
    }

    /// Records the first copy of a message, until `expires`.
    pub(crate) fn begin(&mut self, id: MessageId, status: SeenStatus, expires: Time) {
        while self.order.len() >= self.max {
            self.forget_oldest();
        }
        let number = self.next_number;
        self.next_number += 1;
        let place = ExpiryEntry {
            expires,
            id,
            number,
        };
        self.records.insert(id, Record { status, number });
        self.order.push_back(place);
    }

    /// Forgets a message without a verdict, so that its next copy is a first one; returns the peers that
    /// sent a copy. The position in the order stays until it expires, unless it is the newest.
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
            SeenStatus::Unknown { senders } => senders,
            _ => Vec::new(),
        }
    }

    /// Peers that sent a copy of a message whose verdict is awaited, in order of arrival.
    pub(crate) fn senders(&self, id: &MessageId) -> &[PeerIx] {
        match self.records.get(id).map(|record| &record.status) {
            Some(SeenStatus::Unknown { senders }) => senders,
            _ => &[],
        }
    }

    /// Records a further copy from `peer`; `window` is the near-first window of the topic (P3).
    pub(crate) fn copy(
        &mut self,
        id: &MessageId,
        peer: PeerIx,
        now: Time,
        window: Duration,
    ) -> Copy {
        let record = self.records.get_mut(id);
        match record.map(|record| &mut record.status) {
            Some(SeenStatus::Unknown { senders }) => {
                if senders.contains(&peer) {
                    return Copy::Nothing;
                }
                senders.push(peer);
                Copy::Unjudged
            }
            Some(SeenStatus::Valid { at, credited }) => {
                if credited.contains(&peer) || now > at.after(window) {
                    return Copy::Nothing;
                }
                credited.push(peer);
                Copy::Credit
            }
            Some(SeenStatus::Invalid) => Copy::Penalty,
            Some(SeenStatus::Ignored) | None => Copy::Nothing,
        }
    }

    /// Sets the verdict of a message and returns the peers that had sent a copy. Returns none for a second
    /// verdict on the same message.
    pub(crate) fn settle(&mut self, id: &MessageId, verdict: SeenStatus) -> Vec<PeerIx> {
        let record = self.records.get_mut(id);
        let Some(status @ SeenStatus::Unknown { .. }) = record.map(|record| &mut record.status)
        else {
            return Vec::new();
        };
        let SeenStatus::Unknown { senders } = std::mem::replace(status, verdict) else {
            return Vec::new();
        };
        if let SeenStatus::Valid { credited, .. } = status {
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
        let Some(ExpiryEntry { id, number, .. }) = self.order.pop_front() else {
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
