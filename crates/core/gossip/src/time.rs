//! Virtual time: nanoseconds from an arbitrary start, chosen by the driver.

use std::time::Duration;

/// A point in time, in nanoseconds from an arbitrary start. All arithmetic saturates, so a hostile duration
/// can at worst yield [`Time::MAX`], never wrap around or panic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// Start of virtual time, nanosecond 0.
    pub const ZERO: Self = Self(0);
    /// End of virtual time; for a timer it means "never".
    pub const MAX: Self = Self(u64::MAX);

    /// Returns the time `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the time `millis` milliseconds after the start.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Returns the nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns this time plus `duration`.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }

    /// Returns the time elapsed since `earlier`; zero when `earlier` lies ahead.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}
