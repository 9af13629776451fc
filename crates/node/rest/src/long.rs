//! Responses that last until the server stops, such as event streams: how the server ends them, and how it
//! detects a client that does not read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

/// Marker on a response whose body does not end by itself. The body reports progress through it, and the
/// server uses it to ask the body to end.
#[derive(Clone, Debug)]
pub(super) struct LongAnswer {
    polled: Arc<Mutex<Instant>>,
    ending: Arc<watch::Sender<bool>>,
}

impl LongAnswer {
    pub(super) fn new() -> Self {
        Self {
            polled: Arc::new(Mutex::new(Instant::now())),
            ending: Arc::new(watch::Sender::new(false)),
        }
    }

    /// Records that more of the body was requested, because the client has read what came before.
    pub(super) fn touch(&self) {
        *self.polled.lock() = Instant::now();
    }

    /// Whether nothing more of the body was requested for longer than `long`.
    pub(super) fn is_stuck_for(&self, long: Duration) -> bool {
        self.polled.lock().elapsed() > long
    }

    /// Asks the body to end.
    pub(super) fn end(&self) {
        self.ending.send_replace(true);
    }

    /// Returns a receiver that becomes `true` when the body should end.
    pub(super) fn ending(&self) -> watch::Receiver<bool> {
        self.ending.subscribe()
    }
}
