//! Missing messages whose IWANT is delayed because a copy may be in transit.

use std::collections::{BTreeMap, BTreeSet};

use crate::time::Time;
use crate::types::{MessageId, PeerIx};

/// A peer that announced a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder {
    pub(crate) peer: PeerIx,
    /// Time of the peer's last announcement.
    pub(crate) heard_at: Time,
}

#[derive(Debug)]
struct Lacking {
    /// Peers that have the message, in the order of their first announcements.
    holders: Vec<Holder>,
    due: Time,
    /// Deadline after which the id is asked for even if long frames are in transit.
    patient_until: Time,
}

/// Ids that wait to be asked for, bounded in number.
#[derive(Debug)]
pub(crate) struct Deferred {
    lacking: BTreeMap<MessageId, Lacking>,
    due: BTreeSet<(Time, MessageId)>,
    /// Ids that would be asked for now if no long frame were in transit.
    held: BTreeSet<MessageId>,
    ids_max: usize,
    holders_max: usize,
}

/// Time window in which an id is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    /// Earliest time of the IWANT.
    pub(crate) due: Time,
    /// Latest time of the IWANT, even if a transfer that may hold the message is in progress.
    pub(crate) patient_until: Time,
}

impl When {
    /// Returns the same window, with the earlier of its own due time and `due`.
    pub(crate) fn or_sooner(self, due: Option<Time>) -> Self {
        let due = due.map_or(self.due, |due| due.min(self.due));
        Self { due, ..self }
    }
}

impl Deferred {
    pub(crate) fn new(ids_max: usize, holders_max: usize) -> Self {
        Self {
            lacking: BTreeMap::new(),
            due: BTreeSet::new(),
            held: BTreeSet::new(),
            ids_max,
            holders_max,
        }
    }

    /// Records that `holder` has a missing message, to be asked for at `when` or at the time already set if
    /// that is sooner. If the list of holders is full, one that is worse by `is_worse` is replaced.
    pub(crate) fn add(
        &mut self,
        id: MessageId,
        holder: Holder,
        when: When,
        is_worse: impl Fn(PeerIx, PeerIx) -> bool,
    ) {
        if let Some(lacking) = self.lacking.get_mut(&id) {
            let holders = &mut lacking.holders;
            if let Some(known) = holders.iter_mut().find(|h| h.peer == holder.peer) {
                known.heard_at = known.heard_at.max(holder.heard_at);
            } else if holders.len() < self.holders_max {
                holders.push(holder);
            } else if let Some(worse) = holders.iter_mut().find(|h| is_worse(h.peer, holder.peer)) {
                *worse = holder;
            }
            if when.due < lacking.due && !self.held.contains(&id) {
                self.put_off(id, when.due);
            }
            return;
        }
        // An id that does not fit is not lost: it is advertised again at the next heartbeat.
        if self.lacking.len() < self.ids_max {
            let When { due, patient_until } = when;
            let lacking = Lacking {
                holders: vec![holder],
                due,
                patient_until,
            };
            self.lacking.insert(id, lacking);
            self.due.insert((due, id));
        }
    }

    /// Forgets an id whose message has arrived.
    pub(crate) fn came(&mut self, id: &MessageId) {
        if let Some(lacking) = self.lacking.remove(id) {
            self.due.remove(&(lacking.due, *id));
            self.held.remove(id);
        }
    }

    /// Time at which the next id is due; [`Time::MAX`] when there is none.
    pub(crate) fn next(&self) -> Time {
        self.due.first().map_or(Time::MAX, |(due, _)| *due)
    }

    /// Removes one id that is due and returns it with the peers that have it.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<(MessageId, Vec<Holder>)> {
        let (due, id) = *self.due.first()?;
        if due > now {
            return None;
        }
        self.due.remove(&(due, id));
        self.held.remove(&id);
        let lacking = self.lacking.remove(&id)?;
        Some((id, lacking.holders))
    }

    /// Postpones the ids that are due until `until`, but none beyond its own deadline.
    pub(crate) fn hold(&mut self, now: Time, until: Time) {
        let due = self.due.iter().take_while(|(due, _)| *due <= now);
        let due: Vec<_> = due.map(|(_, id)| *id).collect();
        for id in due {
            let patient_until = self.lacking.get(&id).map(|lacking| lacking.patient_until);
            if let Some(patient_until) = patient_until.filter(|end| *end > now) {
                self.put_off(id, until.min(patient_until));
                self.held.insert(id);
            }
        }
    }

    /// Whether an id waits for a transfer to end.
    pub(crate) fn holds_any(&self) -> bool {
        !self.held.is_empty()
    }

    /// Makes all ids due that waited for transfers.
    pub(crate) fn release(&mut self, now: Time) {
        for id in std::mem::take(&mut self.held) {
            self.put_off(id, now);
        }
    }

    fn put_off(&mut self, id: MessageId, due: Time) {
        if let Some(lacking) = self.lacking.get_mut(&id) {
            self.due.remove(&(lacking.due, id));
            lacking.due = due;
            self.due.insert((due, id));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.lacking.len()
    }
}
