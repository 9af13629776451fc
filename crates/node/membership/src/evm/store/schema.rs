//! Layout of the follower's file in full mode, and opening the file.

use std::fs::File;
use std::path::Path;

use rusqlite::{Connection, Transaction};

use crate::evm::chain::Contract;
use crate::evm::file::{self, StoreLayout, StoreMode};
use crate::storage::StorageError;

const LAYOUT: StoreLayout = StoreLayout {
    kind: StoreMode::Full,
    version: 1,
    tables: TABLES,
};

/// Tables of the file. `changes` is the log of changes of leaves, from which the members are
/// derived. Field elements are canonical, little-endian. A change with a limit is a registration.
/// `marks` holds the checkpoints, and `doubts` the unverified leaves.
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
    file::open(path, contract, &LAYOUT, |transaction| {
        fill(transaction, contract, before_first)
    })
}

#[cfg(test)]
pub(super) fn in_memory(
    contract: &Contract,
    before_first: u64,
) -> Result<Connection, StorageError> {
    let sql_error = crate::storage::storage(Path::new(":memory:"));
    let mut connection = Connection::open_in_memory().map_err(&sql_error)?;
    let filled = file::create(&mut connection, &LAYOUT, |transaction| {
        fill(transaction, contract, before_first)
    });
    filled.map_err(&sql_error)?;
    Ok(connection)
}

fn fill(
    transaction: &Transaction<'_>,
    contract: &Contract,
    before_first: u64,
) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO contract VALUES (1, ?1, ?2, ?3, ?3, NULL, 0)",
        (
            contract.chain_id.cast_signed(),
            contract.address.into_array(),
            before_first,
        ),
    )?;
    Ok(())
}
