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
    /// Records to make besides deliveries; they change nothing else.
    pub record: RecordOptions,
}

impl RunOptions {
    /// Options for a run on one thread, without records.
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            threads: 1,
            record: RecordOptions::NONE,
        }
    }

    /// Sets the number of threads.
    #[must_use]
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the records to make.
    #[must_use]
    pub const fn record(mut self, record: RecordOptions) -> Self {
        self.record = record;
        self
    }
}
