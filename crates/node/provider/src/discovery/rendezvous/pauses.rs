//! Pauses that double while attempts fail.

use std::time::Duration;

/// Pauses that double from a first to a longest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pauses {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Pauses {
    pub(super) fn new(first: Duration, longest: Duration) -> Self {
        Self {
            first,
            longest,
            next: first,
        }
    }

    /// Returns the pause after a failure.
    pub(super) fn failed(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }

    /// Resets the pause to the first one, after a success.
    pub(super) fn succeeded(&mut self) {
        self.next = self.first;
    }
}
