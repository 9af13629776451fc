//! The message-id counter of an identity: no id is ever given out twice in an epoch.
//!
//! Using an id twice publishes two points of one line and so the secret. Therefore an id leaves
//! [`MessageIdCounter::next`] only after the disk holds a mark above it. A crash skips ids; it
//! never repeats one.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::durable;
use crate::epoch::{Epoch, WallClock};
use crate::prover::MAX_LIMIT;

mod closed;
mod record;

use closed::ClosedEpochs;
pub use record::Damage;
use record::{Decoded, Record};

/// Ids reserved with one write, at most. See [`block_of`].
const MAX_BLOCK: u32 = 8;

/// Written to the lock file once the counter file exists.
const MARKER: &[u8] = b"undertone message-id counter in use\n";

/// Why no message id was given out. Nothing was published, nothing is lost.
#[derive(Debug, thiserror::Error)]
pub enum CounterError {
    /// Another process counts for this identity.
    #[error("{0}: locked by another process; one identity may publish from one process only")]
    Locked(PathBuf),
    /// The operating system refused.
    #[error("{path}: {source}; check that the folder exists, is writable and has space")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The content is not what was written.
    #[error(
        "{path}: damaged ({what}); wait until the present epoch is over, then delete it together \
         with its .lock file"
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: Damage,
    },
    /// The counter was in use, but its file is gone.
    #[error(
        "{0}: missing, though it was in use; restore it, or wait until the present epoch is over \
         and delete its .lock file"
    )]
    Missing(PathBuf),
    /// No such limit can be registered.
    #[error("limit {limit} is outside 1..={MAX_LIMIT}; use the limit that was registered")]
    LimitOutOfRange {
        /// The limit asked for.
        limit: u32,
    },
    /// The epoch is one that no message of this moment is in.
    #[error(
        "epoch {asked} is ahead of the clock, which allows epochs up to {newest}; publish with the \
         present time, and set the clock right if it is behind"
    )]
    AheadOfClock {
        /// The epoch asked for.
        asked: Epoch,
        /// The newest epoch that the clock allows.
        newest: Epoch,
    },
    /// Ids of the epoch may have been given out before: it was left, or the clock was ahead.
    #[error(
        "epoch {asked} is closed: its message ids may have been given out before the clock went \
         back, or by an older version; message ids are given out again from epoch {opens} on; \
         check that the clock is right"
    )]
    EpochClosed {
        /// The epoch asked for.
        asked: Epoch,
        /// The next epoch that is open.
        opens: Epoch,
    },
    /// All ids of the epoch are used up or were skipped by a crash.
    #[error("the limit of {limit} messages in epoch {epoch} is used up; wait for the next epoch")]
    Exhausted {
        /// The epoch.
        epoch: Epoch,
        /// The member's limit.
        limit: u32,
    },
}

/// Gives out message ids. Holds an exclusive lock on `<path>.lock` while it lives.
#[derive(Debug)]
pub struct MessageIdCounter {
    path: PathBuf,
    limit: u32,
    /// What the disk holds: ids below `durable.reserved` may have been given out.
    durable: Record,
    /// The next id of epoch `durable.epoch`, at most `durable.reserved`.
    next_id: u32,
    /// When the first version of this program wrote the file, Unix nanoseconds; `None` once it was
    /// written by this one.
    first_version_wrote_ns: Option<u64>,
    _lock: File,
}

/// A message id that is used up on disk. Whoever holds it, and no one else, may use the id, once.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the id is used up whether or not a message is published with it"]
pub struct Reserved {
    epoch: Epoch,
    message_id: u32,
}

impl Reserved {
    /// The epoch that the id counts in.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The id.
    pub fn message_id(&self) -> u32 {
        self.message_id
    }
}

impl MessageIdCounter {
    /// Opens the counter of one identity, or creates it where there was none.
    ///
    /// `limit` is the member's limit in messages per epoch.
    ///
    /// # Errors
    /// [`CounterError::Locked`], [`CounterError::Corrupt`], [`CounterError::Missing`],
    /// [`CounterError::LimitOutOfRange`] and [`CounterError::Io`].
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
                let fresh = Record::fresh();
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

    /// An id that was never given out in `epoch` and never will be again.
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

    /// As [`MessageIdCounter::next`], as a permit that a token asks for.
    ///
    /// # Errors
    /// As [`MessageIdCounter::next`].
    pub fn reserve(&mut self, epoch: Epoch, clock: &WallClock) -> Result<Reserved, CounterError> {
        let message_id = self.next(epoch, clock)?;
        Ok(Reserved { epoch, message_id })
    }

    /// The id that [`MessageIdCounter::reserve`] would give out in `epoch`. Reserves nothing.
    ///
    /// # Errors
    /// As [`MessageIdCounter::next`], but for [`CounterError::Io`].
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

    /// As [`MessageIdCounter::ready`], where the reason does not matter.
    pub fn upcoming(&self, epoch: Epoch, clock: &WallClock) -> Option<u32> {
        self.ready(epoch, clock).ok()
    }

    /// What the disk is to hold when the clock is behind the epoch that ids were given out in last:
    /// that epoch is closed, and so is, of a file that does not tell the epochs before, all up to now.
    /// `None` where the clock is not behind, or where the file leaves no epoch that is surely unused.
    fn settled(&self, clock: &WallClock) -> Option<Record> {
        let newest = clock.newest_epoch();
        if self.durable.epoch <= newest {
            return None;
        }
        let mut record = self.durable.clone();
        if let Some(wrote_ns) = self.first_version_wrote_ns {
            // Written in this clock's future: it is the clock that is wrong, and every epoch up to the
            // file's may have been used. Written in its past: a timestamp ahead of the clock did it.
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

    /// Goes back to the clock's time, on disk, if it is behind.
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

    fn replace(&mut self, record: Record) -> Result<(), CounterError> {
        write(&self.path, &record)?;
        self.durable = record;
        self.first_version_wrote_ns = None;
        Ok(())
    }

    /// The limit that ids stay below.
    pub fn limit(&self) -> u32 {
        self.limit
    }
}

/// Ids reserved with one write: a crash wastes at most a sixteenth of the limit (or one id).
fn block_of(limit: u32) -> u32 {
    (limit / 16).clamp(1, MAX_BLOCK)
}

fn lock_path(path: &Path) -> PathBuf {
    durable::sibling(path, ".lock")
}

/// Takes the lock; tells whether a counter was in use under it.
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
    // The marker is written after the counter file, so even a torn one says that there was a file.
    let was_in_use = file.metadata().map_err(&io_error)?.len() > 0;
    Ok((file, was_in_use))
}

/// The file's content and the time at which it was written.
fn read(path: &Path) -> Result<Option<(Decoded, SystemTime)>, CounterError> {
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
    let decoded = Record::decode(&bytes).map_err(|what| CounterError::Corrupt {
        path: path.to_owned(),
        what,
    })?;
    Ok(Some((decoded, written)))
}

fn write(path: &Path, record: &Record) -> Result<(), CounterError> {
    durable::replace(path, &record.encode()).map_err(io_error(path))
}

/// 0 for a time before 1970.
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
