//! State of the router for each connected peer.

use std::collections::VecDeque;

use bytes::Bytes;
use undertone_compact::FewMap;

use crate::address::AddressGroup;
use crate::features::Features;
use crate::iwant::AnswerRecord;
use crate::peer_topics::PeerTopics;
use crate::time::Time;
use crate::types::{Direction, MessageId, PeerIx, SendHandle};

/// State of one connected peer. A large network in one process has millions of these, most of them quiet most of the
/// time, so data that only busy peers need is stored separately.
#[derive(Debug)]
pub(crate) struct PeerState {
    /// Identity and signed record as sent in peer exchange, if the driver provided any; not interpreted here.
    pub(crate) introduction: Option<Box<Introduction>>,
    pub(crate) direction: Direction,
    pub(crate) features: Features,
    pub(crate) explicit: bool,
    pub(crate) address: Option<AddressGroup>,
    /// Start of this connection. The peer may have forgotten messages of earlier connections.
    pub(crate) connected_at: Time,
    /// Topics the peer is subscribed to, sorted.
    pub(crate) topics: PeerTopics,
    /// The peer's record of answering requests for announced messages.
    pub(crate) answers: AnswerRecord,
    /// Recent activity; present exactly when the next heartbeat must visit the peer.
    activity: Option<Box<PeerActivity>>,
}

/// Identity and signed record of a peer, for peer exchange.
#[derive(Debug)]
pub(crate) struct Introduction {
    pub(crate) identity: Bytes,
    pub(crate) record: Bytes,
}

/// Recent activity of a peer, which heartbeats clear.
#[derive(Debug, Default)]
pub(crate) struct PeerActivity {
    /// Budgets used since the last heartbeat.
    pub(crate) used: Budget,
    /// Ids that the peer does not want (IDONTWANT), with the heartbeat at which that expires.
    pub(crate) dont_send: FewMap<MessageId, u64>,
    /// Copies handed to the driver and, as far as is known, not yet started; with the heartbeat.
    pub(crate) cancellable: VecDeque<(MessageId, SendHandle, u64)>,
}

/// Budgets that a peer used up since the last heartbeat.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Budget {
    pub(crate) ihave_messages: usize,
    /// Ids requested from the peer.
    pub(crate) iwant_ids: usize,
    /// Ids announced by the peer that wait to be requested.
    pub(crate) waiting_ids: usize,
    pub(crate) idontwant_ids: usize,
    pub(crate) empty_frames: usize,
}

impl PeerState {
    pub(crate) fn new(peer: crate::NewPeer, now: Time) -> Self {
        let (identity, record) = (peer.identity, peer.record);
        let is_introduced = !(identity.is_empty() && record.is_empty());
        Self {
            introduction: is_introduced.then(|| Box::new(Introduction { identity, record })),
            direction: peer.direction,
            features: peer.features,
            explicit: peer.explicit,
            address: peer.ip.map(AddressGroup::from),
            connected_at: now,
            topics: PeerTopics::default(),
            answers: AnswerRecord::default(),
            activity: None,
        }
    }

    /// Recent activity of the peer, if there is any.
    pub(crate) fn activity(&self) -> Option<&PeerActivity> {
        self.activity.as_deref()
    }

    /// Budgets used since the last heartbeat.
    pub(crate) fn used(&self) -> Budget {
        self.activity().map(|busy| busy.used).unwrap_or_default()
    }

    /// Removes and returns the handle of a copy of `id` that has not been started, if there is one.
    pub(crate) fn take_cancellable(&mut self, id: &MessageId) -> Option<SendHandle> {
        let cancellable = &mut self.activity.as_mut()?.cancellable;
        let at = cancellable.iter().position(|(queued, ..)| queued == id)?;
        cancellable.remove(at).map(|(_, handle, _)| handle)
    }

    /// Removes a copy that was started or dropped: it can no longer be cancelled.
    pub(crate) fn settled(&mut self, handle: SendHandle) -> Option<MessageId> {
        let cancellable = &mut self.activity.as_mut()?.cancellable;
        let at = cancellable
            .iter()
            .position(|(_, queued, _)| *queued == handle)?;
        cancellable.remove(at).map(|(id, ..)| id)
    }
}

/// Connected peers, indexed by [`PeerIx`].
#[derive(Debug, Default)]
pub(crate) struct Peers {
    slots: Vec<Option<PeerState>>,
    /// Peers with used budgets or remembered entries since a heartbeat last cleared them: most peers are
    /// quiet most of the time, and a heartbeat need not visit them.
    busy: Vec<PeerIx>,
}

impl Peers {
    pub(crate) fn get(&self, peer: PeerIx) -> Option<&PeerState> {
        self.slots.get(peer.slot())?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, peer: PeerIx) -> Option<&mut PeerState> {
        self.slots.get_mut(peer.slot())?.as_mut()
    }

    /// Returns the recent activity of a connected peer for modification; the next heartbeat visits the peer.
    pub(crate) fn get_busy(&mut self, peer: PeerIx) -> Option<&mut PeerActivity> {
        let state = self.slots.get_mut(peer.slot())?.as_mut()?;
        if state.activity.is_none() {
            self.busy.push(peer);
        }
        Some(state.activity.get_or_insert_default())
    }

    /// Whether the next heartbeat has no peer to visit.
    pub(crate) fn are_idle(&self) -> bool {
        self.busy.is_empty()
    }

    /// Heartbeat: resets budgets and drops expired entries. Copies handed to the driver more than `history`
    /// heartbeats ago have been started, or were dropped without a report.
    pub(crate) fn renew(&mut self, heartbeat: u64, history: u64) {
        let slots = &mut self.slots;
        self.busy.retain(|peer| {
            let state = slots.get_mut(peer.slot()).and_then(Option::as_mut);
            let Some(state) = state else {
                return false;
            };
            let Some(activity) = state.activity.as_mut() else {
                return false;
            };
            activity.used = Budget::default();
            activity.dont_send.retain(|_, until| *until > heartbeat);
            while activity
                .cancellable
                .front()
                .is_some_and(|(.., at)| at + history < heartbeat)
            {
                activity.cancellable.pop_front();
            }
            if activity.dont_send.is_empty() && activity.cancellable.is_empty() {
                state.activity = None;
            }
            state.activity.is_some()
        });
        if self.busy.is_empty() {
            self.busy = Vec::new();
        }
    }

    /// Reserves memory for exactly this many peers.
    pub(crate) fn reserve(&mut self, count: usize) {
        let more = count.saturating_sub(self.slots.len());
        self.slots.reserve_exact(more);
    }

    pub(crate) fn insert(&mut self, peer: PeerIx, state: PeerState) {
        if self.slots.len() <= peer.slot() {
            self.slots.resize_with(peer.slot() + 1, || None);
        }
        self.slots[peer.slot()] = Some(state);
    }

    pub(crate) fn remove(&mut self, peer: PeerIx) -> Option<PeerState> {
        // The peer may come back under the same index, with activity of its own.
        self.busy.retain(|busy| *busy != peer);
        self.slots.get_mut(peer.slot())?.take()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (PeerIx, &PeerState)> {
        let numbered = (0..).map(PeerIx).zip(&self.slots);
        numbered.filter_map(|(ix, slot)| slot.as_ref().map(|peer| (ix, peer)))
    }
}
