//! What the router holds for each connected peer.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use crate::address::AddressGroup;
use crate::features::Features;
use crate::promises::Standing;
use crate::time::Time;
use crate::topics::TopicIx;
use crate::types::{Direction, MessageId, PeerIx, SendHandle};

/// A connected peer.
#[derive(Debug)]
pub(crate) struct PeerState {
    /// Identity and signed record as peer exchange sends them; opaque here.
    pub(crate) identity: Bytes,
    pub(crate) record: Bytes,
    pub(crate) direction: Direction,
    pub(crate) features: Features,
    pub(crate) explicit: bool,
    pub(crate) address: Option<AddressGroup>,
    /// The start of this connection. What was said on an earlier one the peer may not remember.
    pub(crate) connected_at: Time,
    /// Topics the peer is subscribed to, sorted.
    pub(crate) topics: Vec<TopicIx>,
    /// Budgets used since the last heartbeat.
    pub(crate) used: Budget,
    /// Ids the peer does not want, with the heartbeat at which that is forgotten.
    pub(crate) dont_send: BTreeMap<MessageId, u64>,
    /// Copies handed to the driver and, as far as we know, not yet begun; with the heartbeat.
    pub(crate) cancellable: VecDeque<(MessageId, SendHandle, u64)>,
    /// What its announcements are worth.
    pub(crate) word: Word,
    /// Whether the heartbeat has to look at it.
    busy: bool,
}

/// A peer's record of delivering what it announced, when asked for it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Word {
    /// Whether it ever did.
    has_kept: bool,
    /// Requests that are overdue since it last did.
    pub(crate) overdue_in_a_row: u32,
}

impl Word {
    pub(crate) fn kept(&mut self) {
        self.has_kept = true;
        self.overdue_in_a_row = 0;
    }

    pub(crate) fn overdue(&mut self, count: u32) {
        self.overdue_in_a_row = self.overdue_in_a_row.saturating_add(count);
    }

    pub(crate) fn standing(self) -> Standing {
        match (self.overdue_in_a_row, self.has_kept) {
            (0, true) => Standing::Trusted,
            (0, false) => Standing::Untried,
            _ => Standing::Dubious,
        }
    }
}

/// What a peer used up between two heartbeats.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Budget {
    pub(crate) ihave_messages: usize,
    /// Ids asked for.
    pub(crate) iwant_ids: usize,
    /// Ids that were heard of and left to be asked for later.
    pub(crate) waiting_ids: usize,
    pub(crate) idontwant_ids: usize,
    pub(crate) empty_frames: usize,
}

impl PeerState {
    pub(crate) fn new(peer: crate::NewPeer, now: Time) -> Self {
        Self {
            identity: peer.identity,
            record: peer.record,
            direction: peer.direction,
            features: peer.features,
            explicit: peer.explicit,
            address: peer.ip.map(AddressGroup::from),
            connected_at: now,
            topics: Vec::new(),
            used: Budget::default(),
            dont_send: BTreeMap::new(),
            cancellable: VecDeque::new(),
            word: Word::default(),
            busy: false,
        }
    }

    /// Takes the copy of `id` that has not begun, if there is one.
    pub(crate) fn take_cancellable(&mut self, id: &MessageId) -> Option<SendHandle> {
        let at = self
            .cancellable
            .iter()
            .position(|(queued, ..)| queued == id)?;
        self.cancellable.remove(at).map(|(_, handle, _)| handle)
    }

    /// The copy has begun or is gone: it can no longer be cancelled.
    pub(crate) fn settled(&mut self, handle: SendHandle) -> Option<MessageId> {
        let at = self
            .cancellable
            .iter()
            .position(|(_, queued, _)| *queued == handle)?;
        self.cancellable.remove(at).map(|(id, ..)| id)
    }
}

/// Connected peers by index.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    slots: Vec<Option<Box<PeerState>>>,
    /// Peers of which something was counted or remembered since a heartbeat last let go of them: most
    /// peers are quiet most of the time, and a heartbeat need not visit them.
    busy: Vec<PeerIx>,
}

impl Peers {
    pub(crate) fn get(&self, peer: PeerIx) -> Option<&PeerState> {
        self.slots.get(peer.slot())?.as_deref()
    }

    pub(crate) fn get_mut(&mut self, peer: PeerIx) -> Option<&mut PeerState> {
        self.slots.get_mut(peer.slot())?.as_deref_mut()
    }

    /// As [`get_mut`](Self::get_mut), to count or remember something until the heartbeat.
    pub(crate) fn get_busy(&mut self, peer: PeerIx) -> Option<&mut PeerState> {
        let state = self.slots.get_mut(peer.slot())?.as_deref_mut()?;
        if !std::mem::replace(&mut state.busy, true) {
            self.busy.push(peer);
        }
        Some(state)
    }

    /// A heartbeat: budgets are new, and what is over at this one is forgotten. Copies handed to the
    /// driver `history` heartbeats ago have begun, or were dropped without our knowing.
    pub(crate) fn renew(&mut self, heartbeat: u64, history: u64) {
        let slots = &mut self.slots;
        self.busy.retain(|peer| {
            let state = slots.get_mut(peer.slot()).and_then(Option::as_deref_mut);
            let Some(state) = state else {
                return false;
            };
            state.used = Budget::default();
            state.dont_send.retain(|_, until| *until > heartbeat);
            while state
                .cancellable
                .front()
                .is_some_and(|(.., at)| at + history < heartbeat)
            {
                state.cancellable.pop_front();
            }
            state.busy = !(state.dont_send.is_empty() && state.cancellable.is_empty());
            state.busy
        });
    }

    pub(crate) fn insert(&mut self, peer: PeerIx, state: PeerState) {
        if self.slots.len() <= peer.slot() {
            self.slots.resize_with(peer.slot() + 1, || None);
        }
        self.slots[peer.slot()] = Some(Box::new(state));
    }

    pub(crate) fn remove(&mut self, peer: PeerIx) -> Option<Box<PeerState>> {
        // It may come back under the same index, with a flag of its own.
        self.busy.retain(|busy| *busy != peer);
        self.slots.get_mut(peer.slot())?.take()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (PeerIx, &PeerState)> {
        let numbered = (0..).map(PeerIx).zip(&self.slots);
        numbered.filter_map(|(ix, slot)| slot.as_deref().map(|peer| (ix, peer)))
    }
}
