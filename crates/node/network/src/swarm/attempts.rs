//! Token bucket for attempts.

use std::time::{Duration, Instant};

/// Attempts left in a token bucket that refills with time.
#[derive(Debug)]
pub(crate) struct Attempts {
    max: u32,
    left: u32,
    refill: Duration,
    refilled: Instant,
}

impl Attempts {
    /// Creates a full bucket of `max` attempts that gains one attempt per `refill`.
    pub(crate) fn new(max: u32, refill: Duration, now: Instant) -> Self {
        Self {
            max,
            left: max,
            refill,
            refilled: now,
        }
    }

    /// Takes an attempt from the bucket; returns whether there was one.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        while self.left < self.max && now.duration_since(self.refilled) >= self.refill {
            self.left += 1;
            self.refilled += self.refill;
        }
        if self.left == self.max {
            self.refilled = now;
        }
        let is_allowed = self.left > 0;
        self.left = self.left.saturating_sub(1);
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFILL: Duration = Duration::from_secs(10);

    #[test]
    fn a_burst_ends_and_time_allows_one_more_at_a_time() {
        let start = Instant::now();
        let mut attempts = Attempts::new(3, REFILL, start);
        assert!((0..3).all(|_| attempts.take(start)));
        assert!(!attempts.take(start));
        assert!(!attempts.take(start + REFILL - Duration::from_millis(1)));
        assert!(attempts.take(start + REFILL));
        assert!(!attempts.take(start + REFILL));
    }

    #[test]
    fn rest_allows_no_more_than_the_first_burst() {
        let start = Instant::now();
        let mut attempts = Attempts::new(3, REFILL, start);
        assert!(attempts.take(start));
        let later = start + REFILL * 1000;
        assert!((0..3).all(|_| attempts.take(later)));
        assert!(!attempts.take(later));
    }
}
