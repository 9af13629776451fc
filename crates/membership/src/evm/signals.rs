//! What a follower's thread and its owner tell each other.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::health::Status;

#[derive(Debug)]
pub(super) struct Signals {
    status: Mutex<Status>,
    /// The status changed.
    changed: Condvar,
    /// News is wanted at once.
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

    /// How it goes.
    pub(super) fn status(&self) -> Status {
        lock(&self.status).clone()
    }

    /// Changes the status and wakes those who wait for it.
    pub(super) fn update(&self, change: impl FnOnce(&mut Status)) {
        change(&mut lock(&self.status));
        self.changed.notify_all();
    }

    /// Waits until `done`, or for `timeout`; gives the status then.
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

    /// Asks for news soon.
    pub(super) fn want(&self) {
        *lock(&self.wanted) = true;
    }

    /// Whether news is wanted soon.
    pub(super) fn is_wanted(&self) -> bool {
        *lock(&self.wanted)
    }

    /// Whether news was wanted soon; from now on it is looked for.
    pub(super) fn take_wanted(&self) -> bool {
        std::mem::take(&mut *lock(&self.wanted))
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What they guard is changed by single calls that leave it whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
