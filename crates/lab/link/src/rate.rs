//! Rate of a link: the time bytes take to pass.

/// Rate of one direction of a host's link, and the state of its use.
#[derive(Clone, Debug)]
pub struct LinkRate {
    bytes_per_s: u64,
    /// Length of a step, nanoseconds; 0 if bytes pass smoothly.
    step_ns: u64,
    burst_bytes: u64,
    /// With steps: bytes that may pass now, and the step in which they were counted.
    tokens: u64,
    counted_step: u64,
    free_ns: u64,
}

impl LinkRate {
    /// A link of the given rate, but at least 1 byte per second.
    pub fn new(bytes_per_s: u64, step_ns: u64, burst_bytes: u64) -> Self {
        let mut rate = Self {
            bytes_per_s: bytes_per_s.max(1),
            step_ns,
            burst_bytes,
            tokens: 0,
            counted_step: 0,
            free_ns: 0,
        };
        rate.tokens = rate.at_once_bytes();
        rate
    }

    /// Changes the rate from now on.
    pub fn set(&mut self, bytes_per_s: u64) {
        self.bytes_per_s = bytes_per_s.max(1);
    }

    /// Bytes that pass in one step.
    fn share(&self) -> u64 {
        (u128::from(self.bytes_per_s) * u128::from(self.step_ns) / 1_000_000_000).max(1) as u64
    }

    fn capacity(&self) -> u64 {
        self.share() + self.burst_bytes
    }

    /// Time that `bytes` bytes take, nanoseconds, rounded up.
    pub fn time_ns(&self, bytes: u64) -> u64 {
        let ns = u128::from(bytes) * 1_000_000_000;
        u64::try_from(ns.div_ceil(u128::from(self.bytes_per_s))).unwrap_or(u64::MAX)
    }

    /// Time that one byte takes, nanoseconds.
    pub(crate) fn ns_per_byte(&self) -> f64 {
        1e9 / self.bytes_per_s as f64
    }

    /// Length of a step, nanoseconds; 0 when bytes pass smoothly.
    pub(crate) fn step_ns(&self) -> u64 {
        self.step_ns
    }

    /// Bytes that an idle link passes at once.
    pub(crate) fn at_once_bytes(&self) -> u64 {
        if self.step_ns == 0 {
            0
        } else {
            self.capacity()
        }
    }

    /// Time before which no further bytes pass, nanoseconds.
    pub fn free_ns(&self) -> u64 {
        self.free_ns
    }

    /// Passes `bytes` bytes as early as possible; returns when the first and the last byte pass.
    pub fn pass(&mut self, now_ns: u64, bytes: u64) -> (u64, u64) {
        let start = now_ns.max(self.free_ns);
        let end = if self.step_ns == 0 {
            start.saturating_add(self.time_ns(bytes))
        } else {
            self.pass_in_steps(start, bytes)
        };
        self.free_ns = end;
        (start, end)
    }

    fn pass_in_steps(&mut self, start: u64, bytes: u64) -> u64 {
        let step = start / self.step_ns;
        let refill = (step - self.counted_step.min(step)).saturating_mul(self.share());
        self.tokens = self.tokens.saturating_add(refill).min(self.capacity());
        self.counted_step = step;
        if bytes <= self.tokens {
            self.tokens -= bytes;
            return start;
        }
        let steps = (bytes - self.tokens).div_ceil(self.share());
        self.tokens = self.tokens + steps * self.share() - bytes;
        self.counted_step = step + steps;
        self.counted_step.saturating_mul(self.step_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBIT_100: u64 = 12_500_000;

    #[test]
    fn bytes_pass_one_after_another() {
        let mut rate = LinkRate::new(MBIT_100, 0, 0);
        assert_eq!(rate.pass(5, 12_500), (5, 1_000_005));
        assert_eq!(rate.pass(10, 12_500), (1_000_005, 2_000_005));
        assert_eq!(rate.pass(9_000_000, 125), (9_000_000, 9_010_000));
    }

    #[test]
    fn in_steps_a_burst_passes_at_once_and_the_rest_at_whole_milliseconds() {
        let mut rate = LinkRate::new(MBIT_100, 1_000_000, 1500);
        let at = 10_000_300;
        assert_eq!(rate.pass(at, 14_000), (at, at), "a full bucket");
        assert_eq!(rate.pass(at, 1), (at, 11_000_000), "an empty one");
        assert_eq!(rate.pass(11_000_000, 12_499), (11_000_000, 11_000_000));
        assert_eq!(rate.pass(11_000_000, 25_001), (11_000_000, 14_000_000));
    }
}
