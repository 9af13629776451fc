//! Queries: pages, hashes, and what the archive contains.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};
use undertone_message::MessageHash;
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryData, HistoryEntry, HistoryPage, HistoryQuery,
    PageDirection,
};

use super::directory::SqliteSlot;
use super::schema;
use super::view::{SqliteReadError, SqliteView};
use crate::ArchiveSizes;
use crate::page::{self, PageBounds, PagePosition};

/// Message of a page, before its content is read.
pub(super) struct RowKey {
    pub(super) slot: u64,
    pub(super) id: i64,
    pub(super) timestamp_ns: i64,
    pub(super) hash: MessageHash,
}

impl RowKey {
    pub(super) fn position(&self) -> PagePosition {
        PagePosition::of(self.timestamp_ns, &self.hash)
    }
}

/// Messages of which a slot has an index by time.
#[derive(Clone, Copy)]
enum TopicLane {
    /// Messages of a pubsub topic.
    Pubsub(i64),
    /// Messages of a pair of topics.
    Stream(i64),
}

/// Answers a query.
pub(super) fn page(
    view: &mut SqliteView<'_>,
    query: &HistoryQuery,
) -> Result<HistoryPage, SqliteReadError> {
    let mut bounds = match &query.criteria {
        HistoryCriteria::Content(criteria) => PageBounds::of(criteria),
        HistoryCriteria::Hashes(_) => PageBounds::between(i64::MIN, i64::MAX),
    };
    if let Some(cursor) = query.cursor {
        let found = find(view, &[&cursor])?;
        let found = found.first().ok_or(SqliteReadError::UnknownCursor)?;
        bounds.behind(found.position(), query.direction);
    }
    let most = page::fetch_count(query);
    let mut keys = match &query.criteria {
        HistoryCriteria::Content(criteria) => {
            by_content(view, criteria, &bounds, query.direction, most)?
        }
        HistoryCriteria::Hashes(hashes) => {
            let mut keys = find(view, &distinct(hashes))?;
            keys.retain(|key| bounds.contain(&key.position()));
            keys
        }
    };
    page::cut(&mut keys, query.direction, most, RowKey::position);
    let mut entries = Vec::with_capacity(keys.len());
    // The entry beyond the page needs no content.
    let limit = most - 1;
    for (index, key) in keys.iter().enumerate() {
        let data = match query.include_data && index < limit {
            true => Some(content(view, key)?),
            false => None,
        };
        entries.push(HistoryEntry {
            hash: key.hash,
            data,
        });
    }
    Ok(page::make(query, entries))
}

/// Finds messages by their hashes, which are distinct, in the newest slots first.
fn find(
    view: &mut SqliteView<'_>,
    hashes: &[&MessageHash],
) -> Result<Vec<RowKey>, SqliteReadError> {
    let numbers: Vec<u64> = view.slots.iter().rev().map(|slot| slot.number).collect();
    let mut missing = hashes.to_vec();
    let mut keys = Vec::new();
    for slot in numbers {
        if missing.is_empty() {
            break;
        }
        let mut found = view.slot(slot, |connection| {
            let mut statement = connection.prepare_cached(schema::FIND_HASH)?;
            let mut found = Vec::new();
            for hash in &missing {
                let key = statement.query_row(params![&hash.0[..8], &hash.0[..]], |row| {
                    Ok(RowKey {
                        slot,
                        id: row.get(0)?,
                        timestamp_ns: row.get(1)?,
                        hash: **hash,
                    })
                });
                found.extend(key.optional()?);
            }
            Ok(found)
        })?;
        let known: BTreeSet<MessageHash> = found.iter().map(|key| key.hash).collect();
        missing.retain(|hash| !known.contains(*hash));
        keys.append(&mut found);
    }
    Ok(keys)
}

/// Finds the first messages between the bounds that meet the criteria, slot by slot.
pub(super) fn by_content(
    view: &mut SqliteView<'_>,
    criteria: &ContentCriteria,
    bounds: &PageBounds,
    direction: PageDirection,
    most: usize,
) -> Result<Vec<RowKey>, SqliteReadError> {
    let overlaps = |slot: &&SqliteSlot| {
        slot.range.last_ns >= bounds.after.timestamp_ns
            && slot.range.first_ns <= bounds.before.timestamp_ns
    };
    let mut numbers: Vec<u64> = view
        .slots
        .iter()
        .filter(overlaps)
        .map(|s| s.number)
        .collect();
    if direction == PageDirection::Backward {
        numbers.reverse();
    }
    let mut keys: Vec<RowKey> = Vec::new();
    for slot in numbers {
        // Slots do not overlap: what a later one has cannot come before what is found.
        if keys.len() >= most {
            break;
        }
        let mut found = view.slot(slot, |connection| {
            let mut found = Vec::new();
            for lane in lanes(connection, criteria)? {
                scan(connection, lane, bounds, direction, most, slot, &mut found)?;
                page::cut(&mut found, direction, most, RowKey::position);
            }
            Ok(found)
        })?;
        keys.append(&mut found);
    }
    Ok(keys)
}

