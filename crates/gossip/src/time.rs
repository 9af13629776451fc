//! Virtual time: nanoseconds from an arbitrary start, chosen by the driver.

use std::time::Duration;

/// A moment, in nanoseconds from an arbitrary start. All arithmetic saturates, so a hostile
/// duration can at worst name the end of time, never wrap around or panic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of time.
    pub const ZERO: Self = Self(0);
    /// The end of time; "never" for a timer.
    pub const MAX: Self = Self(u64::MAX);

    /// The moment `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The moment `millis` milliseconds after the start.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// This moment plus `duration`.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }

    /// The time that has passed since `earlier`; zero when `earlier` lies ahead.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}
