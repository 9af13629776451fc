//! Layout of a registry's file, and opening the file.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::registry::{MAX_LIMIT, RegistryId};
use crate::storage::{StorageDamage, StorageError, storage};

/// SQLite application id "UTMR" in the file's header, which distinguishes a registry
/// from other databases.
const APPLICATION_ID: i32 = 0x5554_4d52;

/// Version of the tables' layout. A file with a higher number was made by a later version
/// of the program.
const SCHEMA_VERSION: i32 = 3;

/// Layout version before registries had an identity. Such a file gets one when it is opened.
const SCHEMA_WITHOUT_IDENTITY: i32 = 1;

/// Layout version before changes had a time. The times of changes in such a file stay unknown.
const SCHEMA_WITHOUT_TIMES: i32 = 2;

/// Maximum time that a call waits for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Tables of a registry. `changes` is the log; `members` is derived from it, for look-ups. A change
/// without a limit is a removal. Commitments are canonical, little-endian.
const TABLES: &str = "
    CREATE TABLE settings (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        max_limit INTEGER NOT NULL CHECK (max_limit BETWEEN 1 AND 65535)
    ) STRICT;
    CREATE TABLE changes (
        version INTEGER PRIMARY KEY CHECK (version > 0),
        member INTEGER NOT NULL CHECK (member BETWEEN 0 AND 1048575),
        commitment BLOB NOT NULL CHECK (length(commitment) = 32),
        message_limit INTEGER CHECK (message_limit BETWEEN 1 AND 65535)
    ) STRICT;
    CREATE INDEX changes_by_member ON changes (member);
    CREATE TABLE members (
        member INTEGER PRIMARY KEY CHECK (member BETWEEN 0 AND 1048575),
        commitment BLOB NOT NULL UNIQUE CHECK (length(commitment) = 32),
        message_limit INTEGER NOT NULL CHECK (message_limit BETWEEN 1 AND 65535)
    ) STRICT;
";

/// Table with the registry's identifier, drawn when the table is created. SQLite seeds its random
/// generator from the operating system's.
const IDENTITY: &str = "
    CREATE TABLE identity (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        id BLOB NOT NULL CHECK (length(id) = 16)
    ) STRICT;
    INSERT INTO identity (only, id) VALUES (1, randomblob(16));
";

/// Column with the time of a change, Unix nanoseconds by the clock of the process that made it.
const TIMES: &str = "ALTER TABLE changes ADD COLUMN unix_ns INTEGER;";

/// Settings with which a registry was created.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// The largest limit that the registry grants, in messages per epoch.
    pub(super) max_limit: u32,
    /// Identifier of the registry.
    pub(super) id: RegistryId,
}

/// Content of a file before it is opened as a registry.
enum FileContent {
    Nothing,
    WithoutIdentity,
    WithoutTimes,
    Complete,
}

/// Opens the file, creates missing tables, and checks the content. Returns the connection and the
/// settings stored in the file.
pub(super) fn open(path: &Path, max_limit: u32) -> Result<(Connection, Settings), StorageError> {
    // Two processes that both find no file must not both set it up: SQLite answers the switch to WAL with
    // "busy" at once instead of waiting. The lock is held until this function returns.
    let lock_path = lock_path(path);
    let io_error = |source| StorageError::Io {
        path: lock_path.clone(),
        source,
    };
    let mut options = OpenOptions::new();
    let lock = options
        .write(true)
        .create(true)
        .truncate(false)
        .open(&lock_path);
    let lock = lock.map_err(io_error)?;
    lock.lock().map_err(io_error)?;

    let sql_error = storage(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(&sql_error)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(&sql_error)?;
    // Checked before anything is written, so that a foreign file is left unchanged.
    let found = identify(path, &connection)?;
    let _: String = connection
        .query_one("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(&sql_error)?;
    connection
        .pragma_update(None, "synchronous", "FULL")
        .map_err(&sql_error)?;
    if !matches!(found, FileContent::Complete) {
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(&sql_error)?;
        if matches!(found, FileContent::Nothing) {
            create(&transaction, max_limit).map_err(&sql_error)?;
        }
        if !matches!(found, FileContent::WithoutTimes) {
            transaction.execute_batch(IDENTITY).map_err(&sql_error)?;
        }
        times(&transaction).map_err(&sql_error)?;
        transaction.commit().map_err(&sql_error)?;
    }
    let settings = check(path, &connection)?;
    Ok((connection, settings))
}

/// Determines the content of the file; returns an error when it is neither empty nor a registry.
fn identify(path: &Path, connection: &Connection) -> Result<FileContent, StorageError> {
    let sql_error = storage(path);
    let number = |sql| {
        connection
            .query_one(sql, [], |row| row.get(0))
            .map_err(&sql_error)
    };
    let application_id: i32 = number("PRAGMA application_id")?;
    let found: i32 = number("PRAGMA user_version")?;
    let tables: i32 = number("SELECT COUNT(*) FROM sqlite_schema")?;
    let path = || path.to_owned();
    match (application_id, tables) {
        (0, 0) => Ok(FileContent::Nothing),
        (APPLICATION_ID, _) if found == SCHEMA_VERSION => Ok(FileContent::Complete),
        (APPLICATION_ID, _) if found == SCHEMA_WITHOUT_TIMES => Ok(FileContent::WithoutTimes),
        (APPLICATION_ID, _) if found == SCHEMA_WITHOUT_IDENTITY => Ok(FileContent::WithoutIdentity),
        (APPLICATION_ID, _) => Err(StorageError::WrongSchema {
            path: path(),
            found,
            supported: SCHEMA_VERSION,
        }),
        _ => Err(StorageError::NotARegistry { path: path() }),
    }
}

fn create(transaction: &Transaction<'_>, max_limit: u32) -> rusqlite::Result<()> {
    transaction.execute_batch(TABLES)?;
    transaction.execute(
        "INSERT INTO settings (only, max_limit) VALUES (1, ?1)",
        [max_limit],
    )?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)
}

fn times(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(TIMES)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)
}

/// Runs SQLite's integrity check over the whole file, then reads the settings.
fn check(path: &Path, connection: &Connection) -> Result<Settings, StorageError> {
    let sql_error = storage(path);
    let verdict: String = connection
        .query_one("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(&sql_error)?;
    if verdict != "ok" {
        let what = StorageDamage::Structure { report: verdict };
        return Err(StorageError::Corrupt {
            path: path.to_owned(),
            what,
        });
    }
    let max_limit: u32 = connection
        .query_one("SELECT max_limit FROM settings", [], |row| row.get(0))
        .map_err(&sql_error)?;
    let id = connection
        .query_one("SELECT id FROM identity", [], |row| row.get(0))
        .map_err(&sql_error)?;
    Ok(Settings {
        max_limit: max_limit.clamp(1, MAX_LIMIT),
        id: RegistryId(id),
    })
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".lock");
    PathBuf::from(name)
}
