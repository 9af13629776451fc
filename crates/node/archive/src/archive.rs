//! The archive as a node uses it.

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

/// Batches that may wait for the writer; further callers wait for a place.
const WAITING_BATCHES: usize = 1024;

/// Settings of an archive.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArchiveOptions {
    /// Limits that [`Archive::maintain`] applies; also decides how wide slots of time are.
    pub retention: RetentionPolicy,
    /// Queries that are answered at the same time.
    pub readers: usize,
    /// Most slots of time. Retention needs some fifty (above 700 days: 512); the rest is room for messages with
    /// other timestamps, whose number would be unbounded otherwise.
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
    /// Replaces the limits.
    #[must_use]
    pub fn with_retention(mut self, retention: RetentionPolicy) -> Self {
        self.retention = retention;
        self
    }

    /// Replaces the most slots of time.
    #[must_use]
    pub fn with_max_slots(mut self, max_slots: usize) -> Self {
        self.max_slots = max_slots;
        self
    }
}

/// Handle of an open archive; clones share it.
///
/// Methods wait without blocking the event loop. A future that is dropped ends the waiting, not the work: an
/// insertion may still happen. The archive closes when the last handle is dropped.
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

/// Calls the reader of either kind.
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
    /// Opens an archive, and makes it if the place has none. Needs a tokio runtime with timers.
    ///
    /// # Errors
    ///
    /// The place cannot be used as an archive now.
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

    /// Opens an archive for reading alone, also while another process writes it. Insertions and maintenance
    /// fail as if the archive were closed. In SQLite, slots that the other process adds later are not seen.
    /// Needs a tokio runtime with timers.
    ///
    /// # Errors
    ///
    /// There is no archive, or it cannot be read now.
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

    /// Place of the archive, without a password.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Adds messages. When this returns, they are on disk: neither a killed process nor a power failure loses
    /// them.
    ///
    /// Inserting a message again changes nothing. Batches that wait at the same time are written together. In
    /// PostgreSQL a batch is one transaction; in SQLite it is one for each slot of time, of which a batch of new
    /// messages has one or two. After an error some or all of the batch may be there; insert it again.
    ///
    /// # Errors
    ///
    /// The archive cannot be written now. Nothing of the batch is acknowledged.
    pub async fn insert(&self, batch: Vec<StoredMessage>) -> Result<InsertReport, ArchiveError> {
        self.ask(|reply| WriterCommand::Insert(batch, reply)).await
    }

    /// Answers a query with one page.
    ///
    /// Pages that follow a cursor are stable while messages arrive: none comes twice, and none is missing that
    /// was there at the first page, unless retention dropped it. A query by hashes costs as much as it names
    /// hashes; their number is for the caller to bound.
    ///
    /// # Errors
    ///
    /// The cursor is unknown, or the archive cannot be read now.
    pub async fn query(&self, query: HistoryQuery) -> Result<HistoryPage, QueryError> {
        let page = read!(self, reader => reader.query(query).await);
        page.inspect_err(|error| match error {
            QueryError::Archive(error) => self.health.note_reading(error),
            QueryError::UnknownCursor => {}
        })
    }

    /// Tells of each hash whether the archive has its message, in the order of the hashes.
    ///
    /// # Errors
    ///
    /// The archive cannot be read now.
    pub async fn contains(&self, hashes: &[MessageHash]) -> Result<Vec<bool>, ArchiveError> {
        let read = read!(self, reader => reader.contains(hashes).await);
        read.inspect_err(|error| self.health.note_reading(error))
    }

    /// Timestamps and hashes of the messages between two timestamps (both included), the oldest first and at
    /// most `limit`; what sets are reconciled by.
    ///
    /// # Errors
    ///
    /// The archive cannot be read now.
    pub async fn hashes(
        &self,
        start_ns: i64,
        end_ns: i64,
        limit: usize,
    ) -> Result<Vec<(i64, MessageHash)>, ArchiveError> {
        let read = read!(self, reader => reader.hashes(start_ns, end_ns, limit).await);
        read.inspect_err(|error| self.health.note_reading(error))
    }

    /// Identities and topics of the messages between two timestamps (both included), the newest first and at
    /// most `limit`.
    ///
    /// # Errors
    ///
    /// The archive cannot be read now.
    pub async fn headers(
        &self,
        start_ns: i64,
        end_ns: i64,
        limit: usize,
    ) -> Result<Vec<ArchivedHeader>, ArchiveError> {
        let read = read!(self, reader => reader.headers(start_ns, end_ns, limit).await);
        read.inspect_err(|error| self.health.note_reading(error))
    }

    /// Applies the retention policy at a time, Unix nanoseconds. To be called regularly, e.g. each minute, for the
    /// limit of age; [`insert`](Self::insert) keeps to those of number and size by itself. What is dropped is logged.
    ///
    /// A clock that jumps ahead makes everything too old: take the time of a [`RetentionClock`](crate::RetentionClock).
    ///
    /// # Errors
    ///
    /// The archive cannot be written now; the next run makes up for it.
    pub async fn maintain(&self, now_ns: i64) -> Result<MaintainReport, ArchiveError> {
        self.ask(|reply| WriterCommand::Maintain(now_ns, reply))
            .await
    }

    /// Size of the archive; cheap.
    ///
    /// # Errors
    ///
    /// The archive cannot be read now.
    pub async fn stats(&self) -> Result<ArchiveStats, ArchiveError> {
        let read = read!(self, reader => reader.stats().await);
        read.inspect_err(|error| self.health.note_reading(error))
    }

    /// Shares of data and indexes; in SQLite this reads the whole archive.
    ///
    /// # Errors
    ///
    /// The archive cannot be read now.
    pub async fn sizes(&self) -> Result<ArchiveSizes, ArchiveError> {
        let read = read!(self, reader => reader.sizes().await);
        read.inspect_err(|error| self.health.note_reading(error))
    }

    /// Health of the archive.
    pub fn health(&self) -> ArchiveHealth {
        self.health.get()
    }

    /// Hands work to the writer and waits for its answer.
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
