//! Signals between a follower's thread and its owner: the status, and requests for a poll.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::health::Status;

#[derive(Debug)]
pub(super) struct Signals {
    status: Mutex<Status>,
    /// Notified when the status changes.
    changed: Condvar,
    /// Whether an early poll was requested.
    wanted: Mutex<bool>,
}

impl Signals {
    pub(super) fn new() -> Self {
        Self {
            status: Mutex::new(Status::new()),
            changed: Condvar::new(),
            wanted: Mutex::new(false),
        }
    }

    /// Returns a copy of the status.
    pub(super) fn status(&self) -> Status {
        lock(&self.status).clone()
    }

    /// Changes the status and wakes the threads that wait for it.
    pub(super) fn update(&self, change: impl FnOnce(&mut Status)) {
        change(&mut lock(&self.status));
        self.changed.notify_all();
    }

    /// Waits until the status satisfies `done` or `timeout` has passed; returns the status then.
    pub(super) fn wait_until(&self, timeout: Duration, done: impl Fn(&Status) -> bool) -> Status {
        let deadline = Instant::now() + timeout;
        let mut status = lock(&self.status);
        while !done(&status) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.changed.wait_timeout(status, left);
            (status, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        status.clone()
    }

    /// Requests an early poll for news.
    pub(super) fn request_refresh(&self) {
        *lock(&self.wanted) = true;
    }

    /// Whether an early poll is requested.
    pub(super) fn is_wanted(&self) -> bool {
        *lock(&self.wanted)
    }

    /// Clears the request for an early poll; returns whether there was one.
    pub(super) fn take_wanted(&self) -> bool {
        std::mem::take(&mut *lock(&self.wanted))
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The guarded values are changed by single calls that leave them consistent, even after a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
