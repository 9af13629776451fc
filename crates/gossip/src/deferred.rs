//! Ids that peers have and we lack, left alone for a while: the copy may be under way.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::router::Router;
use crate::time::Time;
use crate::types::{MessageId, PeerIx};

/// Peers remembered as having a message.
const HOLDERS_MAX: usize = 8;

#[derive(Debug)]
struct Lacking {
    holders: VecDeque<PeerIx>,
    due: Time,
}

/// Ids to ask for later, bounded.
#[derive(Debug)]
pub(crate) struct Deferred {
    lacking: BTreeMap<MessageId, Lacking>,
    due: BTreeSet<(Time, MessageId)>,
    max: usize,
}

impl Deferred {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            lacking: BTreeMap::new(),
            due: BTreeSet::new(),
            max,
        }
    }

    /// `peer` has what we lack; ask at `due`, unless it is decided already when to.
    pub(crate) fn add(&mut self, id: MessageId, peer: PeerIx, due: Time) {
        if let Some(lacking) = self.lacking.get_mut(&id) {
            if lacking.holders.len() < HOLDERS_MAX && !lacking.holders.contains(&peer) {
                lacking.holders.push_back(peer);
            }
            return;
        }
        // What is not noted is advertised again at the next heartbeat.
        if self.lacking.len() < self.max {
            let holders = VecDeque::from([peer]);
            self.lacking.insert(id, Lacking { holders, due });
            self.due.insert((due, id));
        }
    }

    /// The message is here.
    pub(crate) fn came(&mut self, id: &MessageId) {
        if let Some(lacking) = self.lacking.remove(id) {
            self.due.remove(&(lacking.due, *id));
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
        let lacking = self.lacking.remove(&id)?;
        Some((id, lacking.holders))
    }

    pub(crate) fn len(&self) -> usize {
        self.lacking.len()
    }
}

impl Router {
    /// Asks for what did not come by itself: one holder now, the next after a while.
    pub(crate) fn ask_due(&mut self) {
        let in_flight_max = self.config.iwant_in_flight_max;
        let retry = self.now.after(self.config.large.iwant_retry);
        let mut asking: BTreeMap<PeerIx, Vec<MessageId>> = BTreeMap::new();
        while let Some((id, mut holders)) = self.deferred.take_due(self.now) {
            let room = self.promises.room() > asking.values().map(Vec::len).sum();
            // Until a request under way has ended, those who could be asked next are kept.
            let now = room && !self.promises.is_asked(&id, in_flight_max);
            while now && let Some(peer) = holders.pop_front() {
                if self.may_ask(peer) && self.promises.may_ask(&id, peer, in_flight_max) {
                    asking.entry(peer).or_default().push(id);
                    break;
                }
            }
            for peer in holders {
                self.deferred.add(id, peer, retry);
            }
        }
        for (peer, ids) in asking {
            self.ask(peer, &ids);
        }
    }

    fn may_ask(&self, peer: PeerIx) -> bool {
        let max = self.config.limits.iwant_ids_per_heartbeat_max;
        let budget = |state: &crate::peers::PeerState| state.used.iwant_ids < max;
        self.peers.get(peer).is_some_and(budget)
            && self.scores.score(peer) >= self.config.thresholds.gossip
    }
}