/// Lanes of a slot that together have the messages with the topics asked for, each message once.
fn lanes(connection: &Connection, criteria: &ContentCriteria) -> rusqlite::Result<Vec<TopicLane>> {
    let pubsub = criteria.pubsub_topic.as_deref();
    if criteria.content_topics.is_empty() {
        let find = "SELECT id FROM pubsub WHERE ?1 IS NULL OR topic = ?1";
        let mut statement = connection.prepare_cached(find)?;
        let found = statement.query_map([pubsub], |row| row.get(0).map(TopicLane::Pubsub))?;
        return found.collect();
    }
    let find = "SELECT stream.id FROM stream JOIN pubsub ON pubsub.id = stream.pubsub
        WHERE content_topic = ?1 AND (?2 IS NULL OR topic = ?2)";
    let mut statement = connection.prepare_cached(find)?;
    let mut lanes = Vec::new();
    for topic in distinct(&criteria.content_topics) {
        let found =
            statement.query_map((&**topic, pubsub), |row| row.get(0).map(TopicLane::Stream))?;
        for lane in found {
            lanes.push(lane?);
        }
    }
    Ok(lanes)
}

/// Reads the first messages of a lane between the bounds.
fn scan(
    connection: &Connection,
    lane: TopicLane,
    bounds: &PageBounds,
    direction: PageDirection,
    most: usize,
    slot: u64,
    found: &mut Vec<RowKey>,
) -> rusqlite::Result<()> {
    let (column, lane) = match lane {
        TopicLane::Pubsub(id) => ("pubsub", id),
        TopicLane::Stream(id) => ("stream", id),
    };
    let order = match direction {
        PageDirection::Forward => "ASC",
        PageDirection::Backward => "DESC",
    };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, timestamp, hash FROM message INDEXED BY message_by_{column}
         WHERE {column} = ?1 AND (timestamp, hash) > (?2, ?3) AND (timestamp, hash) < (?4, ?5)
         ORDER BY timestamp {order}, hash {order} LIMIT ?6"
    ))?;
    let (after, before) = (&bounds.after, &bounds.before);
    let parameters = params![
        lane,
        after.timestamp_ns,
        after.hash,
        before.timestamp_ns,
        before.hash,
        i64::try_from(most).unwrap_or(i64::MAX),
    ];
    let rows = statement.query_map(parameters, |row| {
        Ok(RowKey {
            slot,
            id: row.get(0)?,
            timestamp_ns: row.get(1)?,
            hash: schema::hash(row, 2)?,
        })
    })?;
    for row in rows {
        found.push(row?);
    }
    Ok(())
}

/// Reads the content of a message.
fn content(view: &mut SqliteView<'_>, key: &RowKey) -> Result<HistoryData, SqliteReadError> {
    view.slot(key.slot, |connection| {
        connection
            .prepare_cached(schema::READ_CONTENT)?
            .query_row([key.id], schema::content)
    })
}

/// Tells of each hash whether its message is there.
pub(super) fn contains(
    view: &mut SqliteView<'_>,
    hashes: &[MessageHash],
) -> Result<Vec<bool>, SqliteReadError> {
    let found = find(view, &distinct(hashes))?;
    let found: BTreeSet<MessageHash> = found.iter().map(|key| key.hash).collect();
    Ok(hashes.iter().map(|hash| found.contains(hash)).collect())
}

/// Timestamps and hashes between two timestamps.
pub(super) fn hashes(
    view: &mut SqliteView<'_>,
    start_ns: i64,
    end_ns: i64,
    limit: usize,
) -> Result<Vec<(i64, MessageHash)>, SqliteReadError> {
    let all = ContentCriteria::default();
    let bounds = PageBounds::between(start_ns, end_ns);
    let mut keys = by_content(view, &all, &bounds, PageDirection::Forward, limit)?;
    page::cut(&mut keys, PageDirection::Forward, limit, RowKey::position);
    Ok(keys
        .iter()
        .map(|key| (key.timestamp_ns, key.hash))
        .collect())
}

/// Shares of data and indexes, by walking through all pages.
pub(super) fn sizes(view: &mut SqliteView<'_>) -> Result<ArchiveSizes, SqliteReadError> {
    let mut sizes = ArchiveSizes::default();
    let numbers: Vec<u64> = view.slots.iter().map(|slot| slot.number).collect();
    for number in numbers {
        let (data, index): (i64, i64) = view.slot(number, |connection| {
            connection.query_row(
                "SELECT coalesce(sum(pgsize) FILTER (WHERE type IS NOT 'index'), 0),
                   coalesce(sum(pgsize) FILTER (WHERE type = 'index'), 0)
                 FROM dbstat LEFT JOIN sqlite_schema USING (name) WHERE aggregate = TRUE",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
        })?;
        sizes.data_bytes += data.unsigned_abs();
        sizes.index_bytes += index.unsigned_abs();
    }
    Ok(sizes)
}

/// Values without those that are equal to an earlier one.
fn distinct<T: Ord>(values: &[T]) -> Vec<&T> {
    let mut values: Vec<&T> = values.iter().collect();
    values.sort_unstable();
    values.dedup();
    values
}
