//! A nullifier log shared between threads.

use std::ops::RangeInclusive;

use parking_lot::Mutex;

use super::{NullifierLimits, NullifierLog, NullifierStatus};
use crate::epoch::Epoch;
use crate::field::Fr;

/// A [`NullifierLog`] behind a lock. Each call is atomic: of several threads that insert the same
/// nullifier exactly one gets [`NullifierStatus::New`].
#[derive(Debug)]
pub struct SharedNullifierLog {
    /// A panic elsewhere leaves the log consistent, because an entry is one insertion into a map.
    log: Mutex<NullifierLog>,
}

impl SharedNullifierLog {
    /// Creates an empty log.
    pub fn new(limits: NullifierLimits) -> Self {
        Self {
            log: Mutex::new(NullifierLog::new(limits)),
        }
    }

    /// Looks up a nullifier, see [`NullifierLog::check`].
    pub fn check(&self, epoch: Epoch, nullifier: Fr, x: Fr, y: Fr) -> NullifierStatus {
        self.log.lock().check(epoch, nullifier, x, y)
    }

    /// Looks up and adds a nullifier, see [`NullifierLog::insert`].
    pub fn insert(&self, epoch: Epoch, nullifier: Fr, x: Fr, y: Fr) -> NullifierStatus {
        self.log.lock().insert(epoch, nullifier, x, y)
    }

    /// Removes all epochs outside `keep`, see [`NullifierLog::prune`].
    pub fn prune(&self, keep: RangeInclusive<Epoch>) {
        self.log.lock().prune(keep);
    }

    /// Number of nullifiers held, over all epochs.
    pub fn len(&self) -> usize {
        self.log.lock().len()
    }

    /// Whether no nullifier is held.
    pub fn is_empty(&self) -> bool {
        self.log.lock().is_empty()
    }
}

#[cfg(test)]
#[path = "tests/shared.rs"]
mod tests;
