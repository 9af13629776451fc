//! When an attack begins, and which epochs' tokens it takes.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use undertone_rln::Epoch;

/// From an epoch's beginning to the first message: a clock that is read a moment later is in it also.
const AFTER_BOUNDARY: Duration = Duration::from_millis(50);

/// When to begin and what to prepare until then. Times are since 1970.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    /// Not before: the first message is to be of the first epoch below.
    pub(super) opens: Duration,
    /// How many messages fall into which epoch.
    pub(super) messages: BTreeMap<Epoch, u32>,
}

impl Schedule {
    /// For so many messages, an `interval` apart, once everything is prepared, at `ready`. They are all
    /// of the epoch of that moment if they end before it does. Else they begin with the next one, so
    /// that they touch as few epochs as they can.
    pub(super) fn new(ready: Duration, messages: u32, interval: Duration, epoch_s: u64) -> Self {
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

/// 0 for a clock set before 1970.
pub(super) fn unix_now() -> Duration {
    UNIX_EPOCH.elapsed().unwrap_or_default()
}

/// The epoch of a moment.
pub(super) fn epoch_at(unix: Duration, epoch_s: u64) -> Epoch {
    let ns = u64::try_from(unix.as_nanos()).unwrap_or(u64::MAX);
    Epoch::at(ns, epoch_s)
}

fn start_of(epoch: Epoch, epoch_s: u64) -> Duration {
    Duration::from_secs(epoch.0.saturating_mul(epoch_s))
}

#[cfg(test)]
mod tests;
