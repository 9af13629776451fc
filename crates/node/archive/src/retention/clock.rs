//! Clock for the retention.

use std::time::Duration;

#[cfg(test)]
#[path = "tests/clock.rs"]
mod tests;

/// Clock that determines the age of messages for retention. It is the wall clock, but a step ahead counts only once it
/// has persisted for [`RetentionClock::HOLD`].
///
/// A clock that jumps days ahead, until time synchronisation corrects it, would otherwise suddenly make the whole
/// archive too old. Until a step is accepted, time continues from before it by the monotonic clock. A step back is
/// followed at once, because it makes nothing older.
///
/// After a start there is no earlier reading to compare with, so the archive's newest message takes its place. A sleep
/// of the machine looks like a step, which costs no more than the delay.
#[derive(Clone, Debug)]
pub struct RetentionClock {
    /// Retention time at the last reading, Unix nanoseconds.
    time_ns: i64,
    last: Option<LastReading>,
    /// Monotonic time of the first reading after a step ahead that is not accepted yet.
    held_since: Option<Duration>,
}

/// Both clocks at the last reading.
#[derive(Clone, Copy, Debug)]
struct LastReading {
    wall_ns: i64,
    monotonic: Duration,
}

impl RetentionClock {
    /// Time for which the wall clock has to persist after a step ahead before it is accepted.
    pub const HOLD: Duration = Duration::from_secs(600);

    /// Difference between the two clocks above which the wall clock counts as having been set; below it, its rate was
    /// corrected.
    const TOLERANCE_NS: i64 = 10_000_000_000;

    /// Creates the clock for an archive whose newest message has the timestamp `newest_ns`, Unix nanoseconds; `None`
    /// for an empty archive.
    pub fn new(newest_ns: Option<i64>) -> Self {
        Self {
            time_ns: newest_ns.unwrap_or(i64::MAX),
            last: None,
            held_since: None,
        }
    }

    /// Takes a reading of the wall clock, Unix nanoseconds, and of the monotonic clock, which may start anywhere.
    /// Returns the time to use for retention, Unix nanoseconds.
    pub fn time_ns(&mut self, wall_ns: i64, monotonic: Duration) -> i64 {
        let elapsed_ns = |last: LastReading| nanos(monotonic.saturating_sub(last.monotonic));
        let is_set = self.last.is_none_or(|last| {
            let expected_ns = last.wall_ns.saturating_add(elapsed_ns(last));
            wall_ns.saturating_sub(expected_ns).saturating_abs() > Self::TOLERANCE_NS
        });
        self.time_ns = self.time_ns.saturating_add(self.last.map_or(0, elapsed_ns));
        self.last = Some(LastReading { wall_ns, monotonic });
        let is_ahead = wall_ns > self.time_ns.saturating_add(Self::TOLERANCE_NS);
        self.held_since = match self.held_since {
            _ if !is_ahead => None,
            Some(since) if !is_set && monotonic.saturating_sub(since) >= Self::HOLD => None,
            Some(since) if !is_set => Some(since),
            _ => Some(monotonic),
        };
        if self.held_since.is_none() {
            self.time_ns = wall_ns;
        }
        self.time_ns
    }

    /// Returns how far the wall clock is ahead of the retention time; zero unless a step is not accepted yet.
    pub fn held_back(&self) -> Duration {
        let wall_ns = self.last.filter(|_| self.held_since.is_some());
        let ahead_ns = wall_ns.map_or(0, |last| last.wall_ns.saturating_sub(self.time_ns));
        Duration::from_nanos(u64::try_from(ahead_ns).unwrap_or(0))
    }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
