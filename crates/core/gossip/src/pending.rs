//! Messages waiting for the validator.

use bytes::Bytes;

use crate::error::Capacity;
use crate::idmap::IdMap;
use crate::rng::Rng;
use crate::topics::TopicIx;
use crate::types::{MessageId, PeerIx};

/// Message whose verdict is awaited.
#[derive(Clone, Debug)]
pub(crate) struct PendingMessage {
    pub(crate) topic: TopicIx,
    pub(crate) from: PeerIx,
    pub(crate) data: Bytes,
    /// Frame in which the message arrived, if it contains nothing else and can be forwarded unchanged.
    pub(crate) frame: Option<Bytes>,
}

/// Messages waiting for the validator, bounded in number and bytes.
#[derive(Debug)]
pub(crate) struct Pending {
    messages: IdMap<PendingMessage>,
    bytes: usize,
    count_max: usize,
    bytes_max: usize,
}

impl Pending {
    pub(crate) fn new(rng: &mut Rng, count_max: usize, bytes_max: usize) -> Self {
        Self {
            messages: IdMap::new(rng),
            bytes: 0,
            count_max,
            bytes_max,
        }
    }

    /// Checks that a message of `len` bytes fits.
    pub(crate) fn room_for(&self, len: usize) -> Result<(), Capacity> {
        let fits = self.messages.len() < self.count_max && self.bytes + len <= self.bytes_max;
        if fits { Ok(()) } else { Err(Capacity::Pending) }
    }

    pub(crate) fn put(&mut self, id: MessageId, waiting: PendingMessage) {
        self.bytes += waiting.data.len();
        if let Some(old) = self.messages.insert(id, waiting) {
            self.bytes -= old.data.len();
        }
    }

    pub(crate) fn take(&mut self, id: &MessageId) -> Option<PendingMessage> {
        let waiting = self.messages.remove(id)?;
        self.bytes -= waiting.data.len();
        Some(waiting)
    }

    /// Peer that sent the first copy of a waiting message.
    pub(crate) fn first_sender(&self, id: &MessageId) -> Option<PeerIx> {
        Some(self.messages.get(id)?.from)
    }

    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}
