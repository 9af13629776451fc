//! Options of a run.

use crate::outcome::RecordOptions;

/// Options of a run that are not part of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunOptions {
    /// Seed that determines all randomness.
    pub seed: u64,
    /// Number of threads; the outcome does not depend on it.
    pub threads: usize,
    /// Records to be made besides deliveries; it changes nothing else.
    pub record: RecordOptions,
}

impl RunOptions {
    /// RunOptions of a run on one thread.
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            threads: 1,
            record: RecordOptions::NONE,
        }
    }

    /// RunOptions of the same run on this many threads.
    #[must_use]
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// RunOptions of the same run with records.
    #[must_use]
    pub const fn record(mut self, record: RecordOptions) -> Self {
        self.record = record;
        self
    }
}
