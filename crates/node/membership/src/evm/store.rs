//! State of the follower in one SQLite file that belongs to one follower at a time.
//!
//! Each page of events is one transaction, together with the last block that it covers. A follower that is
//! killed therefore continues from the last complete page, with the tree as of that page.

use std::fs::File;
use std::path::{Path, PathBuf};

use alloy::primitives::B256;
use parking_lot::Mutex;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use undertone_rln::{Fr, fr_to_le};

use super::chain::{BlockRef, Contract};
use crate::registry::{DatedChange, Member, MemberIndex, Version};
use crate::storage::{StorageError, storage};
use crate::view::LeafChange;

mod read;
mod schema;

/// Number of blocks remembered with their hashes, to find the start of a reorganisation.
pub(super) const MAX_CHECKPOINTS: usize = 256;

/// A change of a leaf, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredChange {
    /// Height of the block that contains the change.
    pub(super) block: u64,
    /// The leaf's index, and its value before and after.
    pub(super) step: LeafChange,
    /// Commitment and limit, if the change is a registration.
    pub(super) member: Option<(Fr, u32)>,
}

/// A block with known hash up to which the state is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checkpoint {
    /// Height and hash of the block.
    pub(super) block: BlockRef,
    /// Version of the registry after the block.
    pub(super) version: Version,
}

/// Position up to which the contract is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockCursor {
    /// Height of the last block whose events are stored.
    pub(super) number: u64,
    /// Hash of that block; `None` until the root as of the block was compared.
    pub(super) hash: Option<B256>,
    /// The newest version whose root was compared with the contract's.
    pub(super) accepted: Version,
}

/// Content of one transaction of the store.
#[derive(Clone, Debug)]
pub(super) struct StorePage<'a> {
    /// Changes of leaves, in order.
    pub(super) entries: &'a [StoredChange],
    /// Position after this page.
    pub(super) cursor: BlockCursor,
    /// Blocks whose hashes are known from this page.
    pub(super) checkpoints: &'a [Checkpoint],
    /// Indices whose leaf may or may not be empty.
    pub(super) unverified: &'a [MemberIndex],
    /// Whether all unverified leaves in the store have now been verified.
    pub(super) settled: bool,
}

/// The follower's file, open and locked.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    /// A panic elsewhere leaves no partial change: its transaction is rolled back.
    connection: Mutex<Connection>,
    /// Lock file, locked for as long as the store is open.
    _lock: Option<File>,
}

impl Store {
    /// Opens or creates the file for `contract`, whose first events are after block `before_first`.
    pub(super) fn open(
        path: &Path,
        contract: &Contract,
        before_first: u64,
    ) -> Result<Self, StorageError> {
        let (connection, lock) = schema::open(path, contract, before_first)?;
        Ok(Self {
            path: path.to_owned(),
            connection: Mutex::new(connection),
            _lock: Some(lock),
        })
    }

    /// Creates a store in memory, for tests.
    #[cfg(test)]
    pub(super) fn in_memory(contract: &Contract, before_first: u64) -> Result<Self, StorageError> {
        Ok(Self {
            path: PathBuf::from(":memory:"),
            connection: Mutex::new(schema::in_memory(contract, before_first)?),
            _lock: None,
        })
    }

    /// Returns the position up to which the contract is known.
    pub(super) fn cursor(&self) -> Result<BlockCursor, StorageError> {
        read::cursor(&self.connection.lock()).map_err(storage(&self.path))
    }

    /// Returns the newest version.
    pub(super) fn version(&self) -> Result<Version, StorageError> {
        read::version(&self.connection.lock()).map_err(storage(&self.path))
    }

    /// Returns the block after which the contract's events begin.
    pub(super) fn before_first(&self) -> Result<u64, StorageError> {
        read::before_first(&self.connection.lock()).map_err(storage(&self.path))
    }

    /// Returns the blocks whose hashes are known, the oldest first.
    pub(super) fn checkpoints(&self) -> Result<Vec<Checkpoint>, StorageError> {
        read::checkpoints(&self.connection.lock()).map_err(storage(&self.path))
    }

    /// Returns the indices whose leaf may or may not be empty.
    pub(super) fn unverified(&self) -> Result<Vec<MemberIndex>, StorageError> {
        read::unverified(&self.connection.lock()).map_err(storage(&self.path))
    }

    /// Returns the newest value of every leaf that was ever written; 0 when it was emptied.
    pub(super) fn leaves(&self) -> Result<Vec<(MemberIndex, Fr)>, StorageError> {
        read::leaves(&self.connection.lock()).map_err(storage(&self.path))
    }

    /// Returns the last `most` changes up to `version`, the oldest first.
    pub(super) fn tail(
        &self,
        version: Version,
        most: usize,
    ) -> Result<Vec<LeafChange>, StorageError> {
        let mut steps = read::steps_back(&self.connection.lock(), version, Version(0), most)
            .map_err(storage(&self.path))?;
        steps.reverse();
        Ok(steps)
    }

