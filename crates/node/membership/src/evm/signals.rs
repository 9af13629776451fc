//! Signals between a follower's thread and its owner: the status, and requests for a poll.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::health::ChainStatus;

#[derive(Debug)]
pub(super) struct Signals {
    status: Mutex<ChainStatus>,
    /// Notified when the status changes.
    changed: Condvar,
    /// Whether an early poll was requested.
    wanted: Mutex<bool>,
}

impl Signals {
    pub(super) fn new() -> Self {
        Self {
            status: Mutex::new(ChainStatus::new()),
            changed: Condvar::new(),
            wanted: Mutex::new(false),
        }
    }

    /// Returns a copy of the status.
    pub(super) fn status(&self) -> ChainStatus {
        self.status.lock().clone()
    }

    /// Changes the status and wakes the threads that wait for it.
    pub(super) fn update(&self, change: impl FnOnce(&mut ChainStatus)) {
        change(&mut self.status.lock());
        self.changed.notify_all();
    }

    /// Waits until the status satisfies `done` or `timeout` has passed; returns the status then.
    pub(super) fn wait_until(
        &self,
        timeout: Duration,
        done: impl Fn(&ChainStatus) -> bool,
    ) -> ChainStatus {
        let deadline = Instant::now() + timeout;
        let mut status = self.status.lock();
        while !done(&status) {
            if self.changed.wait_until(&mut status, deadline).timed_out() {
                break;
            }
        }
        status.clone()
    }

    /// Requests an early poll for news.
    pub(super) fn request_refresh(&self) {
        *self.wanted.lock() = true;
    }

    /// Whether an early poll is requested.
    pub(super) fn is_wanted(&self) -> bool {
        *self.wanted.lock()
    }

    /// Clears the request for an early poll; returns whether there was one.
    pub(super) fn take_wanted(&self) -> bool {
        std::mem::take(&mut *self.wanted.lock())
    }
}
