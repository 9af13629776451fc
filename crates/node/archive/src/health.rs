//! Health and size of an archive, as an operator is told.

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
    /// Whether the last attempt to write failed, be it an insertion or the retention.
    pub failing: bool,
    /// Insertions that failed, in batches, since the archive was opened.
    pub failed_batches: u64,
    /// Damage that was found since the archive was opened, which a query that touches it cannot get around.
    pub damage: Option<ArchiveError>,
}

/// Size of an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveStats {
    /// Number of messages.
    pub messages: u64,
    /// Disk space with indexes and logs of the database that belong to messages, in bytes.
    pub bytes: u64,
    /// Slots of time that the archive is divided into.
    pub slots: u64,
    /// Earliest timestamp, Unix nanoseconds; `None` in an empty archive.
    pub oldest_ns: Option<i64>,
    /// Latest timestamp, Unix nanoseconds; `None` in an empty archive.
    pub newest_ns: Option<i64>,
}

/// Shares of data and indexes in an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveSizes {
    /// Bytes of tables.
    pub data_bytes: u64,
    /// Bytes of indexes.
    pub index_bytes: u64,
}

/// Health as the writer keeps it.
#[derive(Debug, Default)]
pub(crate) struct HealthLog(Mutex<HealthState>);

#[derive(Debug, Default)]
struct HealthState {
    shown: ArchiveHealth,
    /// Whether insertions have failed since the last one that did not.
    insertions_fail: bool,
}

impl HealthLog {
    /// Returns the health now.
    pub(crate) fn get(&self) -> ArchiveHealth {
        self.0.lock().shown.clone()
    }

    /// Notes the outcome of an insertion.
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

    /// Notes damage that a reader has found.
    pub(crate) fn note_reading(&self, error: &ArchiveError) {
        if matches!(error, ArchiveError::Damaged { .. }) {
            let mut state = self.0.lock();
            state.shown.damage.get_or_insert_with(|| error.clone());
        }
    }

    /// Notes the outcome of applying the retention: when nothing is to be inserted, the only sign of a database that
    /// is gone. A success does not make up for insertions that fail.
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
