//! State of light mode in one SQLite file that belongs to one follower at a time. The file has a
//! few kilobytes and is rewritten as a whole, in one transaction.

use std::fs::File;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior};
use undertone_rln::tree::DEPTH;
use undertone_rln::{Fr, MerklePath, fr_from_le, fr_to_le};

use super::view::{LightState, Orphan, Own, OwnPlace};
use crate::evm::chain::{BlockRef, Contract};
use crate::evm::file::{self, StoreLayout, StoreMode};
use crate::registry::{Member, MemberIndex};
use crate::storage::{StorageError, storage};

/// Layout of the file. Field elements are canonical, little-endian. A root with `until_block` is of an
/// abandoned block. `own` has a row once a commitment was looked up; the row has index, limit and path if the
/// commitment is registered.
const LAYOUT: StoreLayout = StoreLayout {
    kind: StoreMode::Light,
    version: 1,
    tables: "
    CREATE TABLE contract (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        chain_id INTEGER NOT NULL,
        address BLOB NOT NULL CHECK (length(address) = 20),
        number INTEGER,
        hash BLOB CHECK (length(hash) = 32)
    ) STRICT;
    CREATE TABLE roots (
        place INTEGER PRIMARY KEY,
        root BLOB NOT NULL CHECK (length(root) = 32),
        until_block INTEGER
    ) STRICT;
    CREATE TABLE own (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        commitment BLOB NOT NULL CHECK (length(commitment) = 32),
        member INTEGER CHECK (member BETWEEN 0 AND 1048575),
        message_limit INTEGER CHECK (message_limit BETWEEN 0 AND 4294967295),
        path BLOB CHECK (length(path) = 640)
    ) STRICT;
    ",
};

const ELEMENT_BYTES: usize = 32;

/// The follower's file, open and locked.
#[derive(Debug)]
pub(super) struct LightStore {
    path: PathBuf,
    connection: Mutex<Connection>,
    /// Lock file, locked for as long as the store is open.
    _lock: Option<File>,
}

impl LightStore {
    /// Opens or creates the file for `contract`.
    pub(super) fn open(path: &Path, contract: &Contract) -> Result<Self, StorageError> {
        let (connection, lock) = file::open(path, contract, &LAYOUT, |transaction| {
            fill(transaction, contract)
        })?;
        Ok(Self {
            path: path.to_owned(),
            connection: Mutex::new(connection),
            _lock: Some(lock),
        })
    }

    /// Loads the state that was saved last.
    pub(super) fn load(&self) -> Result<LightState, StorageError> {
        let mut connection = self.connection.lock();
        let read = connection.transaction().and_then(|it| load(&it));
        read.map_err(storage(&self.path))
    }

    /// Saves the state in place of the previous one, in one transaction.
    pub(super) fn save(&self, known: &LightState) -> Result<(), StorageError> {
        let mut connection = self.connection.lock();
        let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let saved = begun.and_then(|transaction| {
            save(&transaction, known)?;
            transaction.commit()
        });
        saved.map_err(storage(&self.path))
    }
}

fn fill(transaction: &Transaction<'_>, contract: &Contract) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO contract VALUES (1, ?1, ?2, NULL, NULL)",
        (
            contract.chain_id.cast_signed(),
            contract.address.into_array(),
        ),
    )?;
    Ok(())
}

fn save(transaction: &Transaction<'_>, known: &LightState) -> rusqlite::Result<()> {
    transaction.execute(
        "UPDATE contract SET number = ?1, hash = ?2",
        (
            known.block.map(|block| block.number),
            known.block.map(|block| block.hash.0),
        ),
    )?;
    transaction.execute("DELETE FROM roots", [])?;
    transaction.execute("DELETE FROM own", [])?;
    let mut insert =
        transaction.prepare_cached("INSERT INTO roots (root, until_block) VALUES (?1, ?2)")?;
    for orphan in &known.orphans {
        insert.execute((fr_to_le(&orphan.root), Some(orphan.until_block)))?;
    }
    for root in &known.roots {
        insert.execute((fr_to_le(root), None::<u64>))?;
    }
    let Some(own) = &known.own else {
        return Ok(());
    };
    let place = own.place.as_ref();
    transaction.execute(
        "INSERT INTO own VALUES (1, ?1, ?2, ?3, ?4)",
        (
            fr_to_le(&own.commitment),
            place.map(|place| place.member.index.get()),
            place.map(|place| place.member.limit),
            place.map(|place| place.path.siblings.map(|it| fr_to_le(&it)).concat()),
        ),
    )?;
    Ok(())
}

fn load(transaction: &Transaction<'_>) -> rusqlite::Result<LightState> {
    let sql = "SELECT number, hash FROM contract WHERE number IS NOT NULL";
    let block = transaction.query_row(sql, [], |row| {
        Ok(BlockRef {
            number: row.get(0)?,
            hash: row.get::<_, [u8; 32]>(1)?.into(),
        })
    });
    let mut known = LightState {
        block: block.optional()?,
        ..LightState::default()
    };
    let mut roots = transaction.prepare("SELECT root, until_block FROM roots ORDER BY place")?;
    let mut rows = roots.query([])?;
    while let Some(row) = rows.next()? {
        let root = element(0, &row.get::<_, [u8; ELEMENT_BYTES]>(0)?)?;
        match row.get(1)? {
            Some(until_block) => known.orphans.push(Orphan { root, until_block }),
            None => known.roots.push(root),
        }
    }
    let sql = "SELECT commitment, member, message_limit, path FROM own";
    known.own = transaction.query_row(sql, [], own).optional()?;
    Ok(known)
}

fn own(row: &Row<'_>) -> rusqlite::Result<Own> {
    let commitment = element(0, &row.get::<_, [u8; ELEMENT_BYTES]>(0)?)?;
    let Some(index) = row.get::<_, Option<u32>>(1)? else {
        let place = None;
        return Ok(Own { commitment, place });
    };
    let out_of_range = rusqlite::Error::IntegralValueOutOfRange(1, i64::from(index));
    let member = Member {
        index: MemberIndex::new(index).ok_or(out_of_range)?,
        commitment,
        limit: row.get(2)?,
    };
    let bytes: [u8; DEPTH * ELEMENT_BYTES] = row.get(3)?;
    let (elements, _) = bytes.as_chunks();
    let mut siblings = [Fr::from(0); DEPTH];
    for (sibling, bytes) in siblings.iter_mut().zip(elements) {
        *sibling = element(3, bytes)?;
    }
    let path = MerklePath { index, siblings };
    let place = Some(OwnPlace { member, path });
    Ok(Own { commitment, place })
}

fn element(column: usize, bytes: &[u8; ELEMENT_BYTES]) -> rusqlite::Result<Fr> {
    fr_from_le(bytes).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, Box::new(error))
    })
}

#[cfg(test)]
#[path = "tests/store.rs"]
mod tests;
