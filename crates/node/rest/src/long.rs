//! Answers that go on until the server stops, such as event streams: how the server ends them, and how it
//! notices that nobody reads them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

/// Mark on a response whose body does not end by itself. The body reports progress through it, and the
/// server asks the body through it to end.
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

    /// Records that there is room for more of the body, because the client has read what came before.
    pub(super) fn touch(&self) {
        *self.polled.lock() = Instant::now();
    }

    /// Whether there has been no room for more of the body for `long`.
    pub(super) fn is_stuck_for(&self, long: Duration) -> bool {
        self.polled.lock().elapsed() > long
    }

    /// Asks the body to end.
    pub(super) fn end(&self) {
        self.ending.send_replace(true);
    }

    /// Receiver that turns `true` when the body should end.
    pub(super) fn ending(&self) -> watch::Receiver<bool> {
        self.ending.subscribe()
    }
}
