//! Queries: pages, hashes, and the content of the archive.

use std::collections::BTreeSet;

use deadpool_postgres::Object;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};
use undertone_message::MessageHash;
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryPage, HistoryQuery, PageDirection,
};

use super::error::PostgresReadError;
use super::schema;
use crate::cursors::CursorMemory;
use crate::page::{self, PageBounds, PagePosition};
use crate::{ArchiveSizes, ArchiveStats, ArchivedHeader};

/// Condition that a message is between bounds, parameters 1 to 4. The plain timestamps select the partitions.
const BETWEEN: &str = "timestamp >= $1 AND timestamp <= $3 \
    AND (timestamp, hash) > ($1, $2) AND (timestamp, hash) < ($3, $4)";

/// Row limits used in statements. The limit is part of the statement text, because the planner has to know that it is
/// small. With few limits, few prepared statements are kept.
const ROWS: [usize; 5] = [2, 11, 21, 51, 101];

/// Answers a query.
pub(super) async fn page(
    client: &Object,
    cursors: &CursorMemory,
    query: &HistoryQuery,
) -> Result<HistoryPage, PostgresReadError> {
    let mut bounds = match &query.criteria {
        HistoryCriteria::Content(criteria) => PageBounds::of(criteria),
        HistoryCriteria::Hashes(_) => PageBounds::between(i64::MIN, i64::MAX),
    };
    if let Some(cursor) = query.cursor {
        let found = find_cursor(client, cursors, &cursor).await?;
        let timestamp_ns = found.ok_or(PostgresReadError::UnknownCursor)?;
        bounds.behind(PagePosition::of(timestamp_ns, &cursor), query.direction);
    }
    let most = page::fetch_count(query);
    let mut rows = match &query.criteria {
        HistoryCriteria::Content(criteria) => {
            by_content(client, query, criteria, &bounds, most).await?
        }
        HistoryCriteria::Hashes(hashes) => by_hashes(client, query, hashes, &bounds, most).await?,
    };
    rows.truncate(most);
    let entries: Option<Vec<_>> = rows.iter().map(schema::entry).collect();
    let page = page::make(query, entries.ok_or(PostgresReadError::Damaged)?);
    if let Some(next) = page.next
        && let Some(row) = rows.iter().find(|row| schema::hash(row, 1) == Some(next))
    {
        cursors.note(next, row.try_get(0)?);
    }
    Ok(page)
}

/// Returns the timestamp of a cursor's message, if it exists. Looks first in the partition where a page ended with it,
/// then in all.
async fn find_cursor(
    client: &Object,
    cursors: &CursorMemory,
    cursor: &MessageHash,
) -> Result<Option<i64>, Error> {
    let hash = &cursor.0[..];
    if let Some(timestamp_ns) = cursors.timestamp_ns(cursor) {
        let find = "SELECT timestamp FROM message WHERE timestamp = $1 AND hash = $2";
        let find = client.prepare_cached(find).await?;
        if let Some(row) = client.query_opt(&find, &[&timestamp_ns, &hash]).await? {
            return row.try_get(0).map(Some);
        }
    }
    let find = "SELECT timestamp FROM message WHERE hash = $1 LIMIT 1";
    let find = client.prepare_cached(find).await?;
    let found = client.query_opt(&find, &[&hash]).await?;
    found.map(|row| row.try_get(0)).transpose()
}

/// Returns the order of a query's rows in SQL.
fn order(query: &HistoryQuery) -> &'static str {
    match query.direction {
        PageDirection::Forward => "timestamp ASC, hash ASC",
        PageDirection::Backward => "timestamp DESC, hash DESC",
    }
}

fn columns(query: &HistoryQuery) -> &'static str {
    if query.include_data {
        schema::CONTENT
    } else {
        schema::KEY
    }
}

/// Returns the smallest sufficient row limit.
fn rows_of(most: usize) -> usize {
    let enough = |rows: &usize| *rows >= most;
    ROWS.into_iter().find(enough).unwrap_or(most)
}

