//! Archives in SQLite: a directory with one file per time slot.
//!
//! Dropping a slot removes its file, which takes no time and frees its disk space at once. A thread writes; queries run
//! on the runtime's blocking threads, each with its own connections.

mod directory;
mod error;
mod headers;
mod listing;
mod query;
mod reader;
mod schema;
mod view;
mod writer;

use std::path::Path;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::health::HealthLog;
use crate::write::WriterCommand;
use crate::{ArchiveError, ArchiveOptions};

pub(crate) use reader::SqliteReader;

/// Opens the archive in a directory: starts its writer, and returns its reader.
pub(crate) async fn open(
    directory: &Path,
    options: ArchiveOptions,
    work: mpsc::Receiver<WriterCommand>,
    health: Arc<HealthLog>,
) -> Result<Arc<SqliteReader>, ArchiveError> {
    let shared = Arc::new(directory::SharedDirectory::new(directory));
    let reader = SqliteReader::new(Arc::clone(&shared), options.readers);
    let (opened, outcome) = oneshot::channel();
    let place = Arc::clone(&shared.place);
    let started = std::thread::Builder::new()
        .name("archive-writer".into())
        .spawn(move || writer::run(shared, &options, work, &health, opened));
    started.map_err(|source| ArchiveError::Io {
        place: Arc::clone(&place),
        source: Arc::new(source),
    })?;
    outcome
        .await
        .map_err(|_| ArchiveError::Closed { place })??;
    Ok(Arc::new(reader))
}

/// Opens the archive in a directory for reading only.
pub(crate) async fn open_to_read(
    directory: &Path,
    readers: usize,
) -> Result<Arc<SqliteReader>, ArchiveError> {
    let shared = Arc::new(directory::SharedDirectory::new(directory));
    let place = Arc::clone(&shared.place);
    let reading = tokio::task::spawn_blocking(move || listing::read(&shared).map(|()| shared));
    let shared = reading
        .await
        .map_err(|_| ArchiveError::Closed { place })??;
    Ok(Arc::new(SqliteReader::new(shared, readers)))
}
