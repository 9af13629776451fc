//! The accountable sender's queue on disk: records of messages in progress, and events not yet fetched.
//!
//! The queue is one SQLite file. Changes written together are one transaction, which is on disk when
//! [`SenderQueue::commit`] returns. The file belongs to one node: it is locked until the node ends. It contains
//! messages before they are sent, so only its owner may read it.

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rusqlite::{Connection, Transaction};
use thiserror::Error;
use undertone_message::MessageHash;
use undertone_services::sending::SendId;

use super::report::{SendReport, SendStep};

#[cfg(test)]
#[path = "tests/queue.rs"]
mod tests;

/// SQLite application id "UTSQ" in the file's header, which distinguishes a queue from other databases.
const APPLICATION_ID: i32 = 0x5554_5351;

/// Version of the tables' layout.
const SCHEMA_VERSION: i32 = 1;

/// Permissions of the file: read and write for its owner only.
const MODE: u32 = 0o600;

/// Tables of a queue. The steps of `events` are numbers of [`SendStep`].
const TABLES: &str = "
    CREATE TABLE records (
        id INTEGER PRIMARY KEY,
        record BLOB NOT NULL
    ) STRICT;
    CREATE TABLE events (
        number INTEGER PRIMARY KEY,
        id INTEGER NOT NULL,
        step INTEGER NOT NULL,
        hash BLOB CHECK (hash IS NULL OR length(hash) = 32),
        at_ns INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE last (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        id INTEGER NOT NULL
    ) STRICT;
    INSERT INTO last (only, id) VALUES (1, 0);
";

/// Reason why the queue of messages to send cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendQueueError {
    /// Another node uses the file.
    #[error("{path}: locked by another process; give each node a data-dir of its own")]
    Locked {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file is a database of another kind.
    #[error("{path}: not a queue of messages to send; move the file away")]
    Foreign {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file has a layout of another version of this program.
    #[error(
        "{path}: of layout {found}, and this program knows {SCHEMA_VERSION}; use the newer program"
    )]
    Version {
        /// Path of the file.
        path: PathBuf,
        /// Version of the file.
        found: i32,
    },
    /// SQLite or the disk failed.
    #[error("{path}: {error}; check that the folder exists, is writable and has space")]
    Storage {
        /// Path of the file.
        path: PathBuf,
        /// Error of SQLite.
        error: rusqlite::Error,
    },
}

/// A change to the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum QueueWrite {
    /// Stores a record in place of the message's former one.
    Put(SendId, Bytes),
    /// Deletes the record of a message.
    Erase(SendId),
    /// Prevents a message number from being assigned again.
    Skip(SendId),
    /// Stores an event.
    Note(SendReport),
    /// Deletes events by their numbers.
    Forget(Vec<u64>),
}

/// Content of an opened queue.
#[derive(Debug)]
pub(super) struct KeptQueue {
    pub(super) records: Vec<Bytes>,
    /// Events not yet fetched, oldest first.
    pub(super) events: Vec<SendReport>,
    /// Highest message number ever assigned.
    pub(super) last_id: SendId,
}

impl KeptQueue {
    /// Returns the content of a new queue.
    pub(super) fn empty() -> Self {
        Self {
            records: Vec::new(),
            events: Vec::new(),
            last_id: SendId(0),
        }
    }
}

/// A queue on disk, or one that stores nothing.
#[derive(Debug)]
pub(super) struct SenderQueue {
    /// `None` for a queue in memory.
    file: Option<(PathBuf, Connection)>,
}

impl SenderQueue {
    /// Returns a queue that stores nothing.
    pub(super) fn in_memory() -> Self {
        Self { file: None }
    }

    /// Opens a queue, or creates a new one.
    pub(super) fn open(path: &Path) -> Result<(Self, KeptQueue), SendQueueError> {
        let failed = failure(path);
        keep_private(path);
        let mut connection = Connection::open(path).map_err(&failed)?;
        // Only one process may use the queue: two nodes with one queue would send every message twice.
        for (name, value) in [("locking_mode", "EXCLUSIVE"), ("journal_mode", "WAL")] {
            let pragma = format!("PRAGMA {name} = {value}");
            let answer = connection.query_row(&pragma, [], |_| Ok(()));
            answer.map_err(&failed)?;
        }
        let full = connection.pragma_update(None, "synchronous", "FULL");
        full.map_err(&failed)?;
        let transaction = connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive)
            .map_err(&failed)?;
        prepare(path, &transaction)?;
        let kept = kept(&transaction).map_err(&failed)?;
        transaction.commit().map_err(&failed)?;
        let file = Some((path.to_owned(), connection));
        Ok((Self { file }, kept))
    }

    /// Writes all changes or none. They are on disk when this method returns.
    pub(super) fn commit(&mut self, writes: &[QueueWrite]) -> Result<(), SendQueueError> {
        let Some((path, connection)) = &mut self.file else {
            return Ok(());
        };
        let written = connection.transaction().and_then(|transaction| {
            for write in writes {
                apply(&transaction, write)?;
            }
            transaction.commit()
        });
        written.map_err(failure(path))
    }
}

