//! State of the send queue, for health and metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use undertone_services::sending::MessageSender;

/// State of the send queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SendQueueState {
    /// Messages that have not reached a final state.
    pub waiting: usize,
    /// Reason why the queue cannot be written, with the path and the remedy; `None` if it can. Nothing is sent until
    /// writes succeed again.
    pub trouble: Option<String>,
}

/// Read access to the state of the send queue; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendQueueWatch(Arc<WatchedQueue>);

#[derive(Debug, Default)]
struct WatchedQueue {
    waiting: AtomicUsize,
    /// Maximum bytes of a further message that waits for a peer.
    peer_wait_room: AtomicUsize,
    trouble: Mutex<Option<String>>,
}

impl SendQueueWatch {
    pub(super) fn set_waiting(&self, machine: &MessageSender) {
        self.0.waiting.store(machine.len(), Ordering::Relaxed);
        let room = machine.peer_wait_room();
        self.0.peer_wait_room.store(room, Ordering::Relaxed);
    }

    pub(super) fn peer_wait_room(&self) -> usize {
        self.0.peer_wait_room.load(Ordering::Relaxed)
    }

    pub(super) fn set_trouble(&self, trouble: Option<String>) {
        *self.0.trouble.lock() = trouble;
    }

    /// Returns the current state.
    pub(super) fn now(&self) -> SendQueueState {
        SendQueueState {
            waiting: self.0.waiting.load(Ordering::Relaxed),
            trouble: self.0.trouble.lock().clone(),
        }
    }
}
