//! Queries of the follower's file.

use alloy::primitives::B256;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row};
use undertone_rln::{Fr, fr_from_le, fr_to_le};

use super::{BlockCursor, Checkpoint};
use crate::evm::chain::BlockRef;
use crate::registry::{Change, ChangeKind, DatedChange, Member, MemberIndex, Version};
use crate::view::LeafChange;

/// Query for the newest change of each leaf.
const NEWEST: &str = "SELECT MAX(version) FROM changes GROUP BY member";

pub(super) fn cursor(connection: &Connection) -> rusqlite::Result<BlockCursor> {
    connection.query_one("SELECT number, hash, accepted FROM contract", [], |row| {
        Ok(BlockCursor {
            number: row.get(0)?,
            hash: row.get::<_, Option<[u8; 32]>>(1)?.map(B256::from),
            accepted: Version(row.get(2)?),
        })
    })
}

pub(super) fn version(connection: &Connection) -> rusqlite::Result<Version> {
    let sql = "SELECT COALESCE(MAX(version), 0) FROM changes";
    connection.query_one(sql, [], |row| row.get(0).map(Version))
}

pub(super) fn before_first(connection: &Connection) -> rusqlite::Result<u64> {
    connection.query_one("SELECT before_first FROM contract", [], |row| row.get(0))
}

pub(super) fn checkpoints(connection: &Connection) -> rusqlite::Result<Vec<Checkpoint>> {
    let sql = "SELECT number, hash, version FROM marks ORDER BY number";
    rows(connection, sql, [], |row| {
        Ok(Checkpoint {
            block: BlockRef {
                number: row.get(0)?,
                hash: row.get::<_, [u8; 32]>(1)?.into(),
            },
            version: Version(row.get(2)?),
        })
    })
}

pub(super) fn unverified(connection: &Connection) -> rusqlite::Result<Vec<MemberIndex>> {
    let sql = "SELECT member FROM doubts ORDER BY member";
    rows(connection, sql, [], |row| member_index(row, 0))
}

pub(super) fn orphans(connection: &Connection) -> rusqlite::Result<Vec<Fr>> {
    let sql = "SELECT root FROM orphans ORDER BY place";
    rows(connection, sql, [], |row| element(row, 0))
}

pub(super) fn leaves(connection: &Connection) -> rusqlite::Result<Vec<(MemberIndex, Fr)>> {
    let sql =
        format!("SELECT member, after FROM changes WHERE version IN ({NEWEST}) ORDER BY member");
    rows(connection, &sql, [], |row| {
        Ok((member_index(row, 0)?, element(row, 1)?))
    })
}

pub(super) fn steps_back(
    connection: &Connection,
    from: Version,
    after: Version,
    most: usize,
) -> rusqlite::Result<Vec<LeafChange>> {
    let sql = "SELECT member, before, after FROM changes WHERE version <= ?1 AND version > ?2
               ORDER BY version DESC LIMIT ?3";
    let parameters = [
        signed(from.0),
        signed(after.0),
        i64::try_from(most).unwrap_or(i64::MAX),
    ];
    rows(connection, sql, parameters, |row| {
        Ok(LeafChange {
            index: member_index(row, 0)?,
            before: element(row, 1)?,
            after: element(row, 2)?,
        })
    })
}

pub(super) fn changes(
    connection: &Connection,
    known: Version,
    most: usize,
) -> rusqlite::Result<Vec<DatedChange>> {
    let sql = "SELECT version, member, after, commitment, message_limit, block FROM changes
               WHERE version > ?1 ORDER BY version LIMIT ?2";
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    rows(connection, sql, [signed(known.0), most], |row| {
        let leaf = element(row, 2)?;
        let kind = match (row.get::<_, Option<u32>>(4)?, leaf == Fr::from(0)) {
            (Some(limit), _) => ChangeKind::Registered {
                commitment: element(row, 3)?,
                limit,
            },
            (None, true) => ChangeKind::Removed,
            (None, false) => ChangeKind::Placed { leaf },
        };
        Ok(DatedChange {
            change: Change {
                version: Version(row.get(0)?),
                index: member_index(row, 1)?,
                kind,
            },
            moment: row.get(5)?,
            unix_ns: None,
        })
    })
}

pub(super) fn find(connection: &Connection, commitment: Fr) -> rusqlite::Result<Option<Member>> {
    // The newest registration of a commitment counts if its leaf has not changed since.
    let sql = "SELECT member, commitment, message_limit FROM changes AS c
               WHERE commitment = ?1 AND NOT EXISTS
                   (SELECT 1 FROM changes AS n WHERE n.member = c.member AND n.version > c.version)
               ORDER BY version DESC LIMIT 1";
    connection
        .query_row(sql, [fr_to_le(&commitment)], member)
        .optional()
}

pub(super) fn members(connection: &Connection) -> rusqlite::Result<Vec<Member>> {
    let sql = format!(
        "SELECT member, commitment, message_limit FROM changes
         WHERE version IN ({NEWEST}) AND message_limit IS NOT NULL ORDER BY member"
    );
    rows(connection, &sql, [], member)
}

fn member(row: &Row<'_>) -> rusqlite::Result<Member> {
    Ok(Member {
        index: member_index(row, 0)?,
        commitment: element(row, 1)?,
        limit: row.get(2)?,
    })
}

fn member_index(row: &Row<'_>, column: usize) -> rusqlite::Result<MemberIndex> {
    let index: u32 = row.get(column)?;
    MemberIndex::new(index).ok_or(rusqlite::Error::IntegralValueOutOfRange(
        column,
        i64::from(index),
    ))
}

fn element(row: &Row<'_>, column: usize) -> rusqlite::Result<Fr> {
    let bytes: [u8; 32] = row.get(column)?;
    fr_from_le(&bytes).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, Box::new(error))
    })
}

/// Converts to SQLite's signed integers; no real version exceeds them.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
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
