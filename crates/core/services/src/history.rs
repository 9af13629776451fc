//! History: stored messages, and the queries that stores serve and archives answer.
//!
//! History is ordered by timestamp and, among equal timestamps, by hash. A cursor is the hash of a message; a page
//! begins after it.

use std::sync::Arc;

use thiserror::Error;
use undertone_message::{MessageHash, WakuMessage, message_hash};

/// Page size if the query names none (nwaku).
pub const PAGE_DEFAULT: u32 = 20;

/// Largest page size (nwaku).
pub const PAGE_MAX: u32 = 100;

/// Maximum difference in nanoseconds between a message's timestamp and the clock of a store that accepts it from the
/// relay (nwaku).
pub const CLOCK_TOLERANCE_NS: u64 = 20_000_000_000;

/// Message with its topic and hash, as an archive keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    /// Deterministic hash of topic and message (RFC 14).
    pub hash: MessageHash,
    /// Topic that the message was published on.
    pub pubsub_topic: Arc<str>,
    /// The message with its rate-limit proof, so that readers can verify it.
    pub message: WakuMessage,
}

impl StoredMessage {
    /// Creates an entry for a message, and computes its hash.
    pub fn new(pubsub_topic: impl Into<Arc<str>>, message: WakuMessage) -> Self {
        let pubsub_topic = pubsub_topic.into();
        Self {
            hash: message_hash(&pubsub_topic, &message),
            pubsub_topic,
            message,
        }
    }

    /// Whether a store keeps the message if the relay delivers it at `now_ns`, Unix nanoseconds: it is not ephemeral,
    /// and its timestamp differs from that time by at most [`CLOCK_TOLERANCE_NS`].
    pub fn is_to_be_kept(&self, now_ns: i64) -> bool {
        let apart_ns = self.message.timestamp_ns().abs_diff(now_ns);
        !self.message.is_ephemeral() && apart_ns <= CLOCK_TOLERANCE_NS
    }
}

/// Query for one page of history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryQuery {
    /// Whether the page has messages and topics, or only hashes.
    pub include_data: bool,
    /// Messages to select.
    pub criteria: HistoryCriteria,
    /// Message after which the page begins; `None` for the first page.
    pub cursor: Option<MessageHash>,
    /// Direction in which pages follow each other. Within a page, messages are always the oldest first.
    pub direction: PageDirection,
    /// Maximum number of messages of the page, 1 to [`PAGE_MAX`].
    pub limit: u32,
}

/// Messages that a query selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryCriteria {
    /// Messages with these hashes.
    Hashes(Vec<MessageHash>),
    /// Messages that meet all of these conditions.
    Content(ContentCriteria),
}

/// Conditions on messages; an absent one is met by every message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentCriteria {
    /// Topic that the message was published on.
    pub pubsub_topic: Option<Arc<str>>,
    /// Content topics, one of which the message must have; empty for any.
    pub content_topics: Vec<Arc<str>>,
    /// Earliest timestamp, Unix nanoseconds, inclusive.
    pub start_ns: Option<i64>,
    /// Latest timestamp, Unix nanoseconds, inclusive.
    pub end_ns: Option<i64>,
}

impl ContentCriteria {
    /// Whether a message meets every condition.
    pub fn is_met_by(&self, data: &HistoryData) -> bool {
        let topic = self.pubsub_topic.as_ref();
        let time_ns = data.message.timestamp_ns();
        topic.is_none_or(|topic| *topic == data.pubsub_topic)
            && (self.content_topics.is_empty()
                || self.content_topics.contains(&data.message.content_topic))
            && self.start_ns.is_none_or(|start_ns| start_ns <= time_ns)
            && self.end_ns.is_none_or(|end_ns| time_ns <= end_ns)
    }
}

/// Direction in which pages follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageDirection {
    /// From the oldest message to the newest.
    #[default]
    Forward,
    /// From the newest message to the oldest.
    Backward,
}

/// Page of history, the oldest message first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryPage {
    /// Messages of the page.
    pub entries: Vec<HistoryEntry>,
    /// Cursor of the next page; `None` if this is the last one.
    pub next: Option<MessageHash>,
}

/// Message of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Hash of the message.
    pub hash: MessageHash,
    /// Topic and message, if the query asked for data.
    pub data: Option<HistoryData>,
}

/// Content of a message of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryData {
    /// Topic that the message was published on.
    pub pubsub_topic: Arc<str>,
    /// Message that the store holds.
    pub message: WakuMessage,
}

/// Reason why an archive has no page for a query.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The archive does not have the cursor's message, or no longer has it.
    #[error("cursor not found")]
    UnknownCursor,
    /// The archive cannot be read now.
    #[error("the archive cannot be read")]
    Unavailable,
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_NS: i64 = 1_700_000_000_000_000_000;

    fn message(timestamp_ns: i64, is_ephemeral: bool) -> StoredMessage {
        let message = WakuMessage {
            timestamp: Some(timestamp_ns),
            ephemeral: Some(is_ephemeral),
            ..WakuMessage::new(b"hello".to_vec(), "/app/1/name/proto")
        };
        StoredMessage::new("/waku/2/rs/1/0", message)
    }

    #[test]
    fn messages_of_now_are_kept_unless_they_are_ephemeral() {
        let tolerance = i64::try_from(CLOCK_TOLERANCE_NS).unwrap();
        for timestamp_ns in [NOW_NS, NOW_NS - tolerance, NOW_NS + tolerance] {
            assert!(message(timestamp_ns, false).is_to_be_kept(NOW_NS));
            assert!(!message(timestamp_ns, true).is_to_be_kept(NOW_NS));
        }
        for timestamp_ns in [
            0,
            i64::MIN,
            i64::MAX,
            NOW_NS - tolerance - 1,
            NOW_NS + tolerance + 1,
        ] {
            assert!(!message(timestamp_ns, false).is_to_be_kept(NOW_NS));
        }
    }
}
