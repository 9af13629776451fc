//! Virtual time from the real clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use undertone_gossip::Time;

/// A monotonic clock that starts at zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    zero: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self {
            zero: Instant::now(),
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
        unix_ns.saturating_sub(self.now().as_nanos())
    }
}
