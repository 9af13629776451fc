//! View of an archive for one query: its slots and the connections to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::Connection;

use super::directory::{FileId, SharedDirectory, SqliteSlot};
use super::error::of_sqlite;
use super::schema;
use crate::cursors::CursorMemory;
use crate::{ArchiveError, ArchiveStats};

/// Maximum number of slots that a reader keeps open.
const OPEN_MAX: usize = 64;

/// Connections of one reader.
#[derive(Default)]
pub(super) struct SlotConnections {
    /// Marker of the directory that the connections belong to.
    marker: Option<FileId>,
    /// Slots as of the last clean-up of connections: dropped slots have none left.
    seen: Arc<Vec<SqliteSlot>>,
    open: BTreeMap<u64, (u64, Connection)>,
    uses: u64,
}

/// Reason why a read ended.
pub(super) enum SqliteReadError {
    /// A slot of the view was dropped.
    Gone,
    /// No slot contains the cursor's message.
    UnknownCursor,
    Archive(ArchiveError),
}

/// The archive as seen by one query.
pub(super) struct SqliteView<'a> {
    pub(super) shared: &'a SharedDirectory,
    pub(super) connections: &'a mut SlotConnections,
    pub(super) cursors: &'a CursorMemory,
    /// Slots ordered by time.
    pub(super) slots: Arc<Vec<SqliteSlot>>,
}

impl SlotConnections {
    /// Closes the connections to dropped slots, or all of them if the directory was replaced: a restored copy has the
    /// same names.
    pub(super) fn keep(&mut self, marker: FileId, slots: &Arc<Vec<SqliteSlot>>) {
        if self.marker != Some(marker) {
            self.open.clear();
            self.marker = Some(marker);
        }
        if !Arc::ptr_eq(&self.seen, slots) {
            self.open
                .retain(|number, _| slots.iter().any(|slot| slot.number == *number));
            self.seen = Arc::clone(slots);
        }
    }
}

impl SqliteView<'_> {
    /// Reads from a slot; all statements see the same state of it.
    pub(super) fn slot<T>(
        &mut self,
        number: u64,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, SqliteReadError> {
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
                return Err(SqliteReadError::Gone);
            }
            let opened = schema::open_slot_to_read(&path);
            let opened =
                opened.map_err(|error| SqliteReadError::Archive(of_sqlite(&path, error)))?;
            connections.open.insert(number, (0, opened));
        }
        let Some((used, connection)) = connections.open.get_mut(&number) else {
            return Err(SqliteReadError::Gone);
        };
        *used = connections.uses;
        let run = || {
            let transaction = connection.transaction()?;
            work(&transaction)
        };
        run().map_err(|error| SqliteReadError::Archive(of_sqlite(&path, error)))
    }

    /// Returns the size of the archive.
    pub(super) fn stats(&self) -> ArchiveStats {
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