/// Creates the file if it does not exist, and makes it readable by its owner only, even if an earlier version created
/// it. SQLite gives its companion files the same mode.
fn keep_private(path: &Path) {
    let mut options = OpenOptions::new();
    // An error occurs again when SQLite opens the file, and is reported then.
    let _ = options.append(true).create(true).mode(MODE).open(path);
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let is_open = |metadata: fs::Metadata| metadata.permissions().mode() & 0o077 != 0;
        if fs::metadata(&name).is_ok_and(is_open)
            && let Err(error) = fs::set_permissions(&name, Permissions::from_mode(MODE))
        {
            let path = Path::new(&name).display();
            tracing::warn!(%path, %error, "others can read the messages that wait to be sent");
        }
    }
}

fn failure(path: &Path) -> impl Fn(rusqlite::Error) -> SendQueueError {
    move |error| {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
                SendQueueError::Locked { path }
            }
            Some(rusqlite::ErrorCode::NotADatabase) => SendQueueError::Foreign { path },
            _ => SendQueueError::Storage { path, error },
        }
    }
}

/// Checks that the file is a queue; initialises a new one.
fn prepare(path: &Path, transaction: &Transaction<'_>) -> Result<(), SendQueueError> {
    let failed = failure(path);
    let number = |pragma: &str| transaction.query_row(pragma, [], |row| row.get::<_, i32>(0));
    let application = number("PRAGMA application_id").map_err(&failed)?;
    let found = number("PRAGMA user_version").map_err(&failed)?;
    let tables = number("SELECT count(*) FROM sqlite_schema").map_err(&failed)?;
    let path = path.to_owned();
    match (application, found, tables) {
        (APPLICATION_ID, SCHEMA_VERSION, _) => Ok(()),
        (APPLICATION_ID, _, _) => Err(SendQueueError::Version { path, found }),
        (0, 0, 0) => {
            let created = transaction.execute_batch(TABLES).and_then(|()| {
                transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
                transaction.pragma_update(None, "user_version", SCHEMA_VERSION)
            });
            created.map_err(failed)
        }
        _ => Err(SendQueueError::Foreign { path }),
    }
}

fn kept(transaction: &Transaction<'_>) -> Result<KeptQueue, rusqlite::Error> {
    let mut records = transaction.prepare("SELECT record FROM records ORDER BY id")?;
    let records = records.query_map([], |row| Ok(Bytes::from(row.get::<_, Vec<u8>>(0)?)))?;
    let columns = "SELECT number, id, step, hash, at_ns FROM events ORDER BY number";
    let mut events = transaction.prepare(columns)?;
    let events = events.query_map([], |row| {
        let report = |step| -> Result<SendReport, rusqlite::Error> {
            Ok(SendReport {
                number: row.get(0)?,
                id: SendId(row.get(1)?),
                step,
                hash: row.get::<_, Option<[u8; 32]>>(3)?.map(MessageHash),
                at_ns: row.get(4)?,
            })
        };
        // An unknown step comes from a later version; the message's next event is more useful.
        SendStep::from_number(row.get(2)?).map(report).transpose()
    })?;
    let last = transaction.query_row("SELECT id FROM last", [], |row| row.get(0))?;
    Ok(KeptQueue {
        records: records.collect::<Result<_, _>>()?,
        events: events
            .filter_map(Result::transpose)
            .collect::<Result<_, _>>()?,
        last_id: SendId(last),
    })
}

fn apply(transaction: &Transaction<'_>, write: &QueueWrite) -> Result<(), rusqlite::Error> {
    match write {
        QueueWrite::Put(id, record) => {
            let put = "INSERT OR REPLACE INTO records (id, record) VALUES (?1, ?2)";
            transaction
                .prepare_cached(put)?
                .execute((id.0, &record[..]))?;
            skip(transaction, *id)?;
        }
        QueueWrite::Skip(id) => skip(transaction, *id)?,
        QueueWrite::Erase(id) => {
            let erase = "DELETE FROM records WHERE id = ?1";
            transaction.prepare_cached(erase)?.execute((id.0,))?;
        }
        QueueWrite::Note(report) => {
            let note =
                "INSERT INTO events (number, id, step, hash, at_ns) VALUES (?1, ?2, ?3, ?4, ?5)";
            let hash = report.hash.map(|hash| hash.0);
            let row = (
                report.number,
                report.id.0,
                report.step.number(),
                hash,
                report.at_ns,
            );
            transaction.prepare_cached(note)?.execute(row)?;
        }
        QueueWrite::Forget(numbers) => {
            let mut forget = transaction.prepare_cached("DELETE FROM events WHERE number = ?1")?;
            for number in numbers {
                forget.execute((number,))?;
            }
        }
    }
    Ok(())
}

fn skip(transaction: &Transaction<'_>, id: SendId) -> Result<(), rusqlite::Error> {
    let last = "UPDATE last SET id = max(id, ?1)";
    transaction.prepare_cached(last)?.execute((id.0,))?;
    Ok(())
}
