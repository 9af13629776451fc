//! Token bucket that fills continuously, in exact integers.

use undertone_gossip::Time;

use super::RateLimit;

#[cfg(test)]
#[path = "tests/bucket.rs"]
mod tests;

/// Token bucket: it holds up to a capacity, and fills at the rate of a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    /// Tokens times the period of the limit in nanoseconds, so that no fraction is lost.
    level: u128,
    filled_at: Time,
}

impl Bucket {
    /// Creates a bucket with `tokens` in it.
    pub(super) fn new(now: Time, limit: &RateLimit, tokens: u64) -> Self {
        Self {
            level: u128::from(tokens).saturating_mul(limit.period.as_nanos()),
            filled_at: now,
        }
    }

    /// Adds the inflow since the last call, up to `capacity` tokens; returns whether there is a token
    /// to [`take`](Self::take).
    pub(super) fn fill(&mut self, now: Time, limit: &RateLimit, capacity: u64) -> bool {
        let token = limit.period.as_nanos();
        let inflow = now.since(self.filled_at).as_nanos() * u128::from(limit.volume);
        let full = u128::from(capacity).saturating_mul(token);
        self.level = self.level.saturating_add(inflow).min(full);
        self.filled_at = self.filled_at.max(now);
        self.level >= token
    }

    /// Takes a token, after [`fill`](Self::fill) returned `true`.
    pub(super) fn take(&mut self, limit: &RateLimit) {
        self.level = self.level.saturating_sub(limit.period.as_nanos());
    }
}
