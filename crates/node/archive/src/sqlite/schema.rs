//! Files of an archive: tables, and rows of messages.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use rusqlite::config::DbConfig;
use rusqlite::types::Type;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};
use undertone_message::{MessageHash, WakuMessage};
use undertone_services::history::HistoryData;

use crate::slot::SlotRange;

/// Version of the file layout.
pub(super) const FORMAT: i64 = 1;

/// Tables of a slot.
///
/// Topics are interned, and dropped together with their slot. Pages are taken from lanes: the messages of a pubsub
/// topic or of a pair of topics, ordered by time and hash. The index by hash contains eight bytes of it, which makes it
/// a third as large; the row distinguishes hashes with equal beginnings.
///
/// `timestamp` is 0 for a message without one, as in its hash; `timed` distinguishes the two cases.
const SLOT_TABLES: &str = "
CREATE TABLE slot (first_ns INTEGER NOT NULL, last_ns INTEGER NOT NULL);
CREATE TABLE pubsub (id INTEGER PRIMARY KEY, topic TEXT NOT NULL UNIQUE);
CREATE TABLE stream (
  id INTEGER PRIMARY KEY,
  pubsub INTEGER NOT NULL,
  content_topic TEXT NOT NULL,
  UNIQUE (content_topic, pubsub)
);
CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  pubsub INTEGER NOT NULL,
  stream INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,
  hash BLOB NOT NULL,
  timed INTEGER NOT NULL,
  version INTEGER,
  ephemeral INTEGER,
  meta BLOB,
  payload BLOB NOT NULL,
  rate_limit_proof BLOB
);
CREATE INDEX message_by_pubsub ON message (pubsub, timestamp, hash);
CREATE INDEX message_by_stream ON message (stream, timestamp, hash);
CREATE INDEX message_by_hash ON message (substr(hash, 1, 8));
";

/// Finds the row of a hash, given its first eight bytes and the whole hash.
pub(super) const FIND_HASH: &str =
    "SELECT id, timestamp FROM message WHERE substr(hash, 1, 8) = ?1 AND hash = ?2";

/// Columns of a message's content, in the order that [`content`] reads.
pub(super) const READ_CONTENT: &str = "
SELECT stream, timestamp, timed, version, ephemeral, meta, payload, rate_limit_proof
FROM message WHERE id = ?1";

/// Reads the topics of a stream, which all its messages share.
pub(super) const READ_TOPICS: &str = "
SELECT pubsub.topic, content_topic FROM stream JOIN pubsub ON pubsub.id = stream.pubsub WHERE stream.id = ?1";

/// Opens the marker of an archive's directory, and locks it against other processes until it is closed. Returns the
/// format of the directory; `None` if the file belongs to another program, in which case it is left unchanged.
pub(super) fn open_marker(
    path: &Path,
    create: bool,
) -> rusqlite::Result<Option<(Connection, i64)>> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(3))?;
    // The lock of the first write transaction persists.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let tables = "SELECT count(*) FROM sqlite_schema";
    let tables: i64 = connection.query_row(tables, [], |row| row.get(0))?;
    if tables > 0 && !connection.table_exists(None, "archive")? {
        return Ok(None);
    }
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS archive (format INTEGER NOT NULL, opened INTEGER NOT NULL)",
    )?;
    let format: Option<i64> = connection
        .query_row("SELECT format FROM archive", [], |row| row.get(0))
        .optional()?;
    if format.is_none() {
        connection.execute("INSERT INTO archive VALUES (?1, 0)", [FORMAT])?;
    }
    connection.execute("UPDATE archive SET opened = opened + 1", [])?;
    connection.execute_batch("COMMIT")?;
    Ok(Some((connection, format.unwrap_or(FORMAT))))
}

/// Reads the format of an archive's directory from its marker, which another process may hold locked.
///
/// That process's lock forbids reading, so the file is read without locks. It does not change while it is locked, and a
/// process that is just opening it leaves the format as it is.
pub(super) fn read_format(path: &Path) -> rusqlite::Result<i64> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*byte));
            }
            byte => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.query_row("SELECT format FROM archive", [], |row| row.get(0))
}

/// Creates the file of a new slot with a rollback journal, so that the file alone contains everything.
pub(super) fn create_slot(path: &Path, range: SlotRange) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(SLOT_TABLES)?;
    transaction.execute(
        "INSERT INTO slot VALUES (?1, ?2)",
        (range.first_ns, range.last_ns),
    )?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

/// Opens the file of a slot for the writer.
pub(super) fn open_slot(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    for_writing(&connection)?;
    Ok(connection)
}

/// Opens the file of a slot for a reader.
pub(super) fn open_slot_to_read(path: &Path) -> rusqlite::Result<Connection> {
    // A reader of a write-ahead log also writes to the shared-memory file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    keep_plans(&connection)?;
    connection.busy_timeout(std::time::Duration::from_secs(3))?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "mmap_size", 256 * 1024 * 1024)?;
    connection.pragma_update(None, "cache_size", -4096)?;
    Ok(connection)
}

/// Keeps the plan of a prepared statement, whatever values it is run with. Otherwise SQLite plans again for each page,
/// which takes a quarter of the page's time and yields the same plan.
fn keep_plans(connection: &Connection) -> rusqlite::Result<bool> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
}

/// Prepares a connection for writing.
///
/// `synchronous = FULL` waits until the log is on disk at each commit. `NORMAL` would be enough for a killed process,
/// but loses the last commits in a power failure. Since insertions share commits, `FULL` costs little.
fn for_writing(connection: &Connection) -> rusqlite::Result<()> {
    keep_plans(connection)?;
    connection.busy_timeout(std::time::Duration::from_secs(3))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    connection.pragma_update(None, "cache_size", -32 * 1024)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(())
}

/// Pubsub topic and content topic of a stream.
pub(super) type StreamTopics = (Arc<str>, Arc<str>);

/// Reads the content of a message from a row of [`READ_CONTENT`], given the topics of its stream.
pub(super) fn content(
    row: &Row<'_>,
    topics: impl FnOnce(i64) -> rusqlite::Result<StreamTopics>,
) -> rusqlite::Result<HistoryData> {
    let blob = |index| -> rusqlite::Result<Option<Bytes>> {
        let value = row.get_ref(index)?.as_blob_or_null();
        let value = value.map_err(|error| wrong(index, error))?;
        Ok(value.map(Bytes::copy_from_slice))
    };
    let timed: bool = row.get(2)?;
    let (pubsub_topic, content_topic) = topics(row.get(0)?)?;
    Ok(HistoryData {
        pubsub_topic,
        message: WakuMessage {
            payload: blob(6)?.unwrap_or_default(),
            content_topic,
            version: row.get(3)?,
            timestamp: Some(row.get(1)?).filter(|_| timed),
            meta: blob(5)?,
            rate_limit_proof: blob(7)?,
            ephemeral: row.get(4)?,
        },
    })
}

/// Reads the topics of a stream from a row of [`READ_TOPICS`].
pub(super) fn topics(row: &Row<'_>) -> rusqlite::Result<StreamTopics> {
    let text = |index| {
        let value = row.get_ref(index)?.as_str();
        value.map(Arc::from).map_err(|error| wrong(index, error))
    };
    Ok((text(0)?, text(1)?))
}

/// Reads a hash.
pub(super) fn hash(row: &Row<'_>, index: usize) -> rusqlite::Result<MessageHash> {
    Ok(MessageHash(row.get(index)?))
}

fn wrong(index: usize, error: rusqlite::types::FromSqlError) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(index, Type::Null, Box::new(error))
}
