//! Messages that wait for the validator.

use bytes::Bytes;

use crate::error::Capacity;
use crate::idmap::IdMap;
use crate::rng::Rng;
use crate::topics::TopicIx;
use crate::types::{MessageId, PeerIx};

/// A message whose validity is unknown.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) topic: TopicIx,
    pub(crate) from: PeerIx,
    pub(crate) data: Bytes,
    /// The frame it came in, if it holds nothing else and can go on as it is.
    pub(crate) frame: Option<Bytes>,
}

/// Waiting messages, bounded in number and bytes.
#[derive(Debug)]
pub(crate) struct Pending {
    messages: IdMap<Waiting>,
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

    /// Whether `len` more bytes fit.
    pub(crate) fn room_for(&self, len: usize) -> Result<(), Capacity> {
        let fits = self.messages.len() < self.count_max && self.bytes + len <= self.bytes_max;
        if fits { Ok(()) } else { Err(Capacity::Pending) }
    }

    pub(crate) fn put(&mut self, id: MessageId, waiting: Waiting) {
        self.bytes += waiting.data.len();
        if let Some(old) = self.messages.insert(id, waiting) {
            self.bytes -= old.data.len();
        }
    }

    pub(crate) fn take(&mut self, id: &MessageId) -> Option<Waiting> {
        let waiting = self.messages.remove(id)?;
        self.bytes -= waiting.data.len();
        Some(waiting)
    }

    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}
