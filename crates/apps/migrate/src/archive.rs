//! Copies the reference node's archive in SQLite.
//!
//! Source of the schema: repository logos-messaging/logos-delivery, `migrations/message_store/*.sql` and
//! `logos_delivery/waku/waku_archive/driver/sqlite_driver/{migrations,queries}.nim`, commit
//! 69fbffa3a0cfd862a2d04a4a0f57432063ecfba1: `user_version` 10; topics, payload, hash and meta are blobs.
//! The eighth migration gave older rows random hashes, and the tenth replaced the message's time by that of its
//! arrival, so hashes of such rows do not fit their content.

use std::fmt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rusqlite::{Connection, OpenFlags, Row};
use serde::Serialize;
use undertone_archive::{Archive, ArchiveOptions, ArchiveUrl};
use undertone_message::WakuMessage;
use undertone_services::history::StoredMessage;

use crate::error::MigrateError;

/// Supported schema version.
const USER_VERSION: i64 = 10;
/// Schema version of a new archive whose migrations did not run, because the node did not find their files.
const UNSET_VERSION: i64 = 0;
/// Columns of the table of messages at version 10, sorted.
const COLUMNS: [&str; 7] = [
    "contentTopic",
    "messageHash",
    "meta",
    "payload",
    "pubsubTopic",
    "timestamp",
    "version",
];
/// Longest meta field of a message, bytes (RFC 14).
const MAX_META_BYTES: usize = 64;
/// Number of messages inserted at a time.
const BATCH: usize = 1000;
/// Bytes of payloads after which a batch is inserted even if it has fewer messages.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// Maximum number of rows reported individually; all are counted.
const TOLD_MAX: usize = 20;

const READ: &str = "SELECT pubsubTopic, contentTopic, payload, version, timestamp, messageHash, meta \
                    FROM message ORDER BY timestamp, messageHash";

/// An archive to copy, open for reading.
pub(crate) struct SourceArchive {
    path: PathBuf,
    connection: Connection,
    rows: u64,
}

/// Result of copying an archive.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ArchiveCopy {
    /// Rows of the source.
    pub rows: u64,
    /// Messages that were copied.
    pub copied: usize,
    /// Rows whose message another row also has.
    pub duplicates: usize,
    /// Rows whose hash does not match their content; they are copied under the correct hash.
    pub other_hash: usize,
    /// Rows that are not copied: they are not messages, or their timestamps are too scattered.
    pub not_copied: usize,
    /// Descriptions of the first rows of the last two kinds.
    pub told: Vec<String>,
}

