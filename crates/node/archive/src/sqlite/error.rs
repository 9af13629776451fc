//! Errors of SQLite and of files, translated to what an operator has to fix.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::ArchiveError;

/// Extended SQLite error code for a shared-memory file that could not be enlarged.
const IOERR_SHMSIZE: i32 = 4874;

/// Translates an error of SQLite at a path.
pub(super) fn of_sqlite(path: &Path, error: rusqlite::Error) -> ArchiveError {
    let place: Arc<str> = path.display().to_string().into();
    let Some(code) = error.sqlite_error() else {
        return ArchiveError::Sqlite {
            place,
            source: Arc::new(error),
        };
    };
    match code.code {
        ErrorCode::DiskFull => ArchiveError::Full { place },
        _ if code.extended_code == IOERR_SHMSIZE => ArchiveError::Full { place },
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => ArchiveError::InUse { place },
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => ArchiveError::Damaged { place },
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => ArchiveError::Denied { place },
        ErrorCode::CannotOpen if !path.exists() => ArchiveError::Vanished { place },
        ErrorCode::SystemIoFailure if !path.exists() => ArchiveError::Vanished { place },
        _ => ArchiveError::Sqlite {
            place,
            source: Arc::new(error),
        },
    }
}

/// Translates an error of the operating system at a path.
pub(super) fn of_io(path: &Path, error: io::Error) -> ArchiveError {
    let place: Arc<str> = path.display().to_string().into();
    match error.kind() {
        io::ErrorKind::NotFound => ArchiveError::Vanished { place },
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ArchiveError::Denied { place }
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ArchiveError::Full { place },
        _ => ArchiveError::Io {
            place,
            source: Arc::new(error),
        },
    }
}
