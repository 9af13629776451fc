//! A received frame, with the message id computed while it arrived.

use std::ops::Range;

use bytes::Bytes;

use super::early::EarlyId;
use crate::types::MessageId;

/// Received frame: one RPC with its length prefix, and the id of its first message if known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    bytes: Bytes,
    /// Range of a message's data in the frame, and the message's id.
    hashed: Option<(Range<usize>, MessageId)>,
}

impl Frame {
    /// Creates a frame. `early` must have been advanced with these bytes; the remaining bytes of the first
    /// message are hashed now.
    pub fn with_early_id(bytes: Bytes, mut early: EarlyId) -> Self {
        early.advance(&bytes);
        let hashed = early.finish();
        Self { bytes, hashed }
    }

    /// Bytes of the frame, with the length prefix.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Id of the message with this data, if the frame knows it. The data must be the frame's own memory, so
    /// that the same bytes elsewhere in the frame are not mistaken for it.
    pub fn id_of(&self, data: &Bytes) -> Option<MessageId> {
        let (range, id) = self.hashed.as_ref()?;
        let known = self.bytes.get(range.clone())?;
        let is_same = known.as_ptr() == data.as_ptr() && known.len() == data.len();
        is_same.then_some(*id)
    }
}

impl From<Bytes> for Frame {
    fn from(bytes: Bytes) -> Self {
        Self {
            bytes,
            hashed: None,
        }
    }
}
