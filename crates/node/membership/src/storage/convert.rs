//! Conversion of errors of SQLite.

use std::path::Path;

use rusqlite::ErrorCode;

use super::{StorageDamage, StorageError};

/// Returns a function that converts SQLite errors about the file at `path`.
pub(crate) fn storage(path: &Path) -> impl Fn(rusqlite::Error) -> StorageError {
    move |source| {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => StorageError::NotADatabase { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StorageError::Locked { path }
            }
            Some(ErrorCode::DiskFull) => StorageError::DiskFull { path },
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                StorageError::NotWritable { path }
            }
            Some(ErrorCode::DatabaseCorrupt) => {
                let what = StorageDamage::Structure {
                    report: source.to_string(),
                };
                StorageError::Corrupt { path, what }
            }
            Some(_) => StorageError::Sqlite {
                path,
                source: source.into(),
            },
            // An error without a code comes from converting a value that SQLite returned.
            None => {
                let what = StorageDamage::Row {
                    report: source.to_string(),
                };
                StorageError::Corrupt { path, what }
            }
        }
    }
}
