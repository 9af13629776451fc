//! Message ids computed while their frames were being received.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use undertone_gossip::{MessageId, MessageIds};

/// Knows the id of at most one message; others are hashed. Shared by the router and the driver.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownIds(Arc<Mutex<Option<(Bytes, MessageId)>>>);

impl KnownIds {
    /// Sets the data whose id is known, or clears it.
    pub(crate) fn know(&self, hashed: Option<(Bytes, MessageId)>) {
        *self.0.lock() = hashed;
    }
}

impl MessageIds for KnownIds {
    fn id_of(&mut self, data: &Bytes) -> MessageId {
        // The same memory means the same bytes, because the memory is held while the id is known.
        let same = |known: &Bytes| known.as_ptr() == data.as_ptr() && known.len() == data.len();
        match &*self.0.lock() {
            Some((known, id)) if same(known) => *id,
            _ => MessageId::of(data),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_memory_that_was_hashed_is_known() {
        let frame = Bytes::from(vec![7; 100]);
        let other = MessageId([1; 32]);
        let mut ids = KnownIds::default();
        ids.know(Some((frame.slice(10..60), other)));
        assert_eq!(ids.id_of(&frame.slice(10..60)), other);
        for elsewhere in [frame.slice(11..61), frame.slice(10..59), vec![7; 50].into()] {
            assert_eq!(ids.id_of(&elsewhere), MessageId::of(&elsewhere));
        }
        ids.know(None);
        assert_eq!(ids.id_of(&frame.slice(10..60)), MessageId::of(&[7; 50]));
    }
}
