//! Health and size of an archive, as reported to an operator.

use std::time::SystemTime;

use parking_lot::Mutex;

use crate::ArchiveError;

/// Health of an archive.
#[derive(Clone, Debug, Default)]
pub struct ArchiveHealth {
    /// Time of the last insertion that is on disk; `None` before the first.
    pub last_write: Option<SystemTime>,
    /// Time and reason of the last failure to write; kept after recovery.
    pub last_error: Option<(SystemTime, ArchiveError)>,
    /// Whether the last write failed, either an insertion or the retention.
    pub failing: bool,
    /// Number of batches whose insertion failed since the archive was opened.
    pub failed_batches: u64,
    /// Damage found since the archive was opened. Queries that touch it fail.
    pub damage: Option<ArchiveError>,
}

/// Size of an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveStats {
    /// Number of messages.
    pub messages: u64,
    /// Disk space of the messages, including indexes and database logs, bytes.
    pub bytes: u64,
    /// Number of time slots in the archive.
    pub slots: u64,
    /// Earliest timestamp, Unix nanoseconds; `None` in an empty archive.
    pub oldest_ns: Option<i64>,
    /// Latest timestamp, Unix nanoseconds; `None` in an empty archive.
    pub newest_ns: Option<i64>,
}

/// Sizes of data and indexes in an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveSizes {
    /// Bytes of tables.
    pub data_bytes: u64,
    /// Bytes of indexes.
    pub index_bytes: u64,
}

/// Health as maintained by the writer and the readers.
#[derive(Debug, Default)]
pub(crate) struct HealthLog(Mutex<HealthState>);

#[derive(Debug, Default)]
struct HealthState {
    shown: ArchiveHealth,
    /// Whether the latest insertion failed.
    insertions_fail: bool,
}

impl HealthLog {
    /// Returns the current health.
    pub(crate) fn get(&self) -> ArchiveHealth {
        self.0.lock().shown.clone()
    }

    /// Records the outcome of an insertion.
    pub(crate) fn note_insertion<T>(&self, outcome: &Result<T, ArchiveError>) {
        let mut state = self.0.lock();
        state.insertions_fail = outcome.is_err();
        match outcome {
            Ok(_) => {
                state.shown.failing = false;
                state.shown.last_write = Some(SystemTime::now());
            }
            Err(error) => {
                state.shown.failed_batches += 1;
                state.shown.fail(error);
            }
        }
    }

    /// Records damage found by a reader.
    pub(crate) fn note_reading(&self, error: &ArchiveError) {
        if matches!(error, ArchiveError::Damaged { .. }) {
            let mut state = self.0.lock();
            state.shown.damage.get_or_insert_with(|| error.clone());
        }
    }

    /// Records the outcome of applying the retention. Without insertions, it is the only sign of a lost database. A
    /// success does not cancel failing insertions.
    pub(crate) fn note_retention<T>(&self, outcome: &Result<T, ArchiveError>) {
        let mut state = self.0.lock();
        match outcome {
            Ok(_) => state.shown.failing = state.insertions_fail,
            Err(error) => state.shown.fail(error),
        }
    }
}

impl ArchiveHealth {
    fn fail(&mut self, error: &ArchiveError) {
        self.failing = true;
        self.last_error = Some((SystemTime::now(), error.clone()));
    }
}
