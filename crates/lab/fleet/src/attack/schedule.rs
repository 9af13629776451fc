//! Schedule of an attack: its start, and the number of tokens per epoch.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use undertone_rln::Epoch;

/// Delay from the start of an epoch to the first message, so that every clock reading is in that epoch.
const AFTER_BOUNDARY: Duration = Duration::from_millis(50);

/// Start of an attack and the tokens to prepare before it. Times are Unix time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// Earliest time of the first message, which must fall into the first epoch of `messages`.
    pub(crate) opens: Duration,
    /// Number of messages by epoch.
    pub(crate) messages: BTreeMap<Epoch, u32>,
}

impl Schedule {
    /// Schedules `messages` messages, an `interval` apart, once everything is prepared at `ready`. They
    /// start at once if they all fit into the current epoch. Otherwise they start with the next epoch,
    /// so that they span as few epochs as possible.
    pub(crate) fn new(ready: Duration, messages: u32, interval: Duration, epoch_s: u64) -> Self {
        let epoch = epoch_at(ready, epoch_s);
        let next = start_of(Epoch(epoch.0.saturating_add(1)), epoch_s);
        let (opens, begins) = if ready + interval * messages <= next {
            (start_of(epoch, epoch_s), ready)
        } else {
            (next, next)
        };
        let mut of_epoch = BTreeMap::new();
        for nth in 0..messages {
            let at = epoch_at(begins + interval * nth, epoch_s);
            *of_epoch.entry(at).or_default() += 1;
        }
        Self {
            opens: opens + AFTER_BOUNDARY,
            messages: of_epoch,
        }
    }
}

/// Returns the Unix time, or 0 for a clock set before 1970.
pub(crate) fn unix_now() -> Duration {
    UNIX_EPOCH.elapsed().unwrap_or_default()
}

/// Returns the epoch that contains a Unix time.
pub(crate) fn epoch_at(unix: Duration, epoch_s: u64) -> Epoch {
    let ns = u64::try_from(unix.as_nanos()).unwrap_or(u64::MAX);
    Epoch::at(ns, epoch_s)
}

fn start_of(epoch: Epoch, epoch_s: u64) -> Duration {
    Duration::from_secs(epoch.0.saturating_mul(epoch_s))
}

#[cfg(test)]
#[path = "tests/schedule.rs"]
mod tests;
