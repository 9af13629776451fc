//! Recent cursors: the timestamps of the messages that pages ended with.
//!
//! A cursor identifies a message by its hash alone, which may be in any time slot. A client that reads page after page
//! sends back the cursor of the previous page. With the remembered timestamp, the message is found in one slot.

use std::collections::{BTreeMap, VecDeque};

use parking_lot::Mutex;
use undertone_message::MessageHash;

#[cfg(test)]
#[path = "tests/cursors.rs"]
mod tests;

/// Number of cursors that are remembered: more than the number of concurrent readers.
const REMEMBERED: usize = 1024;

/// Timestamps of the messages that recent pages ended with.
///
/// This is only a hint: a message may be gone, and a forgotten cursor may still be valid.
#[derive(Debug, Default)]
pub(crate) struct CursorMemory(Mutex<RecentCursors>);

#[derive(Debug, Default)]
struct RecentCursors {
    timestamps_ns: BTreeMap<MessageHash, i64>,
    /// Oldest first.
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

    /// Returns the timestamp of a message, if a recent page ended with it.
    pub(crate) fn timestamp_ns(&self, hash: &MessageHash) -> Option<i64> {
        self.0.lock().timestamps_ns.get(hash).copied()
    }
}
