//! Clocks of a node: virtual time of the state machines, and wall time of the member.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use undertone_gossip::Time;
use undertone_rln::{Policy, WallClock};

/// Monotonic clock that starts at zero.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    zero: Instant,
    /// Offset of the wall clock from the system's, nanoseconds.
    ahead_ns: i64,
}

impl Clock {
    /// Starts the clock. The wall clock is `ahead_ns` ahead of the system's; negative when it is behind.
    pub fn start(ahead_ns: i64) -> Self {
        Self {
            zero: Instant::now(),
            ahead_ns,
        }
    }

    /// Returns the virtual time that has passed since the start.
    pub fn now(self) -> Time {
        Time::ZERO.after(self.zero.elapsed())
    }

    /// Converts a virtual time to an instant of the operating system's clock.
    pub fn instant(self, time: Time) -> Instant {
        self.zero
            .checked_add(Duration::from_nanos(time.as_nanos()))
            .unwrap_or(self.zero)
    }

    /// Returns the Unix time at virtual time zero, nanoseconds. It follows corrections of the wall clock.
    pub fn unix_ns_at_zero(self) -> u64 {
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let unix_ns = u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX);
        unix_ns
            .saturating_add_signed(self.ahead_ns)
            .saturating_sub(self.now().as_nanos())
    }
}

/// The node's wall clock, with the network's epoch length and allowed clock gap.
#[derive(Clone, Copy, Debug)]
pub struct MemberClock {
    epoch_size_s: u64,
    max_clock_gap_ns: u64,
    ahead_ns: i64,
}

impl MemberClock {
    /// Creates a clock that is `ahead_ns` ahead of the system's, nanoseconds; negative when it is behind.
    pub fn new(policy: &Policy, ahead_ns: i64) -> Self {
        Self {
            epoch_size_s: policy.epoch_size_s.max(1),
            max_clock_gap_ns: policy.max_clock_gap_ns,
            ahead_ns,
        }
    }

    /// Returns the present time. A clock set before 1970 yields the start of 1970.
    pub fn now(&self) -> WallClock {
        let since = UNIX_EPOCH.elapsed().unwrap_or_default();
        let now_ns = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        WallClock {
            unix_now_ns: now_ns.saturating_add_signed(self.ahead_ns),
            epoch_size_s: self.epoch_size_s,
            max_clock_gap_ns: self.max_clock_gap_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offset in seconds, longer than any test runs and than any correction of the clock during one.
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
