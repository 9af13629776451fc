//! The archive as used by a node.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use undertone_message::MessageHash;
use undertone_services::history::{HistoryPage, HistoryQuery, StoredMessage};

use crate::health::HealthLog;
#[cfg(feature = "postgres")]
use crate::postgres::PostgresReader;
use crate::sqlite::SqliteReader;
use crate::url::UrlKind;
use crate::write::{WriterCommand, WriterReply};
use crate::{
    ArchiveError, ArchiveHealth, ArchiveSizes, ArchiveStats, ArchiveUrl, ArchivedHeader,
    InsertReport, MaintainReport, QueryError, RetentionPolicy,
};

/// Maximum number of batches waiting for the writer; further callers wait for a place.
const WAITING_BATCHES: usize = 1024;

/// Settings of an archive.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArchiveOptions {
    /// Limits that [`Archive::maintain`] applies; they also determine the width of time slots.
    pub retention: RetentionPolicy,
    /// Number of queries that are answered concurrently.
    pub readers: usize,
    /// Maximum number of time slots. Retention needs some fifty (above 700 days: 512). The rest is room for messages
    /// with other timestamps, which would otherwise need an unbounded number of slots.
    pub max_slots: usize,
}

impl Default for ArchiveOptions {
    /// Returns settings without limits and with four readers.
    fn default() -> Self {
        Self {
            retention: RetentionPolicy::default(),
            readers: 4,
            max_slots: 1024,
        }
    }
}

impl ArchiveOptions {
    /// Sets the limits.
    #[must_use]
    pub fn with_retention(mut self, retention: RetentionPolicy) -> Self {
        self.retention = retention;
        self
    }

    /// Sets the maximum number of time slots.
    #[must_use]
    pub fn with_max_slots(mut self, max_slots: usize) -> Self {
        self.max_slots = max_slots;
        self
    }
}

/// Handle of an open archive; clones share it.
///
/// Methods wait without blocking the event loop. Dropping a future ends the wait, not the work: an insertion may still
/// happen. The archive closes when the last handle is dropped.
#[derive(Clone)]
pub struct Archive {
    place: Arc<str>,
    commands: mpsc::Sender<WriterCommand>,
    reader: ArchiveReader,
    health: Arc<HealthLog>,
}

#[derive(Clone)]
enum ArchiveReader {
    Sqlite(Arc<SqliteReader>),
    #[cfg(feature = "postgres")]
    Postgres(Arc<PostgresReader>),
}

impl std::fmt::Debug for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Archive({})", self.place)
    }
}

/// Calls the reader, whatever its database.
macro_rules! read {
    ($archive:expr, $reader:ident => $call:expr) => {
        match &$archive.reader {
            ArchiveReader::Sqlite($reader) => $call,
            #[cfg(feature = "postgres")]
            ArchiveReader::Postgres($reader) => $call,
        }
    };
}

impl Archive {
    /// Opens an archive, and creates it if the place has none. Needs a tokio runtime with timers.
    ///
    /// # Errors
    ///
    /// The place cannot currently be used as an archive.
    pub async fn open(url: &ArchiveUrl, options: ArchiveOptions) -> Result<Self, ArchiveError> {
        let (commands, work) = mpsc::channel(WAITING_BATCHES);
        let health = Arc::new(HealthLog::default());
        let place = url.place();
        let reader = match &url.kind {
            UrlKind::Sqlite(directory) => ArchiveReader::Sqlite(
                crate::sqlite::open(directory, options, work, Arc::clone(&health)).await?,
            ),
            #[cfg(feature = "postgres")]
            UrlKind::Postgres(config) => ArchiveReader::Postgres(
                crate::postgres::open(config, &place, options, work, Arc::clone(&health)).await?,
            ),
            #[cfg(not(feature = "postgres"))]
            UrlKind::Postgres => return Err(ArchiveError::Unsupported { place }),
        };
        Ok(Self {
            place,
            commands,
            reader,
            health,
        })
    }

    /// Opens an archive for reading only, even while another process writes it. Insertions and maintenance fail as if
    /// the archive were closed. In SQLite, slots that the other process adds later are not seen. Needs a tokio runtime
    /// with timers.
    ///
    /// # Errors
    ///
    /// There is no archive, or it cannot currently be read.
    pub async fn open_to_read(url: &ArchiveUrl, readers: usize) -> Result<Self, ArchiveError> {
        // Nobody receives what is sent.
        let (commands, _) = mpsc::channel(1);
        let place = url.place();
        let reader = match &url.kind {
            UrlKind::Sqlite(directory) => {
                ArchiveReader::Sqlite(crate::sqlite::open_to_read(directory, readers).await?)
            }
            #[cfg(feature = "postgres")]
            UrlKind::Postgres(config) => ArchiveReader::Postgres(
                crate::postgres::open_to_read(config, &place, readers).await?,
            ),
            #[cfg(not(feature = "postgres"))]
            UrlKind::Postgres => return Err(ArchiveError::Unsupported { place }),
        };
        Ok(Self {
            place,
            commands,
            reader,
            health: Arc::new(HealthLog::default()),
        })
    }

