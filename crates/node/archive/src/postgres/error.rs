//! Errors of PostgreSQL, translated to what an operator has to fix.

use std::sync::Arc;

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use crate::ArchiveError;

/// Reason why a read ended.
pub(super) enum PostgresReadError {
    /// This program does not write such a row.
    Damaged,
    /// No partition contains the cursor's message.
    UnknownCursor,
    Statement(tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for PostgresReadError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Statement(error)
    }
}

/// Translates an error of a statement.
pub(super) fn of_statement(place: &Arc<str>, error: tokio_postgres::Error) -> ArchiveError {
    let place = Arc::clone(place);
    let Some(state) = error.code() else {
        if error.is_closed() || std::error::Error::source(&error).is_some_and(is_io) {
            return ArchiveError::Unreachable { place };
        }
        return ArchiveError::Postgres {
            place,
            source: Arc::new(error),
        };
    };
    // The first two digits are the class of an error (PostgreSQL, appendix A).
    let code = state.code();
    match code.get(..2).unwrap_or_default() {
        _ if *state == SqlState::DISK_FULL => ArchiveError::Full { place },
        _ if *state == SqlState::INSUFFICIENT_PRIVILEGE => ArchiveError::Denied { place },
        _ if *state == SqlState::LOCK_NOT_AVAILABLE => ArchiveError::TooSlow { place },
        _ if *state == SqlState::QUERY_CANCELED => ArchiveError::TooSlow { place },
        _ if *state == SqlState::DATA_CORRUPTED || *state == SqlState::INDEX_CORRUPTED => {
            ArchiveError::Damaged { place }
        }
        _ if *state == SqlState::UNDEFINED_TABLE => ArchiveError::Vanished { place },
        // Connection lost; server about to stop or to start; database dropped.
        "08" | "57" => ArchiveError::Unreachable { place },
        "28" => ArchiveError::Denied { place },
        "3D" => ArchiveError::Vanished { place },
        _ => ArchiveError::Postgres {
            place,
            source: Arc::new(error),
        },
    }
}

/// Translates an error of the pool.
pub(super) fn of_pool(place: &Arc<str>, error: PoolError) -> ArchiveError {
    let place_of = || Arc::clone(place);
    match error {
        PoolError::Backend(error) if error.code().is_some() => of_statement(place, error),
        PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => {
            ArchiveError::TooSlow { place: place_of() }
        }
        PoolError::Closed => ArchiveError::Closed { place: place_of() },
        _ => ArchiveError::Unreachable { place: place_of() },
    }
}

/// Whether a statement failed because a partition was dropped or is missing, so that a retry helps.
pub(super) fn is_missing_partition(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::CHECK_VIOLATION)
}

fn is_io(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<std::io::Error>()
}
