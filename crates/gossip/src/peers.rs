//! What the router holds for each connected peer.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use crate::features::Features;
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
    /// Topics the peer is subscribed to, sorted.
    pub(crate) topics: Vec<TopicIx>,
    /// Budgets used since the last heartbeat.
    pub(crate) used: Budget,
    /// Ids the peer does not want, with the heartbeat at which that is forgotten.
    pub(crate) dont_send: BTreeMap<MessageId, u64>,
    /// Copies handed to the driver and, as far as we know, not yet begun; with the heartbeat.
    pub(crate) cancellable: VecDeque<(MessageId, SendHandle, u64)>,
}

/// What a peer used up between two heartbeats.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Budget {
    pub(crate) ihave_messages: usize,
    pub(crate) iwant_ids: usize,
    pub(crate) idontwant_ids: usize,
}

impl PeerState {
    pub(crate) fn new(peer: crate::NewPeer) -> Self {
        Self {
            identity: peer.identity,
            record: peer.record,
            direction: peer.direction,
            features: peer.features,
            explicit: peer.explicit,
            topics: Vec::new(),
            used: Budget::default(),
            dont_send: BTreeMap::new(),
            cancellable: VecDeque::new(),
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
pub(crate) struct Peers(Vec<Option<Box<PeerState>>>);

impl Peers {
    pub(crate) fn get(&self, peer: PeerIx) -> Option<&PeerState> {
        self.0.get(peer.slot())?.as_deref()
    }

    pub(crate) fn get_mut(&mut self, peer: PeerIx) -> Option<&mut PeerState> {
        self.0.get_mut(peer.slot())?.as_deref_mut()
    }

    pub(crate) fn insert(&mut self, peer: PeerIx, state: PeerState) {
        if self.0.len() <= peer.slot() {
            self.0.resize_with(peer.slot() + 1, || None);
        }
        self.0[peer.slot()] = Some(Box::new(state));
    }

    pub(crate) fn remove(&mut self, peer: PeerIx) -> Option<Box<PeerState>> {
        self.0.get_mut(peer.slot())?.take()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (PeerIx, &PeerState)> {
        let numbered = (0..).map(PeerIx).zip(&self.0);
        numbered.filter_map(|(ix, slot)| slot.as_deref().map(|peer| (ix, peer)))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (PeerIx, &mut PeerState)> {
        let numbered = (0..).map(PeerIx).zip(&mut self.0);
        numbered.filter_map(|(ix, slot)| slot.as_deref_mut().map(|peer| (ix, peer)))
    }
}