    /// Returns the place of the archive, without a password.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Adds messages. When this method returns, they are on disk: neither a killed process nor a power failure loses
    /// them.
    ///
    /// Inserting a message again changes nothing. Batches that wait at the same time are written together. In
    /// PostgreSQL a batch is one transaction. In SQLite there is one transaction per time slot; a batch of new messages
    /// spans one or two. After an error, part or all of the batch may have been written; insert it again.
    ///
    /// # Errors
    ///
    /// The archive cannot currently be written. Nothing of the batch is acknowledged.
    pub async fn insert(&self, batch: Vec<StoredMessage>) -> Result<InsertReport, ArchiveError> {
        self.ask(|reply| WriterCommand::Insert(batch, reply)).await
    }

    /// Answers a query with one page.
    ///
    /// Pages that follow a cursor are stable while messages arrive: no message comes twice, and none that existed at
    /// the first page is missing, unless retention dropped it. A query by hashes costs in proportion to their number,
    /// which the caller must bound.
    ///
    /// # Errors
    ///
    /// The cursor is unknown, or the archive cannot currently be read.
    pub async fn query(&self, query: HistoryQuery) -> Result<HistoryPage, QueryError> {
        let page = read!(self, reader => reader.query(query).await);
        page.inspect_err(|error| match error {
            QueryError::Archive(error) => self.health.note_reading(error),
            QueryError::UnknownCursor => {}
        })
    }

    /// Returns for each hash, in order, whether the archive has its message.
    ///
    /// # Errors
    ///
    /// The archive cannot currently be read.
    pub async fn contains(&self, hashes: &[MessageHash]) -> Result<Vec<bool>, ArchiveError> {
        let read = read!(self, reader => reader.contains(hashes).await);
        read.inspect_err(|error| self.health.note_reading(error))
    }

    /// Returns timestamps and hashes of the messages between two timestamps (both included), oldest first and at most
    /// `limit`. Set reconciliation uses them.
    ///
    /// # Errors
    ///
    /// The archive cannot currently be read.
    pub async fn hashes(
        &self,
        start_ns: i64,
        end_ns: i64,
        limit: usize,
    ) -> Result<Vec<(i64, MessageHash)>, ArchiveError> {
        let read = read!(self, reader => reader.hashes(start_ns, end_ns, limit).await);
        read.inspect_err(|error| self.health.note_reading(error))
    }

    /// Returns identities and topics of the messages between two timestamps (both included), newest first and at most
    /// `limit`.
    ///
    /// # Errors
    ///
    /// The archive cannot currently be read.
    pub async fn headers(
        &self,
        start_ns: i64,
        end_ns: i64,
        limit: usize,
    ) -> Result<Vec<ArchivedHeader>, ArchiveError> {
        let read = read!(self, reader => reader.headers(start_ns, end_ns, limit).await);
        read.inspect_err(|error| self.health.note_reading(error))
    }

    /// Applies the retention policy at a time, Unix nanoseconds. To be called regularly, e.g. every minute, for the age
    /// limit; [`insert`](Self::insert) enforces the limits of number and size by itself. Dropped slots are logged.
    ///
    /// A clock that jumps ahead makes every message too old: use the time of a
    /// [`RetentionClock`](crate::RetentionClock).
    ///
    /// # Errors
    ///
    /// The archive cannot currently be written; the next run makes up for it.
    pub async fn maintain(&self, now_ns: i64) -> Result<MaintainReport, ArchiveError> {
        self.ask(|reply| WriterCommand::Maintain(now_ns, reply))
            .await
    }

    /// Returns the size of the archive; cheap.
    ///
    /// # Errors
    ///
    /// The archive cannot currently be read.
    pub async fn stats(&self) -> Result<ArchiveStats, ArchiveError> {
        let read = read!(self, reader => reader.stats().await);
        read.inspect_err(|error| self.health.note_reading(error))
    }

    /// Returns the sizes of data and indexes; in SQLite this reads the whole archive.
    ///
    /// # Errors
    ///
    /// The archive cannot currently be read.
    pub async fn sizes(&self) -> Result<ArchiveSizes, ArchiveError> {
        let read = read!(self, reader => reader.sizes().await);
        read.inspect_err(|error| self.health.note_reading(error))
    }

    /// Returns the health of the archive.
    pub fn health(&self) -> ArchiveHealth {
        self.health.get()
    }

    /// Sends a command to the writer and waits for its answer.
    async fn ask<T>(
        &self,
        command: impl FnOnce(WriterReply<T>) -> WriterCommand,
    ) -> Result<T, ArchiveError> {
        let closed = || ArchiveError::Closed {
            place: Arc::clone(&self.place),
        };
        let (reply, answer) = oneshot::channel();
        let sent = self.commands.send(command(reply)).await;
        sent.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }
}
