//! Queries: pages, hashes, and the content of the archive.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, params};
use undertone_message::MessageHash;
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryEntry, HistoryPage, HistoryQuery, PageDirection,
};

use super::directory::SqliteSlot;
use super::schema::{self, StreamTopics};
use super::view::{SqliteReadError, SqliteView};
use crate::ArchiveSizes;
use crate::page::{self, PageBounds, PagePosition};
use crate::slot::SlotRange;

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

    /// Returns the entry without its content.
    fn entry(&self) -> HistoryEntry {
        HistoryEntry {
            hash: self.hash,
            data: None,
        }
    }

    /// Returns the sort key of history: the timestamp, then the hash.
    pub(super) fn order(&self) -> (i64, MessageHash) {
        (self.timestamp_ns, self.hash)
    }
}

/// Set of messages for which a slot has an index by time.
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
        let found = find_cursor(view, &cursor)?.ok_or(SqliteReadError::UnknownCursor)?;
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
    page::cut(&mut keys, query.direction, most, RowKey::order);
    let mut entries: Vec<HistoryEntry> = keys.iter().map(RowKey::entry).collect();
    if query.include_data {
        // The extra entry beyond the page needs no content.
        let shown = keys.len().min(most - 1);
        contents(view, &keys[..shown], &mut entries[..shown])?;
    }
    let page = page::make(query, entries);
    if let Some(next) = &page.next
        && let Some(key) = keys.iter().find(|key| key.hash == *next)
    {
        view.cursors.note(*next, key.timestamp_ns);
    }
    Ok(page)
}

/// Finds a cursor's message: first in the slot where a page ended with it, then everywhere.
fn find_cursor(
    view: &mut SqliteView<'_>,
    cursor: &MessageHash,
) -> Result<Option<RowKey>, SqliteReadError> {
    if let Some(timestamp_ns) = view.cursors.timestamp_ns(cursor)
        && let Some(index) = SlotRange::find_by(&view.slots, |slot| &slot.range, timestamp_ns)
    {
        let number = view.slots[index].number;
        let found = find_in(view, number, &[cursor])?.pop();
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(find(view, &[cursor])?.pop())
}

/// Finds messages by distinct hashes, in the newest slots first.
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
        let mut found = find_in(view, slot, &missing)?;
        let known: BTreeSet<MessageHash> = found.iter().map(|key| key.hash).collect();
        missing.retain(|hash| !known.contains(*hash));
        keys.append(&mut found);
    }
    Ok(keys)
}

/// Finds messages of a slot by their hashes.
fn find_in(
    view: &mut SqliteView<'_>,
    slot: u64,
    hashes: &[&MessageHash],
) -> Result<Vec<RowKey>, SqliteReadError> {
    view.slot(slot, |connection| {
        let mut statement = connection.prepare_cached(schema::FIND_HASH)?;
        let mut found = Vec::new();
        for hash in hashes {
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
    })
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
        // Slots do not overlap: messages of a later slot cannot come before those found.
        if keys.len() >= most {
            break;
        }
        let mut found = view.slot(slot, |connection| {
            let mut found: Vec<RowKey> = Vec::new();
            let mut bounds = bounds.clone();
            for lane in lanes(connection, criteria)? {
                scan(connection, lane, &bounds, direction, most, slot, &mut found)?;
                page::cut(&mut found, direction, most, RowKey::order);
                // From further lanes, only messages before the last one found are needed.
                if let Some(last) = found.last().filter(|_| found.len() == most) {
                    bounds.end_at(last.position(), direction);
                }
            }
            Ok(found)
        })?;
        keys.append(&mut found);
    }
    Ok(keys)
}

/// Returns the lanes of a slot that together contain the messages with the requested topics, each message once.
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

/// Reads the contents of messages into their entries. Keys of one slot are adjacent, so that each slot is read in one
/// go.
fn contents(
    view: &mut SqliteView<'_>,
    keys: &[RowKey],
    entries: &mut [HistoryEntry],
) -> Result<(), SqliteReadError> {
    let mut rest = entries.iter_mut();
    for keys in keys.chunk_by(|one, other| one.slot == other.slot) {
        let Some(slot) = keys.first().map(|key| key.slot) else {
            continue;
        };
        view.slot(slot, |connection| {
            let mut read = connection.prepare_cached(schema::READ_CONTENT)?;
            let mut read_topics = connection.prepare_cached(schema::READ_TOPICS)?;
            let mut known: BTreeMap<i64, StreamTopics> = BTreeMap::new();
            let mut topics = |stream| match known.entry(stream) {
                Entry::Occupied(topics) => Ok(topics.get().clone()),
                Entry::Vacant(place) => {
                    let topics = read_topics.query_row([stream], schema::topics)?;
                    Ok(place.insert(topics).clone())
                }
            };
            for (key, entry) in keys.iter().zip(&mut rest) {
                let data = read.query_row([key.id], |row| schema::content(row, &mut topics))?;
                entry.data = Some(data);
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Returns for each hash whether its message exists.
pub(super) fn contains(
    view: &mut SqliteView<'_>,
    hashes: &[MessageHash],
) -> Result<Vec<bool>, SqliteReadError> {
    let found = find(view, &distinct(hashes))?;
    let found: BTreeSet<MessageHash> = found.iter().map(|key| key.hash).collect();
    Ok(hashes.iter().map(|hash| found.contains(hash)).collect())
}

/// Returns timestamps and hashes between two timestamps.
pub(super) fn hashes(
    view: &mut SqliteView<'_>,
    start_ns: i64,
    end_ns: i64,
    limit: usize,
) -> Result<Vec<(i64, MessageHash)>, SqliteReadError> {
    let all = ContentCriteria::default();
    let bounds = PageBounds::between(start_ns, end_ns);
    let mut keys = by_content(view, &all, &bounds, PageDirection::Forward, limit)?;
    page::cut(&mut keys, PageDirection::Forward, limit, RowKey::order);
    Ok(keys
        .iter()
        .map(|key| (key.timestamp_ns, key.hash))
        .collect())
}

/// Returns the sizes of data and indexes, by walking through all pages.
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

/// Returns the distinct values, in the order of their first occurrence.
fn distinct<T: Ord>(values: &[T]) -> Vec<&T> {
    let mut values: Vec<&T> = values.iter().collect();
    values.sort_unstable();
    values.dedup();
    values
}