/// Reads the first messages between the bounds that meet the criteria.
///
/// Content topics are read one by one, each with its own limit, and merged: the page bounds the cost, not the number of
/// messages in the topics. A pubsub topic given with content topics is only compared, because a content topic normally
/// belongs to one pubsub topic (Waku's relay sharding).
async fn by_content(
    client: &Object,
    query: &HistoryQuery,
    criteria: &ContentCriteria,
    bounds: &PageBounds,
    most: usize,
) -> Result<Vec<Row>, Error> {
    let (columns, order, rows) = (columns(query), order(query), rows_of(most));
    let pubsub = criteria.pubsub_topic.as_deref();
    let pubsub_key = pubsub.map(schema::topic_key);
    let pubsub_bytes = pubsub.map(str::as_bytes);
    let topics: BTreeSet<&str> = criteria.content_topics.iter().map(|t| &**t).collect();
    let keys: Vec<i64> = topics
        .iter()
        .map(|topic| schema::topic_key(topic))
        .collect();
    let topics: Vec<&[u8]> = topics.iter().map(|topic| topic.as_bytes()).collect();
    let (after, before) = (&bounds.after, &bounds.before);
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![
        &after.timestamp_ns,
        &after.hash,
        &before.timestamp_ns,
        &before.hash,
    ];
    let statement = if let ([key], [topic]) = (&keys[..], &topics[..]) {
        // A single topic needs no merge.
        parameters.extend([key as &(dyn ToSql + Sync), topic]);
        let mut and_pubsub = "";
        if pubsub.is_some() {
            parameters.push(&pubsub_bytes);
            and_pubsub = "AND pubsub_topic = $7";
        }
        format!(
            "SELECT {columns} FROM message
             WHERE content_key = $5 AND content_topic = $6 AND {BETWEEN} {and_pubsub}
             ORDER BY {order} LIMIT {rows}"
        )
    } else if !topics.is_empty() {
        parameters.extend([&keys as &(dyn ToSql + Sync), &topics]);
        let mut and_pubsub = "";
        if pubsub.is_some() {
            parameters.push(&pubsub_bytes);
            and_pubsub = "AND pubsub_topic = $7";
        }
        format!(
            "SELECT found.* FROM unnest($5::bigint[], $6::bytea[]) AS asked (key, topic),
             LATERAL (SELECT {columns} FROM message
               WHERE content_key = asked.key AND content_topic = asked.topic AND {BETWEEN} {and_pubsub}
               ORDER BY {order} LIMIT {rows}) AS found
             ORDER BY {order} LIMIT {rows}"
        )
    } else if pubsub.is_some() {
        parameters.extend([&pubsub_key as &(dyn ToSql + Sync), &pubsub_bytes]);
        format!(
            "SELECT {columns} FROM message
             WHERE pubsub_key = $5 AND pubsub_topic = $6 AND {BETWEEN}
             ORDER BY {order} LIMIT {rows}"
        )
    } else {
        format!("SELECT {columns} FROM message WHERE {BETWEEN} ORDER BY {order} LIMIT {rows}")
    };
    let statement = client.prepare_cached(&statement).await?;
    client.query(&statement, &parameters).await
}

/// Reads the first messages between the bounds that have one of the hashes.
async fn by_hashes(
    client: &Object,
    query: &HistoryQuery,
    hashes: &[MessageHash],
    bounds: &PageBounds,
    most: usize,
) -> Result<Vec<Row>, Error> {
    let (columns, order, rows) = (columns(query), order(query), rows_of(most));
    let hashes: Vec<&[u8]> = hashes.iter().map(|hash| &hash.0[..]).collect();
    // A separate subquery, so that messages are found by hash and not by scanning a time range.
    let statement = format!(
        "WITH found AS MATERIALIZED (SELECT {columns} FROM message WHERE hash = ANY ($5))
         SELECT * FROM found WHERE {BETWEEN} ORDER BY {order} LIMIT {rows}"
    );
    let statement = client.prepare_cached(&statement).await?;
    let (after, before) = (&bounds.after, &bounds.before);
    client
        .query(
            &statement,
            &[
                &after.timestamp_ns,
                &after.hash,
                &before.timestamp_ns,
                &before.hash,
                &hashes,
            ],
        )
        .await
}

