//! Queries for messages of the past, and their answers.

use serde::{Deserialize, Serialize};
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryPage, HistoryQuery, PAGE_DEFAULT, PAGE_MAX,
    PageDirection,
};

use crate::error::NodeError;
use crate::messages::{IncomingMessage, hash_text, read_hash};

/// Query for a page of history. A condition that is left out is met by every message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, uniffi::Record)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StoreQuery {
    /// Address of the store to ask, with `/p2p`; without it, this node's own archive, or a store that it knows.
    #[uniffi(default = None)]
    pub peer: Option<String>,
    /// Topic that messages were published on.
    #[uniffi(default = None)]
    pub pubsub_topic: Option<String>,
    /// Content topics, of which a message has one.
    #[uniffi(default = [])]
    pub content_topics: Vec<String>,
    /// Earliest timestamp, Unix nanoseconds, included.
    #[uniffi(default = None)]
    pub start_ns: Option<i64>,
    /// Latest timestamp, Unix nanoseconds, included.
    #[uniffi(default = None)]
    pub end_ns: Option<i64>,
    /// Hashes of the messages to be found, in place of the conditions above.
    #[uniffi(default = [])]
    pub hashes: Vec<String>,
    /// Cursor of a page, as the page before it gave it; without it, the first page.
    #[uniffi(default = None)]
    pub cursor: Option<String>,
    /// Whether the first page has the newest messages. Within a page, the oldest message comes first.
    #[uniffi(default = false)]
    pub newest_first: bool,
    /// Most messages of the page, 1 to 100; without it, 20.
    #[uniffi(default = None)]
    pub limit: Option<u32>,
}

/// Page of history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, uniffi::Record)]
#[serde(rename_all = "camelCase")]
pub struct MessagePage {
    /// Messages of the page, the oldest first.
    pub messages: Vec<IncomingMessage>,
    /// Cursor of the next page; absent if this is the last one.
    pub next: Option<String>,
}

impl StoreQuery {
    /// Checks the query. The address of the store is left to the caller.
    pub(crate) fn check(&self) -> Result<HistoryQuery, NodeError> {
        let limit = self.limit.unwrap_or(PAGE_DEFAULT);
        if !(1..=PAGE_MAX).contains(&limit) {
            let reason = format!("{limit} messages; a page has 1 to {PAGE_MAX}");
            return Err(NodeError::argument("limit", reason));
        }
        let content = ContentCriteria {
            pubsub_topic: self.pubsub_topic.as_deref().map(Into::into),
            content_topics: self
                .content_topics
                .iter()
                .map(|one| one.as_str().into())
                .collect(),
            start_ns: self.start_ns,
            end_ns: self.end_ns,
        };
        let hashes = self.hashes.iter().map(|one| read_hash("hashes", one));
        let hashes = hashes.collect::<Result<Vec<_>, _>>()?;
        let criteria = if hashes.is_empty() {
            HistoryCriteria::Content(content)
        } else if content == ContentCriteria::default() {
            HistoryCriteria::Hashes(hashes)
        } else {
            let reason = "given together with other conditions; ask for either";
            return Err(NodeError::argument("hashes", reason));
        };
        let cursor = self.cursor.as_deref().map(|one| read_hash("cursor", one));
        Ok(HistoryQuery {
            include_data: true,
            criteria,
            cursor: cursor.transpose()?,
            direction: if self.newest_first {
                PageDirection::Backward
            } else {
                PageDirection::Forward
            },
            limit,
        })
    }
}

impl TryFrom<HistoryPage> for MessagePage {
    type Error = NodeError;

    /// Takes the page of a store that was asked for data.
    fn try_from(page: HistoryPage) -> Result<Self, NodeError> {
        let messages = page.entries.into_iter().map(|entry| {
            let data = entry.data.ok_or_else(|| NodeError::Peer {
                reason: format!(
                    "the store gave message {} without its content",
                    hash_text(&entry.hash)
                ),
            })?;
            Ok(IncomingMessage::new(
                data.pubsub_topic.to_string(),
                &data.message,
            ))
        });
        Ok(Self {
            messages: messages.collect::<Result<_, NodeError>>()?,
            next: page.next.as_ref().map(hash_text),
        })
    }
}
