//! Tables of an archive, and rows of messages.

use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest, Sha256};
use tokio_postgres::{Row, Transaction};
use undertone_message::{MessageHash, WakuMessage};
use undertone_services::history::{HistoryData, HistoryEntry};

use crate::ArchivedHeader;
use crate::slot::SlotRange;

/// Version of the table layout.
pub(super) const FORMAT: i64 = 1;

/// Statement that takes the advisory lock under which tables and partitions are created. The key is "undertone" in
/// ASCII, truncated.
pub(super) const LOCK: &str = "SELECT pg_advisory_xact_lock(x'756e646572746f6e'::bigint)";

/// Tables of an archive.
///
/// Topics are bytes, because PostgreSQL's text cannot contain a zero byte, which protobuf's strings can. Indexes
/// contain the first eight bytes of a topic's SHA-256, because an index entry is limited to about 2700 bytes and a
/// topic is not; queries also compare the topic. `message_slot` contains the number of messages per partition, so that
/// they need not be counted.
///
/// `timestamp` is 0 for a message without one, as in its hash; `timed` distinguishes the two cases.
pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS archive_format (format bigint NOT NULL);
CREATE TABLE IF NOT EXISTS message_slot (
  first_ns bigint PRIMARY KEY,
  last_ns bigint NOT NULL,
  partition text NOT NULL UNIQUE,
  messages bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE SEQUENCE IF NOT EXISTS message_slot_number;
CREATE TABLE IF NOT EXISTS message (
  timestamp bigint NOT NULL,
  pubsub_key bigint NOT NULL,
  content_key bigint NOT NULL,
  version bigint,
  timed boolean NOT NULL,
  ephemeral boolean,
  hash bytea NOT NULL,
  pubsub_topic bytea NOT NULL,
  content_topic bytea NOT NULL,
  meta bytea,
  payload bytea NOT NULL,
  rate_limit_proof bytea,
  PRIMARY KEY (timestamp, hash)
) PARTITION BY RANGE (timestamp);
CREATE INDEX IF NOT EXISTS message_by_pubsub ON message (pubsub_key, timestamp, hash);
CREATE INDEX IF NOT EXISTS message_by_content ON message (content_key, timestamp, hash);
CREATE INDEX IF NOT EXISTS message_by_hash ON message (hash);
";

/// Columns of an entry with its content, in the order that [`entry`] reads.
pub(super) const CONTENT: &str = "timestamp, hash, pubsub_topic, content_topic, timed, version, \
    ephemeral, meta, payload, rate_limit_proof";

/// Columns of an entry without content.
pub(super) const KEY: &str = "timestamp, hash";

/// Returns the key of a topic in the indexes.
pub(super) fn topic_key(topic: &str) -> i64 {
    let digest: [u8; 32] = Sha256::digest(topic).into();
    let [a, b, c, d, e, f, g, h, ..] = digest;
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Reads a hash; `None` if it is not one.
pub(super) fn hash(row: &Row, index: usize) -> Option<MessageHash> {
    let bytes: &[u8] = row.try_get(index).ok()?;
    bytes.try_into().ok().map(MessageHash)
}

/// Reads an entry; `None` if this program does not write such a row.
pub(super) fn entry(row: &Row) -> Option<HistoryEntry> {
    let hash = hash(row, 1)?;
    let data = if row.len() > 2 {
        Some(content(row)?)
    } else {
        None
    };
    Some(HistoryEntry { hash, data })
}

/// Reads timestamp, hash and topics; `None` if this program does not write such a row.
pub(super) fn header(row: &Row) -> Option<ArchivedHeader> {
    Some(ArchivedHeader {
        timestamp_ns: row.try_get(0).ok()?,
        hash: hash(row, 1)?,
        pubsub_topic: text(row, 2)?,
        content_topic: text(row, 3)?,
    })
}

fn text(row: &Row, index: usize) -> Option<Arc<str>> {
    let bytes: &[u8] = row.try_get(index).ok()?;
    std::str::from_utf8(bytes).ok().map(Arc::from)
}

fn content(row: &Row) -> Option<HistoryData> {
    let blob = |index| -> Option<Option<Bytes>> {
        let bytes: Option<&[u8]> = row.try_get(index).ok()?;
        Some(bytes.map(Bytes::copy_from_slice))
    };
    let version: Option<i64> = row.try_get(5).ok()?;
    let timed: bool = row.try_get(4).ok()?;
    let timestamp: i64 = row.try_get(0).ok()?;
    Some(HistoryData {
        pubsub_topic: text(row, 2)?,
        message: WakuMessage {
            payload: blob(8)??,
            content_topic: text(row, 3)?,
            version: version.map(u32::try_from).transpose().ok()?,
            timestamp: Some(timestamp).filter(|_| timed),
            meta: blob(7)?,
            rate_limit_proof: blob(9)?,
            ephemeral: row.try_get(6).ok()?,
        },
    })
}

/// Partition of the archive.
#[derive(Clone, Debug)]
pub(super) struct PostgresSlot {
    pub(super) range: SlotRange,
    pub(super) partition: String,
    pub(super) messages: u64,
}

/// Reads the partitions, ordered by time.
pub(super) async fn slots(
    client: &impl deadpool_postgres::GenericClient,
) -> Result<Vec<PostgresSlot>, tokio_postgres::Error> {
    let select =
        "SELECT first_ns, last_ns, partition, messages FROM message_slot ORDER BY first_ns";
    let rows = client.query(select, &[]).await?;
    let read = |row: &Row| -> Result<PostgresSlot, tokio_postgres::Error> {
        Ok(PostgresSlot {
            range: SlotRange {
                first_ns: row.try_get(0)?,
                last_ns: row.try_get(1)?,
            },
            partition: row.try_get(2)?,
            messages: row.try_get::<_, i64>(3)?.unsigned_abs(),
        })
    };
    rows.iter().map(read).collect()
}

/// Returns the bounds of a partition in SQL.
pub(super) fn bounds(range: SlotRange) -> String {
    let first = match range.first_ns {
        i64::MIN => "MINVALUE".to_owned(),
        first => format!("'{first}'"),
    };
    // The upper bound of a partition is exclusive.
    let end = match range.last_ns.checked_add(1) {
        None => "MAXVALUE".to_owned(),
        Some(end) => format!("'{end}'"),
    };
    format!("FROM ({first}) TO ({end})")
}

/// Returns the statement that removes the constraint of a partition that is being closed.
pub(super) fn drop_constraint(partition: &str) -> String {
    format!("ALTER TABLE {partition} DROP CONSTRAINT IF EXISTS closed")
}

/// Creates a partition.
pub(super) async fn create_slot(
    transaction: &Transaction<'_>,
    range: SlotRange,
) -> Result<PostgresSlot, tokio_postgres::Error> {
    let next = "SELECT nextval('message_slot_number')";
    let number: i64 = transaction.query_one(next, &[]).await?.try_get(0)?;
    let partition = format!("message_slot_{number}");
    // Unlike creating a partition directly, attaching a table does not block queries.
    transaction
        .batch_execute(&format!(
            "CREATE TABLE {partition} (LIKE message INCLUDING DEFAULTS INCLUDING INDEXES);
             ALTER TABLE message ATTACH PARTITION {partition} FOR VALUES {};",
            bounds(range)
        ))
        .await?;
    transaction
        .execute(
            "INSERT INTO message_slot (first_ns, last_ns, partition) VALUES ($1, $2, $3)",
            &[&range.first_ns, &range.last_ns, &partition],
        )
        .await?;
    Ok(PostgresSlot {
        range,
        partition,
        messages: 0,
    })
}
