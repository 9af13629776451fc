//! The message-id counter of an identity, which never issues an id twice in an epoch.
//!
//! Using an id twice publishes two points of one line and so reveals the secret. Therefore
//! [`MessageIdCounter::next`] returns an id only after the disk holds a mark above it. A crash skips ids; it
//! never repeats one.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::durable;
use crate::epoch::{Epoch, WallClock};
use crate::proof_request::MAX_LIMIT;

mod closed;
mod record;

use closed::ClosedEpochs;
pub use record::CounterDamage;
use record::{CounterRecord, DecodedRecord};

/// Maximum number of ids reserved with one write. See [`block_of`].
const MAX_BLOCK: u32 = 8;

/// Content of the lock file once the counter file exists.
const MARKER: &[u8] = b"undertone message-id counter in use\n";

/// Error of the message-id counter. No id was issued, so nothing was published and nothing is lost.
#[derive(Debug, thiserror::Error)]
pub enum CounterError {
    /// Another process holds the counter of this identity.
    #[error("{0}: locked by another process; one identity may publish from one process only")]
    Locked(PathBuf),
    /// The operating system refused a file operation.
    #[error("{path}: {source}; check that the folder exists, is writable and has space")]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The content of the counter file is damaged.
    #[error(
        "{path}: damaged ({what}); wait until the present epoch is over, then delete it together \
         with its .lock file"
    )]
    Corrupt {
        /// Path of the file.
        path: PathBuf,
        /// Defect that was found.
        what: CounterDamage,
    },
    /// The counter was in use, but its file is gone.
    #[error(
        "{0}: missing, though it was in use; restore it, or wait until the present epoch is over \
         and delete its .lock file"
    )]
    Missing(PathBuf),
    /// The limit is outside the range that can be registered.
    #[error("limit {limit} is outside 1..={MAX_LIMIT}; use the limit that was registered")]
    LimitOutOfRange {
        /// Limit that was requested.
        limit: u32,
    },
    /// The epoch is later than any message may use at present.
    #[error(
        "epoch {asked} is ahead of the clock, which allows epochs up to {newest}; publish with the \
         present time, and set the clock right if it is behind"
    )]
    AheadOfClock {
        /// Epoch that was requested.
        asked: Epoch,
        /// Newest epoch that the clock allows.
        newest: Epoch,
    },
    /// Ids of the epoch may have been issued before: a later epoch was begun, or the clock was ahead.
    #[error(
        "epoch {asked} is closed: its message ids may have been given out before the clock went \
         back, by an older version, or by another program before a migration; message ids are given \
         out again from epoch {opens} on; \
         check that the clock is right"
    )]
    EpochClosed {
        /// Epoch that was requested.
        asked: Epoch,
        /// Next epoch in which ids are issued.
        opens: Epoch,
    },
    /// All ids of the epoch are used up or were skipped by a crash.
    #[error("the limit of {limit} messages in epoch {epoch} is used up; wait for the next epoch")]
    Exhausted {
        /// Epoch whose ids are used up.
        epoch: Epoch,
        /// The member's limit, in messages per epoch.
        limit: u32,
    },
}

/// Counter of the message ids of one identity. Holds an exclusive lock on `<path>.lock` until dropped.
#[derive(Debug)]
pub struct MessageIdCounter {
    path: PathBuf,
    limit: u32,
    /// Record on disk: ids below `durable.reserved` may have been issued.
    durable: CounterRecord,
    /// Next id of epoch `durable.epoch`, at most `durable.reserved`.
    next_id: u32,
    /// Time at which the first version of this program wrote the file, Unix nanoseconds; `None` when
    /// this version wrote it.
    first_version_wrote_ns: Option<u64>,
    _lock: File,
}

/// A message id that the disk records as used. Only the holder of this value may use the id, and once.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the id is used up whether or not a message is published with it"]
pub struct Reserved {
    epoch: Epoch,
    message_id: u32,
}

impl Reserved {
    /// Epoch to which the id belongs.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Number of the message within the epoch, from 0.
    pub fn message_id(&self) -> u32 {
        self.message_id
    }
}

