//! Health and size of an archive, as an operator is told.

use std::time::SystemTime;

use parking_lot::Mutex;

use crate::ArchiveError;

/// Health of an archive's writing.
#[derive(Clone, Debug, Default)]
pub struct ArchiveHealth {
    /// Time of the last insertion that is on disk; `None` before the first.
    pub last_write: Option<SystemTime>,
    /// Time and reason of the last failure to write; kept after recovery.
    pub last_error: Option<(SystemTime, ArchiveError)>,
    /// Whether the last attempt to write failed.
    pub failing: bool,
    /// Batches that failed since the archive was opened.
    pub failed_batches: u64,
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
pub(crate) struct HealthLog(Mutex<ArchiveHealth>);

impl HealthLog {
    /// Returns the health now.
    pub(crate) fn get(&self) -> ArchiveHealth {
        self.0.lock().clone()
    }

    /// Notes the outcome of an attempt to write.
    pub(crate) fn note<T>(&self, outcome: &Result<T, ArchiveError>) {
        let now = SystemTime::now();
        let mut health = self.0.lock();
        health.failing = outcome.is_err();
        match outcome {
            Ok(_) => health.last_write = Some(now),
            Err(error) => {
                health.last_error = Some((now, error.clone()));
                health.failed_batches += 1;
            }
        }
    }
}
