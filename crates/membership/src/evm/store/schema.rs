//! The file's layout, and opening it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use alloy::primitives::Address;
use rusqlite::{Connection, TransactionBehavior};

use crate::evm::chain::Contract;
use crate::sqlite::{Damage, StorageError, storage};

/// "UTME", in the header of the file.
const APPLICATION_ID: i32 = 0x5554_4d45;

/// Layout of the tables.
const SCHEMA_VERSION: i32 = 1;

/// `changes` is what happened to the leaves; everything about members follows from it. Field
/// elements are canonical, little-endian. A change with a limit is a registration.
const TABLES: &str = "
    CREATE TABLE contract (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        chain_id INTEGER NOT NULL,
        address BLOB NOT NULL CHECK (length(address) = 20),
        before_first INTEGER NOT NULL,
        number INTEGER NOT NULL,
        hash BLOB CHECK (length(hash) = 32),
        accepted INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE changes (
        version INTEGER PRIMARY KEY CHECK (version > 0),
        block INTEGER NOT NULL,
        member INTEGER NOT NULL CHECK (member BETWEEN 0 AND 1048575),
        before BLOB NOT NULL CHECK (length(before) = 32),
        after BLOB NOT NULL CHECK (length(after) = 32),
        commitment BLOB CHECK (length(commitment) = 32),
        message_limit INTEGER CHECK (message_limit BETWEEN 0 AND 4294967295)
    ) STRICT;
    CREATE INDEX changes_by_member ON changes (member);
    CREATE INDEX changes_by_commitment ON changes (commitment);
    CREATE TABLE marks (
        number INTEGER PRIMARY KEY,
        hash BLOB NOT NULL CHECK (length(hash) = 32),
        version INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE doubts (member INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE orphans (
        place INTEGER PRIMARY KEY,
        root BLOB NOT NULL CHECK (length(root) = 32),
        until_block INTEGER NOT NULL
    ) STRICT;
";

pub(super) fn open(
    path: &Path,
    contract: &Contract,
    before_first: u64,
) -> Result<(Connection, File), StorageError> {
    let lock = lock(path)?;
    let sql_error = storage(path);
    let mut connection = Connection::open(path).map_err(&sql_error)?;
    let number = |connection: &Connection, sql| {
        connection
            .query_one(sql, [], |row| row.get::<_, i32>(0))
            .map_err(&sql_error)
    };
    let application_id = number(&connection, "PRAGMA application_id")?;
    let found = number(&connection, "PRAGMA user_version")?;
    let tables = number(&connection, "SELECT COUNT(*) FROM sqlite_schema")?;
    let path = || path.to_owned();
    let is_new = match (application_id, tables) {
        (0, 0) => true,
        (APPLICATION_ID, _) if found == SCHEMA_VERSION => false,
        (APPLICATION_ID, _) => {
            return Err(StorageError::WrongSchema {
                path: path(),
                found,
            });
        }
        _ => return Err(StorageError::NotARegistry { path: path() }),
    };
    let _: String = connection
        .query_one("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(&sql_error)?;
    // A power cut may lose the last pages, never half of one. The chain has them still.
    connection
        .pragma_update(None, "synchronous", "NORMAL")
        .map_err(&sql_error)?;
    if is_new {
        create(&mut connection, contract, before_first).map_err(&sql_error)?;
    }
    check(path().as_path(), &connection, contract)?;
    Ok((connection, lock))
}

#[cfg(test)]
pub(super) fn in_memory(
    contract: &Contract,
    before_first: u64,
) -> Result<Connection, StorageError> {
    let sql_error = storage(Path::new(":memory:"));
    let mut connection = Connection::open_in_memory().map_err(&sql_error)?;
    create(&mut connection, contract, before_first).map_err(&sql_error)?;
    Ok(connection)
}

fn create(
    connection: &mut Connection,
    contract: &Contract,
    before_first: u64,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLES)?;
    transaction.execute(
        "INSERT INTO contract VALUES (1, ?1, ?2, ?3, ?3, NULL, 0)",
        (
            contract.chain_id.cast_signed(),
            contract.address.into_array(),
            before_first,
        ),
    )?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
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
            what: Damage::Structure { report: verdict },
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

/// Two followers of one file would take back each other's pages.
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
