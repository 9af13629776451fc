//! The message-id counter of an identity: no id is ever given out twice in an epoch.
//!
//! Using an id twice publishes two points of one line and so the secret. Therefore an id leaves
//! [`MessageIdCounter::next`] only after the disk holds a mark above it. A crash skips ids; it
//! never repeats one.

use std::cmp::Ordering;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::durable;
use crate::epoch::Epoch;
use crate::prover::MAX_LIMIT;

mod record;

pub use record::Damage;
use record::Record;

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
    /// The clock went back into an epoch that was left.
    #[error("epoch {asked} is over: ids were given out in epoch {latest}; set the clock right")]
    EpochReopened {
        /// The epoch asked for.
        asked: Epoch,
        /// The latest epoch that ids were given out in.
        latest: Epoch,
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
        let durable = match read(&path)? {
            Some(record) => record,
            None if was_in_use => return Err(CounterError::Missing(path)),
            None => {
                let fresh = Record::FRESH;
                write(&path, fresh)?;
                fresh
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
            _lock: lock,
        })
    }

    /// An id that was never given out in `epoch` and never will be again.
    ///
    /// # Errors
    /// [`CounterError::EpochReopened`], [`CounterError::Exhausted`], and [`CounterError::Io`] when
    /// the mark could not be written.
    pub fn next(&mut self, epoch: Epoch) -> Result<u32, CounterError> {
        if epoch < self.durable.epoch {
            return Err(CounterError::EpochReopened {
                asked: epoch,
                latest: self.durable.epoch,
            });
        }
        let id = if epoch == self.durable.epoch {
            self.next_id
        } else {
            0
        };
        if id >= self.limit {
            return Err(CounterError::Exhausted {
                epoch,
                limit: self.limit,
            });
        }
        if epoch > self.durable.epoch || id >= self.durable.reserved {
            let reserved = id.saturating_add(block_of(self.limit)).min(self.limit);
            let record = Record { epoch, reserved };
            write(&self.path, record)?;
            self.durable = record;
        }
        self.next_id = id + 1;
        Ok(id)
    }

    /// As [`MessageIdCounter::next`], as a permit that a token asks for.
    ///
    /// # Errors
    /// As [`MessageIdCounter::next`].
    pub fn reserve(&mut self, epoch: Epoch) -> Result<Reserved, CounterError> {
        let message_id = self.next(epoch)?;
        Ok(Reserved { epoch, message_id })
    }

    /// The id that [`MessageIdCounter::reserve`] would give out in `epoch`; `None` when the epoch
    /// is over or used up. Reserves nothing.
    pub fn upcoming(&self, epoch: Epoch) -> Option<u32> {
        let id = match epoch.cmp(&self.durable.epoch) {
            Ordering::Less => return None,
            Ordering::Equal => self.next_id,
            Ordering::Greater => 0,
        };
        (id < self.limit).then_some(id)
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

fn read(path: &Path) -> Result<Option<Record>, CounterError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(io_error(path)(source)),
    };
    let mut bytes = Vec::with_capacity(record::BYTES + 1);
    let max_bytes = record::BYTES as u64 + 1;
    file.take(max_bytes)
        .read_to_end(&mut bytes)
        .map_err(io_error(path))?;
    let record = Record::decode(&bytes).map_err(|what| CounterError::Corrupt {
        path: path.to_owned(),
        what,
    })?;
    Ok(Some(record))
}

fn write(path: &Path, record: Record) -> Result<(), CounterError> {
    durable::replace(path, &record.encode()).map_err(io_error(path))
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> CounterError {
    move |source| CounterError::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests;
