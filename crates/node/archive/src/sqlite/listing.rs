//! Slots of a directory at the time of opening.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::directory::{SharedDirectory, SqliteSlot, file_id};
use super::error::{of_io, of_sqlite};
use super::schema;
use crate::ArchiveError;
use crate::slot::SlotRange;

/// Reads the slots of a directory that another process may be writing; changes nothing.
pub(super) fn read(shared: &SharedDirectory) -> Result<(), ArchiveError> {
    let (directory, path) = (shared.directory(), shared.marker());
    if !path.exists() {
        return Err(ArchiveError::NoArchive {
            place: Arc::clone(&shared.place),
        });
    }
    let format = schema::read_format(&path).map_err(|error| of_sqlite(&path, error))?;
    if format != schema::FORMAT {
        return Err(ArchiveError::Format {
            place: Arc::clone(&shared.place),
            found: format,
            known: schema::FORMAT,
        });
    }
    let marker = file_id(&path).map_err(|error| of_io(directory, error))?;
    let mut slots = Vec::new();
    for number in shared.slot_numbers()? {
        let path = shared.slot(number);
        match read_slot(number, &path, schema::open_slot_to_read) {
            Ok(slot) => slots.push(slot),
            // Retention has just dropped this slot.
            Err(ArchiveError::Vanished { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    slots.sort_by_key(|slot| slot.range);
    shared.publish(slots);
    shared.set_marker(Some(marker));
    Ok(())
}

/// Reads the state of a slot. A file without its tables is damaged, because a slot gets its name only after its tables.
pub(super) fn read_slot(
    number: u64,
    path: &Path,
    open: impl FnOnce(&Path) -> rusqlite::Result<Connection>,
) -> Result<SqliteSlot, ArchiveError> {
    let read = || -> rusqlite::Result<Option<SqliteSlot>> {
        let connection = open(path)?;
        if !connection.table_exists(None, "slot")? {
            return Ok(None);
        }
        let range = connection.query_row("SELECT first_ns, last_ns FROM slot", [], |row| {
            Ok(SlotRange {
                first_ns: row.get(0)?,
                last_ns: row.get(1)?,
            })
        })?;
        // Rows are numbered from 1 and never deleted.
        let count = "SELECT coalesce(max(id), 0) FROM message";
        let messages: i64 = connection.query_row(count, [], |row| row.get(0))?;
        let ends = "SELECT min((SELECT min(timestamp) FROM message WHERE pubsub = pubsub.id)),
            max((SELECT max(timestamp) FROM message WHERE pubsub = pubsub.id)) FROM pubsub";
        let (oldest_ns, newest_ns) =
            connection.query_row(ends, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Some(SqliteSlot {
            number,
            range,
            messages: messages.unsigned_abs(),
            oldest_ns,
            newest_ns,
        }))
    };
    let slot = read().map_err(|error| of_sqlite(path, error))?;
    slot.ok_or_else(|| ArchiveError::Damaged {
        place: path.display().to_string().into(),
    })
}
