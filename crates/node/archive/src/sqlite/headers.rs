//! Identities and topics of messages, without their content.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::Connection;
use undertone_services::history::{ContentCriteria, PageDirection};

use super::query::{RowKey, by_content};
use super::view::{SqliteReadError, SqliteView};
use crate::ArchivedHeader;
use crate::page::{self, PageBounds};

/// Pubsub and content topic of each stream of a slot.
type TopicsByStream = BTreeMap<i64, (Arc<str>, Arc<str>)>;

/// Reads the newest messages between two timestamps.
pub(super) fn headers(
    view: &mut SqliteView<'_>,
    start_ns: i64,
    end_ns: i64,
    limit: usize,
) -> Result<Vec<ArchivedHeader>, SqliteReadError> {
    let (all, direction) = (ContentCriteria::default(), PageDirection::Backward);
    let bounds = PageBounds::between(start_ns, end_ns);
    let mut keys = by_content(view, &all, &bounds, direction, limit)?;
    page::cut(&mut keys, direction, limit, RowKey::order);
    let mut found = Vec::with_capacity(keys.len());
    for keys in keys.chunk_by(|a, b| a.slot == b.slot) {
        let Some(first) = keys.first() else { continue };
        view.slot(first.slot, |connection| {
            let topics = stream_topics(connection)?;
            let mut stream_of =
                connection.prepare_cached("SELECT stream FROM message WHERE id = ?1")?;
            for key in keys {
                let stream: i64 = stream_of.query_row([key.id], |row| row.get(0))?;
                let topics = topics.get(&stream);
                let (pubsub_topic, content_topic) = topics
                    .cloned()
                    .ok_or(rusqlite::Error::QueryReturnedNoRows)?;
                found.push(ArchivedHeader {
                    timestamp_ns: key.timestamp_ns,
                    hash: key.hash,
                    pubsub_topic,
                    content_topic,
                });
            }
            Ok(())
        })?;
    }
    Ok(found)
}

fn stream_topics(connection: &Connection) -> rusqlite::Result<TopicsByStream> {
    let select = "SELECT stream.id, topic, content_topic FROM stream JOIN pubsub ON pubsub.id = stream.pubsub";
    let mut statement = connection.prepare_cached(select)?;
    let rows = statement.query_map([], |row| {
        let text = |index| row.get::<_, String>(index).map(Arc::from);
        Ok((row.get(0)?, (text(1)?, text(2)?)))
    })?;
    rows.collect()
}
