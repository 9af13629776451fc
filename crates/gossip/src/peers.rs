//! State of the router for each connected peer.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use crate::address::AddressGroup;
use crate::features::Features;
use crate::iwant::AnswerRecord;
use crate::time::Time;
use crate::topics::TopicIx;
use crate::types::{Direction, MessageId, PeerIx, SendHandle};

/// State of one connected peer.
#[derive(Debug)]
pub(crate) struct PeerState {
    /// Identity and signed record as sent in peer exchange; not interpreted here.
    pub(crate) identity: Bytes,
    pub(crate) record: Bytes,
    pub(crate) direction: Direction,
    pub(crate) features: Features,
    pub(crate) explicit: bool,
    pub(crate) address: Option<AddressGroup>,
    /// Start of this connection. The peer may have forgotten messages of earlier connections.
    pub(crate) connected_at: Time,
    /// Topics the peer is subscribed to, sorted.
    pub(crate) topics: Vec<TopicIx>,
    /// Budgets used since the last heartbeat.
    pub(crate) used: Budget,
    /// Ids that the peer does not want (IDONTWANT), with the heartbeat at which that expires.
    pub(crate) dont_send: BTreeMap<MessageId, u64>,
    /// Copies given to the driver and, as far as we know, not yet started; with the heartbeat.
    pub(crate) cancellable: VecDeque<(MessageId, SendHandle, u64)>,
    /// The peer's record of answering requests for announced messages.
    pub(crate) answers: AnswerRecord,
    /// Whether the next heartbeat has to visit the peer.
    busy: bool,
}

/// Budgets that a peer used up since the last heartbeat.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Budget {
    pub(crate) ihave_messages: usize,
    /// Ids requested from the peer.
    pub(crate) iwant_ids: usize,
    /// Ids announced by the peer that wait to be asked for.
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
            answers: AnswerRecord::default(),
            busy: false,
        }
    }

    /// Removes and returns the handle of a copy of `id` that has not been started, if there is one.
    pub(crate) fn take_cancellable(&mut self, id: &MessageId) -> Option<SendHandle> {
        let at = self
            .cancellable
            .iter()
            .position(|(queued, ..)| queued == id)?;
        self.cancellable.remove(at).map(|(_, handle, _)| handle)
    }

    /// Removes a copy that was started or dropped: it can no longer be cancelled.
    pub(crate) fn settled(&mut self, handle: SendHandle) -> Option<MessageId> {
        let at = self
            .cancellable
            .iter()
            .position(|(_, queued, _)| *queued == handle)?;
        self.cancellable.remove(at).map(|(id, ..)| id)
    }
}

/// Connected peers, indexed by [`PeerIx`].
#[derive(Debug, Default)]
pub(crate) struct Peers {
    slots: Vec<Option<Box<PeerState>>>,
    /// Peers with used budgets or remembered entries since a heartbeat last cleared them: most peers are
    /// quiet most of the time, and a heartbeat need not visit them.
    busy: Vec<PeerIx>,
}

impl Peers {
    pub(crate) fn get(&self, peer: PeerIx) -> Option<&PeerState> {
        self.slots.get(peer.slot())?.as_deref()
    }

    pub(crate) fn get_mut(&mut self, peer: PeerIx) -> Option<&mut PeerState> {
        self.slots.get_mut(peer.slot())?.as_deref_mut()
    }

    /// Returns the peer as [`get_mut`](Self::get_mut) does, and marks it for the next heartbeat.
    pub(crate) fn get_busy(&mut self, peer: PeerIx) -> Option<&mut PeerState> {
        let state = self.slots.get_mut(peer.slot())?.as_deref_mut()?;
        if !std::mem::replace(&mut state.busy, true) {
            self.busy.push(peer);
        }
        Some(state)
    }

    /// Heartbeat: resets budgets and drops expired entries. Copies given to the driver more than `history`
    /// heartbeats ago have been started, or were dropped without a report.
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
        // The peer may come back under the same index, with a `busy` flag of its own.
        self.busy.retain(|busy| *busy != peer);
        self.slots.get_mut(peer.slot())?.take()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (PeerIx, &PeerState)> {
        let numbered = (0..).map(PeerIx).zip(&self.slots);
        numbered.filter_map(|(ix, slot)| slot.as_deref().map(|peer| (ix, peer)))
    }
}