/// Opens an archive for reading, and checks its schema.
pub(crate) fn open(path: &Path) -> Result<SourceArchive, MigrateError> {
    let failed = |source| MigrateError::OpenArchive {
        path: path.to_owned(),
        source,
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    let version: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(failed)?;
    let is_read = match version {
        USER_VERSION => true,
        UNSET_VERSION => columns(&connection).map_err(failed)? == COLUMNS,
        _ => false,
    };
    if !is_read {
        return Err(MigrateError::ArchiveSchema {
            path: path.to_owned(),
            version,
            expected: USER_VERSION,
        });
    }
    connection.prepare(READ).map_err(failed)?;
    let rows = connection
        .query_row("SELECT count(*) FROM message", [], |row| row.get(0))
        .map_err(failed)?;
    Ok(SourceArchive {
        path: path.to_owned(),
        connection,
        rows,
    })
}

/// Returns the names of the columns of the table of messages, sorted; empty if there is no such table.
fn columns(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement =
        connection.prepare("SELECT name FROM pragma_table_info('message') ORDER BY name")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// Copies all messages into a new archive. Calls `progress` with the number of rows read so far and the total.
pub(crate) async fn copy(
    source: &SourceArchive,
    directory: &Path,
    mut progress: impl FnMut(u64, u64),
) -> Result<ArchiveCopy, MigrateError> {
    let failed = |error| MigrateError::ReadArchive {
        path: source.path.clone(),
        source: error,
    };
    let archive = Archive::open(&ArchiveUrl::sqlite(directory), ArchiveOptions::default()).await?;
    let mut copied = ArchiveCopy {
        rows: source.rows,
        ..ArchiveCopy::default()
    };
    let mut statement = source.connection.prepare(READ).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    let (mut batch, mut bytes, mut number) = (Vec::new(), 0, 0_u64);
    while let Some(row) = rows.next().map_err(failed)? {
        number += 1;
        let hash = hash_of(row);
        match message(row) {
            Ok(stored) => {
                if hash.as_deref() != Some(stored.hash.0.as_slice()) {
                    copied.other_hash += 1;
                    let (old, new) = (shown(hash.as_deref()), stored.hash);
                    copied.tell(format!(
                        "row {number}, hash {old}: its content has the hash {new}"
                    ));
                }
                bytes += stored.message.payload.len();
                batch.push(stored);
            }
            Err(what) => {
                copied.not_copied += 1;
                let old = shown(hash.as_deref());
                copied.tell(format!("row {number}, hash {old}: not copied: {what}"));
            }
        }
        if batch.len() >= BATCH || bytes >= BATCH_BYTES {
            bytes = 0;
            insert(&archive, std::mem::take(&mut batch), &mut copied).await?;
            progress(number, source.rows);
        }
    }
    insert(&archive, batch, &mut copied).await?;
    Ok(copied)
}

async fn insert(
    archive: &Archive,
    batch: Vec<StoredMessage>,
    copied: &mut ArchiveCopy,
) -> Result<(), MigrateError> {
    let report = archive.insert(batch).await?;
    copied.copied += report.inserted;
    copied.duplicates += report.duplicates;
    if report.out_of_range > 0 {
        copied.not_copied += report.out_of_range;
        let count = report.out_of_range;
        copied.tell(format!(
            "{count} messages: not copied: their timestamps are too scattered for the archive"
        ));
    }
    Ok(())
}

/// Reads a message; the error says what is wrong with the row.
fn message(row: &Row<'_>) -> Result<StoredMessage, String> {
    let text = |column: usize, name: &str| {
        let bytes = blob(row, column).ok_or_else(|| format!("{name} is no text"))?;
        String::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8"))
    };
    let number = |column: usize, name: &str| {
        row.get::<_, i64>(column)
            .map_err(|_| format!("{name} is no number"))
    };
    let payload = blob(row, 2).ok_or("payload is no bytes")?;
    let mut message = WakuMessage::new(Bytes::from(payload), text(1, "contentTopic")?);
    let version = number(3, "version")?;
    let version =
        u32::try_from(version).map_err(|_| format!("version {version} is out of range"))?;
    message.version = Some(version).filter(|version| *version != 0);
    message.timestamp = Some(number(4, "timestamp")?);
    let meta = blob(row, 6).ok_or("meta is no bytes")?;
    if meta.len() > MAX_META_BYTES {
        return Err(format!(
            "meta has {} bytes, more than {MAX_META_BYTES}",
            meta.len()
        ));
    }
    message.meta = Some(Bytes::from(meta)).filter(|meta| !meta.is_empty());
    Ok(StoredMessage::new(text(0, "pubsubTopic")?, message))
}

fn hash_of(row: &Row<'_>) -> Option<Vec<u8>> {
    blob(row, 5)
}

/// Returns the bytes of a blob or text; `None` for NULL.
fn blob(row: &Row<'_>, column: usize) -> Option<Vec<u8>> {
    match row.get_ref(column).ok()? {
        rusqlite::types::ValueRef::Null => Some(Vec::new()),
        rusqlite::types::ValueRef::Blob(bytes) | rusqlite::types::ValueRef::Text(bytes) => {
            Some(bytes.to_vec())
        }
        _ => None,
    }
}

fn shown(hash: Option<&[u8]>) -> String {
    hash.map_or_else(
        || "(none)".to_owned(),
        |hash| format!("0x{}", hex::encode(hash)),
    )
}

impl ArchiveCopy {
    fn tell(&mut self, what: String) {
        if self.told.len() < TOLD_MAX {
            self.told.push(what);
        }
    }
}

impl fmt::Display for ArchiveCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} messages copied, {} of them under another hash than before; {} duplicates, {} not copied",
            self.copied, self.rows, self.other_hash, self.duplicates, self.not_copied
        )?;
        self.told
            .iter()
            .try_for_each(|what| write!(f, "\n  {what}"))
    }
}
