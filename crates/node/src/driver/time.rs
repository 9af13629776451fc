//! Virtual time from the real clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use undertone_gossip::Time;

/// A monotonic clock that starts at zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    zero: Instant,
    /// Of the wall clock, against the system's.
    ahead_ns: i64,
}

impl Clock {
    /// The wall clock is so far ahead of the system's, nanoseconds; negative: behind.
    pub(crate) fn start(ahead_ns: i64) -> Self {
        Self {
            zero: Instant::now(),
            ahead_ns,
        }
    }

    pub(crate) fn now(self) -> Time {
        Time::ZERO.after(self.zero.elapsed())
    }

    /// The moment as the operating system's clock has it.
    pub(crate) fn instant(self, time: Time) -> Instant {
        self.zero
            .checked_add(Duration::from_nanos(time.as_nanos()))
            .unwrap_or(self.zero)
    }

    /// Unix nanoseconds at zero, by the wall clock of this moment: follows its corrections.
    pub(crate) fn unix_ns_at_zero(self) -> u64 {
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let unix_ns = u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX);
        unix_ns
            .saturating_add_signed(self.ahead_ns)
            .saturating_sub(self.now().as_nanos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds that no test takes, and by which nobody sets a clock meanwhile.
    const FAR_S: i64 = 1_000_000;

    #[test]
    fn a_clock_may_be_ahead_of_the_systems_and_behind() {
        let unix_s = |ahead_s: i64| {
            let clock = Clock::start(ahead_s * 1_000_000_000);
            i64::try_from(clock.unix_ns_at_zero() / 1_000_000_000).unwrap()
        };
        let right_s = unix_s(0);
        for ahead_s in [FAR_S, -FAR_S] {
            let off_s = unix_s(ahead_s) - right_s - ahead_s;
            assert!(off_s.abs() < FAR_S / 10, "{off_s}");
        }
    }
}
