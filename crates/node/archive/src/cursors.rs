//! Cursors that pages ended with: the timestamps of their messages.
//!
//! A cursor names a message by its hash alone, which any slot of time may have. A client that reads page after page
//! sends back the cursor of the page before; with its timestamp, that message is found in one slot.

use std::collections::{BTreeMap, VecDeque};

use parking_lot::Mutex;
use undertone_message::MessageHash;

#[cfg(test)]
#[path = "tests/cursors.rs"]
mod tests;

/// Cursors that are remembered: more than the clients that read at the same time.
const REMEMBERED: usize = 1024;

/// Timestamps of the messages that pages ended with last.
///
/// A hint only: a message may be gone, and a cursor that is not remembered may still be there.
#[derive(Debug, Default)]
pub(crate) struct CursorMemory(Mutex<RecentCursors>);

#[derive(Debug, Default)]
struct RecentCursors {
    timestamps_ns: BTreeMap<MessageHash, i64>,
    /// The oldest first.
    order: VecDeque<MessageHash>,
}

impl CursorMemory {
    /// Remembers the message that a page ended with.
    pub(crate) fn note(&self, hash: MessageHash, timestamp_ns: i64) {
        let recent = &mut *self.0.lock();
        if recent.timestamps_ns.insert(hash, timestamp_ns).is_some() {
            return;
        }
        recent.order.push_back(hash);
        if recent.order.len() > REMEMBERED
            && let Some(oldest) = recent.order.pop_front()
        {
            recent.timestamps_ns.remove(&oldest);
        }
    }

    /// Timestamp of a message, if a page ended with it not long ago.
    pub(crate) fn timestamp_ns(&self, hash: &MessageHash) -> Option<i64> {
        self.0.lock().timestamps_ns.get(hash).copied()
    }
}
