//! Errors of archives, by what an operator has to fix.

use std::sync::Arc;

use thiserror::Error;
use undertone_services::history::HistoryError;

/// Reason why an archive cannot do what was requested; each text names the place and a remedy.
///
/// `place` is a path, or the address of a server without its password.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The archive's writer has ended, because the runtime or the process is about to end.
    #[error("the archive {place} is closed")]
    Closed {
        /// Place of the archive.
        place: Arc<str>,
    },
    /// A file or table of the archive is damaged.
    #[error("the archive {place} is damaged: restore it from a copy, or move it away and restart")]
    Damaged {
        /// Place of the archive.
        place: Arc<str>,
    },
    /// The program's user or database login lacks the permission.
    #[error("no permission for the archive {place}: check the owner and the password")]
    Denied {
        /// Place of the archive.
        place: Arc<str>,
    },
    /// The archive was written by another version of this program.
    #[error(
        "the archive {place} has format {found}, this program reads format {known}: \
         use the program that wrote it, or another place"
    )]
    Format {
        /// Place of the archive.
        place: Arc<str>,
        /// Format of the archive.
        found: i64,
        /// Format that this program reads.
        known: i64,
    },
    /// No space is left.
    #[error(
        "no space left for the archive {place}: free space there or shorten the retention; \
         writing resumes by itself"
    )]
    Full {
        /// Place of the archive.
        place: Arc<str>,
    },
    /// Another process has the archive open.
    #[error("the archive {place} is in use by another process: stop it, or use another place")]
    InUse {
        /// Place of the archive.
        place: Arc<str>,
    },
    /// There is no readable archive at the place.
    #[error("{place} has no archive: check the place")]
    NoArchive {
        /// Place where an archive was expected.
        place: Arc<str>,
    },
    /// The file or database at the place belongs to another program.
    #[error(
        "{place} is of another program, not an archive: give a folder or a database that is new"
    )]
    NotAnArchive {
        /// Place where an archive was expected.
        place: Arc<str>,
    },
    /// Reading or writing a file failed.
    #[error("the archive {place} cannot be read or written: check the disk: {source}")]
    Io {
        /// Place of the archive.
        place: Arc<str>,
        /// Error of the operating system.
        source: Arc<std::io::Error>,
    },
    /// PostgreSQL refused a statement for a reason without a variant of its own.
    #[cfg(feature = "postgres")]
    #[error("PostgreSQL at {place} refused: {}", detail(.source))]
    Postgres {
        /// Place of the archive.
        place: Arc<str>,
        /// Error of the client library.
        source: Arc<tokio_postgres::Error>,
    },
    /// SQLite refused a statement for a reason without a variant of its own.
    #[error("SQLite at {place} refused: {source}")]
    Sqlite {
        /// Place of the archive.
        place: Arc<str>,
        /// Error of the library.
        source: Arc<rusqlite::Error>,
    },
    /// The database took too long, or all connections to it are in use.
    #[error("the archive {place} did not answer in time: it is overloaded or blocked")]
    TooSlow {
        /// Place of the archive.
        place: Arc<str>,
    },
    /// The database server does not answer.
    #[error("no connection to {place}: check that the server runs; writing resumes by itself")]
    Unreachable {
        /// Place of the archive.
        place: Arc<str>,
    },
    /// The program was built without PostgreSQL.
    #[error("no support for {place}: build with the feature `postgres`, or give a path for SQLite")]
    Unsupported {
        /// Place of the archive.
        place: Arc<str>,
    },
    /// Files of the archive disappeared while it was open.
    #[error(
        "the archive {place} is gone: mount or restore it (writing resumes by itself), \
         or restart for a new one"
    )]
    Vanished {
        /// Place of the archive.
        place: Arc<str>,
    },
}

/// Returns the text of a server's error, which the library's own text leaves out; it contains no
/// password.
#[cfg(feature = "postgres")]
fn detail(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(refusal) => format!("{} ({})", refusal.message(), refusal.code().code()),
        None => error.to_string(),
    }
}

/// Reason why a query returns no page.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The archive does not have the cursor's message, or no longer has it.
    #[error("cursor not found")]
    UnknownCursor,
    /// The archive cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

impl From<&QueryError> for HistoryError {
    /// Returns the part of the reason that a remote peer may learn.
    fn from(error: &QueryError) -> Self {
        match error {
            QueryError::UnknownCursor => Self::UnknownCursor,
            QueryError::Archive(_) => Self::Unavailable,
        }
    }
}

impl From<QueryError> for HistoryError {
    fn from(error: QueryError) -> Self {
        Self::from(&error)
    }
}
