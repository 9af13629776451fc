//! A nullifier log that several threads use at once.

use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{NullifierLimits, NullifierLog, Seen};
use crate::epoch::Epoch;
use crate::field::Fr;

/// A [`NullifierLog`] behind a lock. Each call is one step: of several threads that insert the same
/// nullifier exactly one is told [`Seen::New`].
#[derive(Debug)]
pub struct SharedNullifierLog {
    log: Mutex<NullifierLog>,
}

impl SharedNullifierLog {
    /// An empty log.
    pub fn new(limits: NullifierLimits) -> Self {
        Self {
            log: Mutex::new(NullifierLog::new(limits)),
        }
    }

    /// See [`NullifierLog::check`].
    pub fn check(&self, epoch: Epoch, nullifier: Fr, x: Fr, y: Fr) -> Seen {
        self.lock().check(epoch, nullifier, x, y)
    }

    /// See [`NullifierLog::insert`].
    pub fn insert(&self, epoch: Epoch, nullifier: Fr, x: Fr, y: Fr) -> Seen {
        self.lock().insert(epoch, nullifier, x, y)
    }

    /// See [`NullifierLog::prune`].
    pub fn prune(&self, keep: RangeInclusive<Epoch>) {
        self.lock().prune(keep);
    }

    /// Number of nullifiers held, over all epochs.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether no nullifier is held.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, NullifierLog> {
        // An entry is made by one insertion into a map, so a panic elsewhere leaves the log whole.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
