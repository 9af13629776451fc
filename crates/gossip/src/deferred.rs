//! Ids that peers have and we lack, left alone for a while: the copy may be under way.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::peers::PeerState;
use crate::promises::Asking;
use crate::router::Router;
use crate::time::Time;
use crate::types::{MessageId, PeerIx};

/// Peers remembered as having a message.
const HOLDERS_MAX: usize = 8;

#[derive(Debug)]
struct Lacking {
    holders: VecDeque<PeerIx>,
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
    max: usize,
}

/// When to ask for an id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    /// Not before.
    pub(crate) due: Time,
    /// Not later, even while something is coming in that may be it.
    pub(crate) patient_until: Time,
}

impl Deferred {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            lacking: BTreeMap::new(),
            due: BTreeSet::new(),
            held: BTreeSet::new(),
            max,
        }
    }

    /// `peer` has what we lack; ask then, unless it is decided already when to.
    pub(crate) fn add(&mut self, id: MessageId, peer: PeerIx, when: When) {
        if let Some(lacking) = self.lacking.get_mut(&id) {
            if lacking.holders.len() < HOLDERS_MAX && !lacking.holders.contains(&peer) {
                lacking.holders.push_back(peer);
            }
            return;
        }
        // What is not noted is advertised again at the next heartbeat.
        if self.lacking.len() < self.max {
            let When { due, patient_until } = when;
            let lacking = Lacking {
                holders: VecDeque::from([peer]),
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
    fn take_due(&mut self, now: Time) -> Option<(MessageId, VecDeque<PeerIx>)> {
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
    fn hold(&mut self, now: Time, until: Time) {
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

impl Router {
    /// In `delay`, if nothing is coming in by then.
    pub(crate) fn ask_in(&self, delay: Duration) -> When {
        let due = self.now.after(delay);
        let patient_until = due.after(self.config.large.transfer_wait);
        When { due, patient_until }
    }

    /// Asks for what did not come by itself: one holder now, the next after a while.
    pub(crate) fn ask_due(&mut self) {
        let arriving_until = self.arriving_until();
        if let Some(until) = arriving_until {
            self.deferred.hold(self.now, until);
        }
        let in_flight = self.asking();
        let retry = self.ask_in(self.config.large.iwant_retry);
        let mut asking: BTreeMap<PeerIx, Vec<MessageId>> = BTreeMap::new();
        while let Some((id, mut holders)) = self.deferred.take_due(self.now) {
            let room = self.promises.room() > asking.values().map(Vec::len).sum();
            // Until a request under way has ended, those who could be asked next are kept.
            let now = room && !self.promises.is_asked(&id, in_flight);
            let mut used_up = Vec::new();
            while now && let Some(peer) = holders.pop_front() {
                if !self.is_heard(peer) || !self.promises.may_ask(&id, peer, in_flight) {
                    continue;
                }
                let asked = asking.entry(peer).or_default();
                if self.has_budget(peer, asked.len()) {
                    asked.push(id);
                    break;
                }
                used_up.push(peer);
            }
            for peer in holders.into_iter().chain(used_up) {
                self.deferred.add(id, peer, retry);
            }
        }
        for (peer, ids) in asking {
            if arriving_until.is_some() {
                self.stats.asked_impatiently += ids.len() as u64;
            }
            self.ask(peer, &ids);
        }
    }

    pub(crate) fn asking(&self) -> Asking {
        Asking {
            now: self.now,
            in_flight_max: self.config.iwant_in_flight_max,
        }
    }

    fn is_heard(&self, peer: PeerIx) -> bool {
        self.peers.get(peer).is_some() && self.scores.score(peer) >= self.config.thresholds.gossip
    }

    /// Whether one more id may be asked of the peer, `asking` not being counted yet.
    fn has_budget(&self, peer: PeerIx, asking: usize) -> bool {
        let max = self.config.limits.iwant_ids_per_heartbeat_max;
        let used = |state: &PeerState| state.used.iwant_ids + asking;
        self.peers.get(peer).is_some_and(|state| used(state) < max)
    }
}