    /// Returns the changes after `to`, the newest first.
    pub(super) fn steps_after(&self, to: Version) -> Result<Vec<LeafChange>, StorageError> {
        read::steps_back(
            &self.connection.lock(),
            Version(i64::MAX as u64),
            to,
            usize::MAX,
        )
        .map_err(storage(&self.path))
    }

    /// Returns the first `most` changes after `known`, in order, with their blocks.
    pub(super) fn changes(
        &self,
        known: Version,
        most: usize,
    ) -> Result<Vec<DatedChange>, StorageError> {
        read::changes(&self.connection.lock(), known, most).map_err(storage(&self.path))
    }

    /// Returns the membership of this commitment whose leaf is in the tree.
    pub(super) fn find(&self, commitment: Fr) -> Result<Option<Member>, StorageError> {
        read::find(&self.connection.lock(), commitment).map_err(storage(&self.path))
    }

    /// Returns the members whose leaf is in the tree, by index.
    pub(super) fn members(&self) -> Result<Vec<Member>, StorageError> {
        read::members(&self.connection.lock()).map_err(storage(&self.path))
    }

    /// Returns the roots of abandoned blocks that are still accepted, the oldest first.
    pub(super) fn orphans(&self) -> Result<Vec<Fr>, StorageError> {
        read::orphans(&self.connection.lock()).map_err(storage(&self.path))
    }

    /// Stores a page in one transaction; returns the new version.
    pub(super) fn commit(&self, page: &StorePage<'_>) -> Result<Version, StorageError> {
        self.write(|transaction| {
            let mut version = read::version(transaction)?;
            let mut insert = transaction.prepare_cached(
                "INSERT INTO changes (version, block, member, before, after, commitment,
                     message_limit) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            for entry in page.entries {
                version.0 += 1;
                insert.execute((
                    version.0,
                    entry.block,
                    entry.step.index.get(),
                    fr_to_le(&entry.step.before),
                    fr_to_le(&entry.step.after),
                    entry.member.map(|(commitment, _)| fr_to_le(&commitment)),
                    entry.member.map(|(_, limit)| limit),
                ))?;
            }
            drop(insert);
            if page.settled {
                transaction.execute("DELETE FROM doubts", [])?;
            }
            for index in page.unverified {
                transaction.execute("INSERT OR IGNORE INTO doubts VALUES (?1)", [index.get()])?;
            }
            for checkpoint in page.checkpoints {
                transaction.execute(
                    "INSERT OR REPLACE INTO marks (number, hash, version) VALUES (?1, ?2, ?3)",
                    (
                        checkpoint.block.number,
                        checkpoint.block.hash.0,
                        checkpoint.version.0,
                    ),
                )?;
            }
            transaction.execute(
                "DELETE FROM marks WHERE number <=
                     (SELECT number FROM marks ORDER BY number DESC LIMIT 1 OFFSET ?1)",
                [MAX_CHECKPOINTS],
            )?;
            transaction.execute(
                "DELETE FROM orphans WHERE until_block < ?1",
                [page.cursor.number],
            )?;
            set_cursor(transaction, &page.cursor)?;
            Ok(version)
        })
    }

    /// Deletes all state after block `to`; the roots `orphans` stay accepted up
    /// to block `until_block`.
    pub(super) fn rewind(
        &self,
        to: &Checkpoint,
        orphans: &[Fr],
        until_block: u64,
    ) -> Result<(), StorageError> {
        self.write(|transaction| {
            let accepted = read::cursor(transaction)?.accepted.min(to.version);
            transaction.execute("DELETE FROM changes WHERE version > ?1", [to.version.0])?;
            transaction.execute("DELETE FROM marks WHERE number > ?1", [to.block.number])?;
            for root in orphans {
                transaction.execute(
                    "INSERT INTO orphans (root, until_block) VALUES (?1, ?2)",
                    (fr_to_le(root), until_block),
                )?;
            }
            let cursor = BlockCursor {
                number: to.block.number,
                hash: None,
                accepted,
            };
            set_cursor(transaction, &cursor)
        })
    }

    /// Makes an empty store begin after `block`.
    pub(super) fn begin_after(&self, block: u64) -> Result<(), StorageError> {
        self.write(|transaction| {
            let sql = "UPDATE contract SET before_first = ?1, number = ?1, hash = NULL";
            transaction.execute(sql, [block]).map(drop)
        })
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StorageError> {
        let sql_error = storage(&self.path);
        let mut connection = self.connection.lock();
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(&sql_error)?;
        let result = work(&transaction).map_err(&sql_error)?;
        transaction.commit().map_err(&sql_error)?;
        Ok(result)
    }
}

fn set_cursor(transaction: &Transaction<'_>, cursor: &BlockCursor) -> rusqlite::Result<()> {
    transaction.execute(
        "UPDATE contract SET number = ?1, hash = ?2, accepted = ?3",
        (
            cursor.number,
            cursor.hash.map(|hash| hash.0),
            cursor.accepted.0,
        ),
    )?;
    Ok(())
}

#[cfg(test)]
#[path = "tests/store.rs"]
mod tests;
