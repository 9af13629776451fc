//! Ids that peers have and we lack, left alone for a while: the copy may be under way.

use std::collections::{BTreeMap, BTreeSet};

use crate::time::Time;
use crate::types::{MessageId, PeerIx};

/// A peer that announced a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder {
    pub(crate) peer: PeerIx,
    /// Time of its last announcement.
    pub(crate) heard_at: Time,
}

#[derive(Debug)]
struct Lacking {
    /// Peers that have the message, in the order in which they first said so.
    holders: Vec<Holder>,
    due: Time,
    /// From when on it is asked for whatever is coming in.
    patient_until: Time,
}

/// Ids to ask for later, bounded.
#[derive(Debug)]
pub(crate) struct Deferred {
    lacking: BTreeMap<MessageId, Lacking>,
    due: BTreeSet<(Time, MessageId)>,
    /// Those that would be asked for now if nothing were coming in.
    held: BTreeSet<MessageId>,
    ids_max: usize,
    holders_max: usize,
}

/// When to ask for an id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    /// Not before.
    pub(crate) due: Time,
    /// Not later, even while something is coming in that may be it.
    pub(crate) patient_until: Time,
}

impl When {
    /// The same, or `due` if that is sooner.
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

    /// `holder` has what we lack; ask then, or sooner if that was decided already. Where too many have it,
    /// one that is worse than the new one, by `is_worse`, is forgotten.
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
        // What is not noted is advertised again at the next heartbeat.
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

    /// The message is here.
    pub(crate) fn came(&mut self, id: &MessageId) {
        if let Some(lacking) = self.lacking.remove(id) {
            self.due.remove(&(lacking.due, *id));
            self.held.remove(id);
        }
    }

    /// When an id is to be asked for.
    pub(crate) fn next(&self) -> Time {
        self.due.first().map_or(Time::MAX, |(due, _)| *due)
    }

    /// Takes an id that is due, and who has it.
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

    /// Puts off what is due until something has come in, `until` at the latest, and no longer than
    /// there is patience.
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

    /// Whether something waits for what is coming in.
    pub(crate) fn holds_any(&self) -> bool {
        !self.held.is_empty()
    }

    /// What was held is due.
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
