//! Readers of an archive.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Semaphore;
use undertone_message::MessageHash;
use undertone_services::history::{HistoryPage, HistoryQuery};

use super::directory::{Shared, Slot};
use super::error::of_sqlite;
use super::{query, schema};
use crate::{ArchiveError, ArchiveSizes, ArchiveStats, QueryError};

/// Slots that a reader keeps open.
const OPEN_MAX: usize = 64;

/// Times that a query begins again because a slot was dropped while it ran.
const ATTEMPTS: usize = 4;

/// Queries of an archive, a bounded number of them at a time.
pub(crate) struct SqliteReader {
    shared: Arc<Shared>,
    places: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connections>>>,
}

/// Connections of one reader.
#[derive(Default)]
pub(super) struct Connections {
    open: BTreeMap<u64, (u64, Connection)>,
    uses: u64,
}

/// Reason why reading ended.
pub(super) enum ReadError {
    /// A slot of the view was dropped.
    Gone,
    /// The cursor's message is in no slot.
    UnknownCursor,
    Archive(ArchiveError),
}

/// Archive as one query sees it.
pub(super) struct View<'a> {
    shared: &'a Shared,
    connections: &'a mut Connections,
    /// Slots ordered by time.
    pub(super) slots: Arc<Vec<Slot>>,
}

impl SqliteReader {
    pub(super) fn new(shared: Arc<Shared>, readers: usize) -> Self {
        Self {
            shared,
            places: Arc::new(Semaphore::new(readers.max(1))),
            idle: Arc::default(),
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
        work: impl Fn(&mut View<'_>) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, QueryError> {
        let closed = || ArchiveError::Closed {
            place: Arc::clone(&self.shared.place),
        };
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|_| closed())?;
        let shared = Arc::clone(&self.shared);
        let idle = Arc::clone(&self.idle);
        let task = tokio::task::spawn_blocking(move || {
            let mut connections = idle.lock().pop().unwrap_or_default();
            let outcome = attempt(&shared, &mut connections, &work);
            if outcome.is_ok() {
                idle.lock().push(connections);
            }
            drop(place);
            outcome
        });
        task.await.map_err(|_| closed())?
    }

    /// Reads that have no cursor cannot miss one; a bug there would look like a damaged archive.
    fn without_cursor(&self, error: QueryError) -> ArchiveError {
        match error {
            QueryError::Archive(error) => error,
            QueryError::UnknownCursor => ArchiveError::Damaged {
                place: Arc::clone(&self.shared.place),
            },
        }
    }
}

/// Reads, and begins again when a slot was dropped meanwhile.
fn attempt<T>(
    shared: &Shared,
    connections: &mut Connections,
    work: &impl Fn(&mut View<'_>) -> Result<T, ReadError>,
) -> Result<T, QueryError> {
    for _ in 0..ATTEMPTS {
        shared.check()?;
        let slots = shared.slots();
        connections.keep(&slots);
        let mut view = View {
            shared,
            connections,
            slots,
        };
        match work(&mut view) {
            Ok(value) => return Ok(value),
            Err(ReadError::Gone) => {}
            Err(ReadError::UnknownCursor) => return Err(QueryError::UnknownCursor),
            Err(ReadError::Archive(error)) => return Err(error.into()),
        }
    }
    let place = Arc::clone(&shared.place);
    Err(ArchiveError::Vanished { place }.into())
}

impl Connections {
    /// Closes the connections to slots that were dropped.
    fn keep(&mut self, slots: &[Slot]) {
        self.open
            .retain(|number, _| slots.iter().any(|slot| slot.number == *number));
    }
}

impl View<'_> {
    /// Reads from a slot, with all statements seeing the same state of it.
    pub(super) fn slot<T>(
        &mut self,
        number: u64,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, ReadError> {
        let path = self.shared.slot(number);
        let connections = &mut *self.connections;
        connections.uses += 1;
        if !connections.open.contains_key(&number) {
            if connections.open.len() >= OPEN_MAX {
                let oldest = connections.open.iter().min_by_key(|(_, (used, _))| *used);
                if let Some(oldest) = oldest.map(|(number, _)| *number) {
                    connections.open.remove(&oldest);
                }
            }
            if !path.exists() {
                return Err(ReadError::Gone);
            }
            let opened = schema::open_slot_to_read(&path);
            let opened = opened.map_err(|error| ReadError::Archive(of_sqlite(&path, error)))?;
            connections.open.insert(number, (0, opened));
        }
        let Some((used, connection)) = connections.open.get_mut(&number) else {
            return Err(ReadError::Gone);
        };
        *used = connections.uses;
        let run = || {
            let transaction = connection.transaction()?;
            work(&transaction)
        };
        run().map_err(|error| ReadError::Archive(of_sqlite(&path, error)))
    }

    /// Size of the archive.
    fn stats(&self) -> ArchiveStats {
        let slots = &self.slots;
        ArchiveStats {
            messages: slots.iter().map(|slot| slot.messages).sum(),
            bytes: slots
                .iter()
                .map(|slot| self.shared.bytes(slot.number))
                .sum(),
            slots: slots.len() as u64,
            oldest_ns: slots.iter().filter_map(|slot| slot.oldest_ns).min(),
            newest_ns: slots.iter().filter_map(|slot| slot.newest_ns).max(),
        }
    }
}
