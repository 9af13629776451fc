//! Readers of an archive.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Semaphore;
use undertone_message::MessageHash;
use undertone_services::history::{HistoryPage, HistoryQuery};

use super::directory::SharedDirectory;
use super::view::{SlotConnections, SqliteReadError, SqliteView};
use super::{headers, query};
use crate::cursors::CursorMemory;
use crate::{ArchiveError, ArchiveSizes, ArchiveStats, ArchivedHeader, QueryError};

/// Maximum number of attempts of a query whose slots are dropped while it runs.
const ATTEMPTS: usize = 4;

/// Reader of an archive, with a bounded number of concurrent queries.
pub(crate) struct SqliteReader {
    shared: Arc<SharedDirectory>,
    places: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<SlotConnections>>>,
    cursors: Arc<CursorMemory>,
}

impl SqliteReader {
    pub(super) fn new(shared: Arc<SharedDirectory>, readers: usize) -> Self {
        Self {
            shared,
            places: Arc::new(Semaphore::new(readers.max(1))),
            idle: Arc::default(),
            cursors: Arc::default(),
        }
    }

    pub(crate) async fn query(&self, query: HistoryQuery) -> Result<HistoryPage, QueryError> {
        self.read(move |view| query::page(view, &query)).await
    }

    pub(crate) async fn contains(&self, hashes: &[MessageHash]) -> Result<Vec<bool>, ArchiveError> {
        let hashes = hashes.to_vec();
        let found = self.read(move |view| query::contains(view, &hashes)).await;
        found.map_err(|error| self.without_cursor(error))
    }

    pub(crate) async fn hashes(
        &self,
        start_ns: i64,
        end_ns: i64,
        limit: usize,
    ) -> Result<Vec<(i64, MessageHash)>, ArchiveError> {
        let found = self
            .read(move |view| query::hashes(view, start_ns, end_ns, limit))
            .await;
        found.map_err(|error| self.without_cursor(error))
    }

    pub(crate) async fn headers(
        &self,
        start_ns: i64,
        end_ns: i64,
        limit: usize,
    ) -> Result<Vec<ArchivedHeader>, ArchiveError> {
        let found = self
            .read(move |view| headers::headers(view, start_ns, end_ns, limit))
            .await;
        found.map_err(|error| self.without_cursor(error))
    }

    pub(crate) async fn sizes(&self) -> Result<ArchiveSizes, ArchiveError> {
        let found = self.read(query::sizes).await;
        found.map_err(|error| self.without_cursor(error))
    }

    pub(crate) async fn stats(&self) -> Result<ArchiveStats, ArchiveError> {
        let found = self.read(|view| Ok(view.stats())).await;
        found.map_err(|error| self.without_cursor(error))
    }

    /// Runs a read on a blocking thread.
    async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&mut SqliteView<'_>) -> Result<T, SqliteReadError> + Send + 'static,
    ) -> Result<T, QueryError> {
        let closed = || ArchiveError::Closed {
            place: Arc::clone(&self.shared.place),
        };
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|_| closed())?;
        let shared = Arc::clone(&self.shared);
        let idle = Arc::clone(&self.idle);
        let cursors = Arc::clone(&self.cursors);
        let task = tokio::task::spawn_blocking(move || {
            let mut connections = idle.lock().pop().unwrap_or_default();
            let outcome = attempt(&shared, &mut connections, &cursors, &work);
            if outcome.is_ok() {
                idle.lock().push(connections);
            }
            drop(place);
            outcome
        });
        task.await.map_err(|_| closed())?
    }

    /// Translates an error of a read without a cursor. An unknown cursor would be a bug here, and
    /// look like a damaged archive.
    fn without_cursor(&self, error: QueryError) -> ArchiveError {
        match error {
            QueryError::Archive(error) => error,
            QueryError::UnknownCursor => ArchiveError::Damaged {
                place: Arc::clone(&self.shared.place),
            },
        }
    }
}

/// Runs a read, and restarts it if a slot was dropped meanwhile.
fn attempt<T>(
    shared: &SharedDirectory,
    connections: &mut SlotConnections,
    cursors: &CursorMemory,
    work: &impl Fn(&mut SqliteView<'_>) -> Result<T, SqliteReadError>,
) -> Result<T, QueryError> {
    for _ in 0..ATTEMPTS {
        let marker = shared.check()?;
        let slots = shared.slots();
        connections.keep(marker, &slots);
        let mut view = SqliteView {
            shared,
            connections,
            cursors,
            slots,
        };
        match work(&mut view) {
            Ok(value) => return Ok(value),
            Err(SqliteReadError::Gone) => {}
            Err(SqliteReadError::UnknownCursor) => return Err(QueryError::UnknownCursor),
            Err(SqliteReadError::Archive(error)) => return Err(error.into()),
        }
    }
    let place = Arc::clone(&shared.place);
    Err(ArchiveError::Vanished { place }.into())
}