/// Returns for each hash whether its message exists.
pub(super) async fn contains(
    client: &Object,
    hashes: &[MessageHash],
) -> Result<Vec<bool>, PostgresReadError> {
    let find = "SELECT hash FROM message WHERE hash = ANY ($1)";
    let find = client.prepare_cached(find).await?;
    let asked: Vec<&[u8]> = hashes.iter().map(|hash| &hash.0[..]).collect();
    let rows = client.query(&find, &[&asked]).await?;
    let found: BTreeSet<MessageHash> = rows.iter().filter_map(|row| schema::hash(row, 0)).collect();
    Ok(hashes.iter().map(|hash| found.contains(hash)).collect())
}

/// Returns timestamps and hashes between two timestamps.
pub(super) async fn hashes(
    client: &Object,
    start_ns: i64,
    end_ns: i64,
    limit: usize,
) -> Result<Vec<(i64, MessageHash)>, PostgresReadError> {
    let select = "SELECT timestamp, hash FROM message WHERE timestamp >= $1 AND timestamp <= $2
        ORDER BY timestamp, hash LIMIT $3";
    let select = client.prepare_cached(select).await?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = client.query(&select, &[&start_ns, &end_ns, &limit]).await?;
    let read = |row: &Row| {
        Ok((
            row.try_get(0)?,
            schema::hash(row, 1).ok_or(PostgresReadError::Damaged)?,
        ))
    };
    rows.iter().map(read).collect()
}

/// Returns identities and topics of the newest messages between two timestamps.
pub(super) async fn headers(
    client: &Object,
    start_ns: i64,
    end_ns: i64,
    limit: usize,
) -> Result<Vec<ArchivedHeader>, PostgresReadError> {
    let select = "SELECT timestamp, hash, pubsub_topic, content_topic FROM message
        WHERE timestamp >= $1 AND timestamp <= $2 ORDER BY timestamp DESC, hash DESC LIMIT $3";
    let select = client.prepare_cached(select).await?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = client.query(&select, &[&start_ns, &end_ns, &limit]).await?;
    let read = |row: &Row| schema::header(row).ok_or(PostgresReadError::Damaged);
    rows.iter().map(read).collect()
}

/// Returns the size of the archive.
pub(super) async fn stats(client: &Object) -> Result<ArchiveStats, Error> {
    let totals = "SELECT count(*), coalesce(sum(messages), 0)::bigint,
        coalesce(sum(pg_total_relation_size(to_regclass(partition))), 0)::bigint FROM message_slot";
    let totals = client.query_one(totals, &[]).await?;
    let number = |index| totals.try_get::<_, i64>(index).map(i64::unsigned_abs);
    let ends = "SELECT min(timestamp), max(timestamp) FROM message";
    let ends = client.query_one(ends, &[]).await?;
    Ok(ArchiveStats {
        slots: number(0)?,
        messages: number(1)?,
        bytes: number(2)?,
        oldest_ns: ends.try_get(0)?,
        newest_ns: ends.try_get(1)?,
    })
}

/// Returns the sizes of data and indexes.
pub(super) async fn sizes(client: &Object) -> Result<ArchiveSizes, Error> {
    let sizes = "SELECT coalesce(sum(pg_table_size(to_regclass(partition))), 0)::bigint,
        coalesce(sum(pg_indexes_size(to_regclass(partition))), 0)::bigint FROM message_slot";
    let sizes = client.query_one(sizes, &[]).await?;
    let number = |index| sizes.try_get::<_, i64>(index).map(i64::unsigned_abs);
    Ok(ArchiveSizes {
        data_bytes: number(0)?,
        index_bytes: number(1)?,
    })
}