impl MessageIdCounter {
    /// Opens the counter of an identity, or creates it if there is none.
    ///
    /// `limit` is the member's limit in messages per epoch.
    ///
    /// # Errors
    /// [`CounterError::LimitOutOfRange`] when the limit cannot be registered, [`CounterError::Locked`]
    /// when another process has the counter, [`CounterError::Corrupt`] when the file is damaged,
    /// [`CounterError::Missing`] when the file of a used counter is gone, and [`CounterError::Io`].
    pub fn open(path: impl Into<PathBuf>, limit: u32) -> Result<Self, CounterError> {
        let path = path.into();
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(CounterError::LimitOutOfRange { limit });
        }
        let (mut lock, was_in_use) = lock(&path)?;
        let (durable, first_version_wrote_ns) = match read(&path)? {
            Some((decoded, written)) => (
                decoded.record,
                decoded.is_first_version.then(|| unix_ns(written)),
            ),
            None if was_in_use => return Err(CounterError::Missing(path)),
            None => {
                let fresh = CounterRecord::fresh();
                write(&path, &fresh)?;
                (fresh, None)
            }
        };
        if !was_in_use {
            // Only now: a crash before this line must not look like a lost counter file.
            let lock_path = lock_path(&path);
            lock.write_all(MARKER)
                .and_then(|()| lock.sync_all())
                .map_err(io_error(&lock_path))?;
        }
        Ok(Self {
            path,
            limit,
            next_id: durable.reserved,
            durable,
            first_version_wrote_ns,
            _lock: lock,
        })
    }

    /// Issues an id of `epoch` that was never issued before and never will be again.
    ///
    /// # Errors
    /// [`CounterError::AheadOfClock`], [`CounterError::EpochClosed`], [`CounterError::Exhausted`],
    /// and [`CounterError::Io`] when the mark could not be written.
    pub fn next(&mut self, epoch: Epoch, clock: &WallClock) -> Result<u32, CounterError> {
        self.settle(clock)?;
        let id = self.ready(epoch, clock)?;
        if epoch > self.durable.epoch || id >= self.durable.reserved {
            let mut record = self.durable.clone();
            if epoch > record.epoch && record.reserved > 0 {
                record.closed.close(record.epoch, record.epoch);
            }
            record.epoch = epoch;
            record.reserved = id.saturating_add(block_of(self.limit)).min(self.limit);
            self.replace(record)?;
        }
        self.next_id = id + 1;
        Ok(id)
    }

    /// Closes all epochs up to `last`, so that no ids of theirs are issued. For an identity that another
    /// program has used before, whose used ids in the present epoch are unknown.
    ///
    /// # Errors
    /// [`CounterError::Io`] when this could not be written.
    pub fn close_until(&mut self, last: Epoch) -> Result<(), CounterError> {
        let mut record = self.durable.clone();
        if record.epoch > last && record.reserved > 0 {
            record.closed.close(Epoch(0), last);
            return self.replace(record);
        }
        record.closed.close(Epoch(0), last);
        record.epoch = last;
        record.reserved = 0;
        self.replace(record)?;
        self.next_id = 0;
        Ok(())
    }

    /// As [`MessageIdCounter::next`], but returns the [`Reserved`] id that a token requires.
    ///
    /// # Errors
    /// As [`MessageIdCounter::next`].
    pub fn reserve(&mut self, epoch: Epoch, clock: &WallClock) -> Result<Reserved, CounterError> {
        let message_id = self.next(epoch, clock)?;
        Ok(Reserved { epoch, message_id })
    }

    /// Returns the id that [`MessageIdCounter::reserve`] would issue in `epoch`. Reserves nothing.
    ///
    /// # Errors
    /// As [`MessageIdCounter::next`], except [`CounterError::Io`].
    pub fn ready(&self, epoch: Epoch, clock: &WallClock) -> Result<u32, CounterError> {
        let newest = clock.newest_epoch();
        if epoch > newest {
            return Err(CounterError::AheadOfClock {
                asked: epoch,
                newest,
            });
        }
        let settled = self.settled(clock);
        let (record, next_id) = match &settled {
            Some(record) => (record, 0),
            None => (&self.durable, self.next_id),
        };
        if epoch < record.epoch || record.closed.contains(epoch) {
            let opens = record.closed.open_from(epoch.max(record.epoch));
            return Err(CounterError::EpochClosed {
                asked: epoch,
                opens,
            });
        }
        let id = if epoch == record.epoch { next_id } else { 0 };
        if id >= self.limit {
            return Err(CounterError::Exhausted {
                epoch,
                limit: self.limit,
            });
        }
        Ok(id)
    }

    /// As [`MessageIdCounter::ready`], for callers that do not need the reason of an error.
    pub fn upcoming(&self, epoch: Epoch, clock: &WallClock) -> Option<u32> {
        self.ready(epoch, clock).ok()
    }

    /// Returns the record to write when the clock is behind the last epoch in which ids were issued.
    ///
    /// That epoch is closed. If the file is of the first version, which does not record earlier epochs,
    /// all epochs up to now are closed too. `None` when the clock is not behind, or when no epoch up to
    /// the file's is certainly unused.
    fn settled(&self, clock: &WallClock) -> Option<CounterRecord> {
        let newest = clock.newest_epoch();
        if self.durable.epoch <= newest {
            return None;
        }
        let mut record = self.durable.clone();
        if let Some(wrote_ns) = self.first_version_wrote_ns {
            // If the file was written in this clock's future, the clock is wrong, and every epoch up to
            // the file's may have been used. Otherwise a timestamp ahead of the clock is the cause.
            if clock.unix_now_ns < wrote_ns {
                return None;
            }
            record.closed = ClosedEpochs::default();
            record.closed.close(Epoch(0), newest);
        }
        if record.reserved > 0 {
            record.closed.close(record.epoch, record.epoch);
        }
        record.epoch = record.closed.last_until(newest).unwrap_or(Epoch(0));
        record.reserved = 0;
        Some(record)
    }

    /// Moves the record on disk back to the clock's time if the clock is behind.
    fn settle(&mut self, clock: &WallClock) -> Result<(), CounterError> {
        match self.settled(clock) {
            Some(record) => {
                self.replace(record)?;
                self.next_id = 0;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn replace(&mut self, record: CounterRecord) -> Result<(), CounterError> {
        write(&self.path, &record)?;
        self.durable = record;
        self.first_version_wrote_ns = None;
        Ok(())
    }

    /// Writes the current record again, to test whether the disk is writable.
    ///
    /// # Errors
    /// [`CounterError::Io`] when it could not be written.
    pub fn rewrite(&self) -> Result<(), CounterError> {
        write(&self.path, &self.durable)
    }

    /// The member's limit, in messages per epoch; ids are less than it.
    pub fn limit(&self) -> u32 {
        self.limit
    }
}

/// Number of ids reserved with one write: a crash wastes at most a sixteenth of the limit, or one id.
fn block_of(limit: u32) -> u32 {
    (limit / 16).clamp(1, MAX_BLOCK)
}

fn lock_path(path: &Path) -> PathBuf {
    durable::sibling(path, ".lock")
}

/// Acquires the lock; also returns whether a counter was in use under it.
fn lock(path: &Path) -> Result<(File, bool), CounterError> {
    let lock_path = lock_path(path);
    let io_error = io_error(&lock_path);
    let mut options = durable::owner_only();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(&lock_path).map_err(&io_error)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(CounterError::Locked(lock_path.clone())),
        Err(TryLockError::Error(source)) => return Err(io_error(source)),
    }
    // The marker is written after the counter file, so even an incomplete one proves that there was one.
    let was_in_use = file.metadata().map_err(&io_error)?.len() > 0;
    Ok((file, was_in_use))
}

/// Reads the file's record and modification time; `None` when there is no file.
fn read(path: &Path) -> Result<Option<(DecodedRecord, SystemTime)>, CounterError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(io_error(path)(source)),
    };
    let written = file.metadata().and_then(|data| data.modified());
    let written = written.map_err(io_error(path))?;
    let mut bytes = Vec::with_capacity(record::BYTES + 1);
    let max_bytes = record::BYTES as u64 + 1;
    file.take(max_bytes)
        .read_to_end(&mut bytes)
        .map_err(io_error(path))?;
    let decoded = CounterRecord::decode(&bytes).map_err(|what| CounterError::Corrupt {
        path: path.to_owned(),
        what,
    })?;
    Ok(Some((decoded, written)))
}

fn write(path: &Path, record: &CounterRecord) -> Result<(), CounterError> {
    durable::replace(path, &record.encode()).map_err(io_error(path))
}

/// Unix time in nanoseconds; 0 for a time before 1970.
fn unix_ns(time: SystemTime) -> u64 {
    let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> CounterError {
    move |source| CounterError::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests;
