//! A registry in one SQLite file, shared by the processes of one machine.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior};
use undertone_rln::{Fr, MerkleTree, fr_from_le, fr_to_le};

use crate::registry::{
    Change, ChangeKind, DatedChange, DatedLog, MAX_LIMIT, Member, MemberIndex, MemberLookup,
    MembershipLog, RegistryError, RegistryId, Version, tree_of,
};
use crate::storage::{StorageDamage, StorageError, storage};

mod schema;

/// A registry in an SQLite file. All processes that opened the same file see each other's changes.
///
/// Indices are assigned in order and never reused, so a removed member's leaf stays empty.
#[derive(Debug)]
pub struct SqliteRegistry {
    path: PathBuf,
    max_limit: u32,
    id: RegistryId,
    /// A panic elsewhere leaves no partial change: its transaction is rolled back.
    connection: Mutex<Connection>,
}

impl SqliteRegistry {
    /// Opens the registry in `path`, or creates one that grants limits up to [`MAX_LIMIT`].
    ///
    /// # Errors
    /// [`StorageError`], which names the file and the remedy.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StorageError> {
        Self::open_or_create(path, MAX_LIMIT)
    }

    /// Opens the registry in `path`, or creates one that grants limits up to `max_limit` messages
    /// per epoch (at most [`MAX_LIMIT`]). An existing registry keeps the bound that it
    /// was created with.
    ///
    /// # Errors
    /// [`StorageError`], which names the file and the remedy.
    pub fn open_or_create(path: impl Into<PathBuf>, max_limit: u32) -> Result<Self, StorageError> {
        let path = path.into();
        let (connection, settings) = schema::open(&path, max_limit.clamp(1, MAX_LIMIT))?;
        Ok(Self {
            path,
            max_limit: settings.max_limit,
            id: settings.id,
            connection: Mutex::new(connection),
        })
    }

    /// Returns the largest limit that this registry grants, in messages per epoch.
    pub fn max_limit(&self) -> u32 {
        self.max_limit
    }

    /// Returns the path of the registry's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` in a transaction that excludes other writers.
    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        let mut connection = self.connection.lock();
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(storage(&self.path))?;
        let result = work(&transaction)?;
        transaction.commit().map_err(storage(&self.path))?;
        Ok(result)
    }

    /// Registers a commitment with a limit in messages per epoch.
    ///
    /// # Errors
    /// [`RegistryError::ZeroCommitment`], [`RegistryError::LimitOutOfRange`],
    /// [`RegistryError::AlreadyRegistered`] or [`RegistryError::Full`] when the member is refused;
    /// [`RegistryError::Storage`] when the file cannot be read or written.
    pub fn register(&self, commitment: Fr, limit: u32) -> Result<MemberIndex, RegistryError> {
        self.acceptable(commitment, limit)?;
        let commitment = fr_to_le(&commitment);
        self.write(|transaction| self.insert(transaction, &commitment, limit))
    }

    /// Registers commitments with their limits (messages per epoch) in one transaction: all of them
    /// or none. Returns their indices in the same order.
    ///
    /// # Errors
    /// Those of [`Self::register`], for the first member that is refused.
    pub fn register_all(&self, members: &[(Fr, u32)]) -> Result<Vec<MemberIndex>, RegistryError> {
        let acceptable = |(commitment, limit): &(Fr, u32)| self.acceptable(*commitment, *limit);
        members.iter().try_for_each(acceptable)?;
        self.write(|transaction| {
            let insert = |(commitment, limit): &(Fr, u32)| {
                self.insert(transaction, &fr_to_le(commitment), *limit)
            };
            members.iter().map(insert).collect()
        })
    }

    /// Removes a member: empties its leaf.
    ///
    /// # Errors
    /// [`RegistryError::UnknownMember`] when there is no such member; [`RegistryError::Storage`]
    /// when the file cannot be read or written.
    pub fn remove(&self, index: MemberIndex) -> Result<(), RegistryError> {
        self.write(|transaction| {
            let commitment = transaction
                .query_row(
                    "DELETE FROM members WHERE member = ?1 RETURNING commitment",
                    [index.get()],
                    |row| row.get::<_, [u8; 32]>(0),
                )
                .optional()
                .map_err(storage(&self.path))?
                .ok_or(RegistryError::UnknownMember { index })?;
            self.append(transaction, index, &commitment, None)
        })
    }

    /// Returns all present members, ordered by index.
    ///
    /// # Errors
    /// [`RegistryError::Storage`] when the file cannot be read.
    pub fn members(&self) -> Result<Vec<Member>, RegistryError> {
        let rows = rows(
            &self.connection.lock(),
            "SELECT member, commitment, message_limit FROM members ORDER BY member",
            [],
            StoredMember::read,
        );
        rows.map_err(storage(&self.path))?
            .iter()
            .map(|row| self.member(row))
            .collect()
    }

    /// Builds the tree of the present members from scratch.
    ///
    /// # Errors
    /// [`RegistryError::Storage`] when the file cannot be read.
    pub fn tree(&self) -> Result<MerkleTree, RegistryError> {
        Ok(tree_of(&self.members()?))
    }

    fn acceptable(&self, commitment: Fr, limit: u32) -> Result<(), RegistryError> {
        let max_limit = self.max_limit;
        if commitment == Fr::from(0) {
            return Err(RegistryError::ZeroCommitment);
        }
        if !(1..=max_limit).contains(&limit) {
            return Err(RegistryError::LimitOutOfRange { limit, max_limit });
        }
        Ok(())
    }

    fn insert(
        &self,
        transaction: &Transaction<'_>,
        commitment: &[u8; 32],
        limit: u32,
    ) -> Result<MemberIndex, RegistryError> {
        if let Some(known) = find(transaction, commitment).map_err(storage(&self.path))? {
            return Err(RegistryError::AlreadyRegistered {
                index: self.member(&known)?.index,
            });
        }
        let next: u32 = transaction
            .query_one(
                "SELECT COALESCE(MAX(member) + 1, 0) FROM changes",
                [],
                |r| r.get(0),
            )
            .map_err(storage(&self.path))?;
        let index = MemberIndex::new(next).ok_or(RegistryError::Full)?;
        transaction
            .execute(
                "INSERT INTO members (member, commitment, message_limit) VALUES (?1, ?2, ?3)",
                (next, commitment, limit),
            )
            .map_err(storage(&self.path))?;
        self.append(transaction, index, commitment, Some(limit))?;
        Ok(index)
    }

    fn append(
        &self,
        transaction: &Transaction<'_>,
        index: MemberIndex,
        commitment: &[u8; 32],
        limit: Option<u32>,
    ) -> Result<(), RegistryError> {
        let version = version(transaction).map_err(storage(&self.path))? + 1;
        transaction
            .execute(
                "INSERT INTO changes (version, member, commitment, message_limit, unix_ns)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                (version, index.get(), commitment, limit, unix_now_ns()),
            )
            .map_err(storage(&self.path))?;
        Ok(())
    }

    fn member(&self, row: &StoredMember) -> Result<Member, RegistryError> {
        let StoredMember {
            index,
            commitment,
            limit,
        } = *row;
        Ok(Member {
            index: self.checked(MemberIndex::new(index), StorageDamage::Index { index })?,
            commitment: self.checked(
                fr_from_le(&commitment).ok(),
                StorageDamage::Commitment { index },
            )?,
            limit: self.checked(limit, StorageDamage::Limit { index })?,
        })
    }

    fn checked<T>(&self, value: Option<T>, what: StorageDamage) -> Result<T, StorageError> {
        value.ok_or_else(|| StorageError::Corrupt {
            path: self.path.clone(),
            what,
        })
    }
}

