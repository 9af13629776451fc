//! Opening the SQLite file of a follower: checks the contract and excludes other processes.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use alloy::primitives::Address;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::chain::Contract;
use crate::storage::{StorageDamage, StorageError, storage};

/// SQLite application id "UTME" of a file of full mode.
const FULL_ID: i32 = 0x5554_4d45;

/// SQLite application id "UTML" of a file of light mode.
const LIGHT_ID: i32 = 0x5554_4d4c;

/// The mode to which a file belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreMode {
    Full,
    Light,
}

impl StoreMode {
    fn id(self) -> i32 {
        match self {
            Self::Full => FULL_ID,
            Self::Light => LIGHT_ID,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Light => "light",
        }
    }
}

/// Layout of a follower's file. One of its tables is `contract`, with one row that has the columns
/// `chain_id` and `address`.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoreLayout {
    pub(super) kind: StoreMode,
    /// Layout version, incremented when the tables change.
    pub(super) version: i32,
    pub(super) tables: &'static str,
}

/// Opens or creates the file of `contract`; `fill` inserts the first rows into a new one.
pub(super) fn open(
    path: &Path,
    contract: &Contract,
    layout: &StoreLayout,
    fill: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
) -> Result<(Connection, File), StorageError> {
    let lock = lock(path)?;
    let sql_error = storage(path);
    let mut connection = Connection::open(path).map_err(&sql_error)?;
    let number = |connection: &Connection, sql| {
        connection
            .query_one(sql, [], |row| row.get::<_, i32>(0))
            .map_err(&sql_error)
    };
    let id = number(&connection, "PRAGMA application_id")?;
    let found = number(&connection, "PRAGMA user_version")?;
    let tables = number(&connection, "SELECT COUNT(*) FROM sqlite_schema")?;
    let path = path.to_owned();
    let is_new = match (id, tables) {
        (0, 0) => true,
        (id, _) if id == layout.kind.id() && found == layout.version => false,
        (id, _) if id == layout.kind.id() => {
            return Err(StorageError::WrongSchema {
                path,
                found,
                supported: layout.version,
            });
        }
        (FULL_ID | LIGHT_ID, _) => {
            let wanted = layout.kind.name();
            return Err(StorageError::OtherMode { path, wanted });
        }
        _ => return Err(StorageError::NotARegistry { path }),
    };
    let _: String = connection
        .query_one("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(&sql_error)?;
    // A power failure may lose the last transactions, never part of one. They are read from
    // the chain again.
    connection
        .pragma_update(None, "synchronous", "NORMAL")
        .map_err(&sql_error)?;
    if is_new {
        create(&mut connection, layout, fill).map_err(&sql_error)?;
    }
    check(&path, &connection, contract)?;
    Ok((connection, lock))
}

/// Creates the tables and inserts the first rows.
pub(super) fn create(
    connection: &mut Connection,
    layout: &StoreLayout,
    fill: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(layout.tables)?;
    fill(&transaction)?;
    transaction.pragma_update(None, "application_id", layout.kind.id())?;
    transaction.pragma_update(None, "user_version", layout.version)?;
    transaction.commit()
}

fn check(path: &Path, connection: &Connection, wanted: &Contract) -> Result<(), StorageError> {
    let sql_error = storage(path);
    let verdict: String = connection
        .query_one("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(&sql_error)?;
    if verdict != "ok" {
        return Err(StorageError::Corrupt {
            path: path.to_owned(),
            what: StorageDamage::Structure { report: verdict },
        });
    }
    let found = connection
        .query_one("SELECT chain_id, address FROM contract", [], |row| {
            Ok(Contract {
                chain_id: row.get::<_, i64>(0)?.cast_unsigned(),
                address: Address::from(row.get::<_, [u8; 20]>(1)?),
            })
        })
        .map_err(&sql_error)?;
    if found != *wanted {
        return Err(StorageError::OtherContract {
            path: path.to_owned(),
            found: found.address.to_string(),
            found_chain: found.chain_id,
        });
    }
    Ok(())
}

/// Locks the file for one follower: two would undo each other's pages.
fn lock(path: &Path) -> Result<File, StorageError> {
    let mut name = OsString::from(path);
    name.push(".lock");
    let io_error = |source| StorageError::Io {
        path: name.clone().into(),
        source,
    };
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let file = options.open(&name).map_err(io_error)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StorageError::Locked {
            path: path.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(io_error(source)),
    }
}