impl MembershipLog for SqliteRegistry {
    fn id(&self) -> RegistryId {
        self.id
    }

    fn version(&self) -> Result<Version, RegistryError> {
        Ok(Version(
            version(&self.connection.lock()).map_err(storage(&self.path))?,
        ))
    }

    fn changes_since(
        &self,
        known: Version,
        max_changes: usize,
    ) -> Result<Vec<Change>, RegistryError> {
        let dated = self.dated_changes_since(known, max_changes)?;
        Ok(dated.into_iter().map(|dated| dated.change).collect())
    }
}

impl DatedLog for SqliteRegistry {
    /// The moment of a change is its version. Its time is from the machine's clock; it is unknown for changes
    /// made by an older version of this program.
    fn dated_changes_since(
        &self,
        known: Version,
        max_changes: usize,
    ) -> Result<Vec<DatedChange>, RegistryError> {
        let after = i64::try_from(known.0).unwrap_or(i64::MAX);
        let most = i64::try_from(max_changes).unwrap_or(i64::MAX);
        let rows = rows(
            &self.connection.lock(),
            "SELECT member, commitment, message_limit, version, unix_ns FROM changes
             WHERE version > ?1 ORDER BY version LIMIT ?2",
            [after, most],
            |row| {
                let unix_ns = row.get::<_, Option<i64>>(4)?;
                Ok((StoredMember::read(row)?, row.get::<_, u64>(3)?, unix_ns))
            },
        );
        let change = |(row, version, unix_ns): &(StoredMember, u64, Option<i64>)| {
            // A removal has no limit; 1 stands in for it while the other fields are checked.
            let member = self.member(&StoredMember {
                limit: row.limit.or(Some(1)),
                ..*row
            })?;
            let kind = match row.limit {
                Some(limit) => ChangeKind::Registered {
                    commitment: member.commitment,
                    limit,
                },
                None => ChangeKind::Removed,
            };
            Ok(DatedChange {
                change: Change {
                    version: Version(*version),
                    index: member.index,
                    kind,
                },
                moment: *version,
                unix_ns: unix_ns.and_then(|unix_ns| u64::try_from(unix_ns).ok()),
            })
        };
        rows.map_err(storage(&self.path))?
            .iter()
            .map(change)
            .collect()
    }
}

impl MemberLookup for SqliteRegistry {
    fn find(&self, commitment: Fr) -> Result<Option<Member>, RegistryError> {
        let found = find(&self.connection.lock(), &fr_to_le(&commitment));
        found
            .map_err(storage(&self.path))?
            .map(|row| self.member(&row))
            .transpose()
    }
}

/// A member as stored in the file, before validation.
#[derive(Clone, Copy)]
struct StoredMember {
    index: u32,
    commitment: [u8; 32],
    limit: Option<u32>,
}

impl StoredMember {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            index: row.get(0)?,
            commitment: row.get(1)?,
            limit: row.get(2)?,
        })
    }
}

/// Returns the machine's time, Unix nanoseconds; `None` before 1970.
fn unix_now_ns() -> Option<i64> {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since_1970.as_nanos()).ok()
}

fn find(connection: &Connection, commitment: &[u8; 32]) -> rusqlite::Result<Option<StoredMember>> {
    let sql = "SELECT member, commitment, message_limit FROM members WHERE commitment = ?1";
    connection
        .query_row(sql, [commitment], StoredMember::read)
        .optional()
}

fn version(connection: &Connection) -> rusqlite::Result<u64> {
    connection.query_one("SELECT COALESCE(MAX(version), 0) FROM changes", [], |row| {
        row.get(0)
    })
}

fn rows<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection
        .prepare_cached(sql)?
        .query_map(parameters, read)?
        .collect()
}

#[cfg(test)]
#[path = "tests/sqlite.rs"]
mod tests;
