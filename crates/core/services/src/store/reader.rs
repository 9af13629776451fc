//! Reader of history: walks the pages of a query and trusts no server.
//!
//! The reader keeps no stream. [`HistoryReader::request`] returns the request for the next page, which the caller
//! sends to any server, and [`HistoryReader::take`] checks the answer. A page with any fault is refused as a whole
//! and changes nothing, so the caller can send the same request to another server.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use thiserror::Error;
use undertone_message::{MessageHash, message_hash};

use super::{ReaderLimits, ResponseError, StoreRequest, StoreResponse, StoreStatus};
use crate::history::{HistoryCriteria, HistoryData, HistoryEntry, HistoryQuery, PageDirection};

#[cfg(test)]
#[path = "tests/reader.rs"]
mod tests;

/// Walk through the pages of one query.
#[derive(Clone, Debug)]
pub struct HistoryReader {
    limits: ReaderLimits,
    /// The query of the next request; its cursor moves.
    query: HistoryQuery,
    /// All hashes accepted so far.
    seen: BTreeSet<MessageHash>,
    /// Timestamp of the message that the walk has reached.
    edge_ns: Option<i64>,
    /// Hashes that a page may repeat once, because the walk restarted at the edge without a cursor.
    repeatable: BTreeSet<MessageHash>,
    pages: usize,
    ended: bool,
}

/// Page that passed every check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadPage {
    /// New messages, the oldest first.
    pub entries: Vec<HistoryEntry>,
    /// Hashes that the server lists without a message that this implementation can read. Nothing proves that such
    /// messages exist.
    pub unreadable: Vec<MessageHash>,
    /// Whether the walk has ended.
    pub ended: bool,
}

/// Reason why a response was refused. The walk stays where it was.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HistoryReadError {
    /// The server sent something false or malformed: another server should be asked.
    #[error("the server is at fault: {0}")]
    Server(#[from] ServerFault),
    /// The server cannot or will not answer now (429, 503): it may be asked later, or another one now.
    #[error("the server is busy: status {}", .status.code())]
    Busy {
        /// Status of the response.
        status: StoreStatus,
    },
    /// The server refuses this request. If the walk has a cursor, the server may lack its message; see
    /// [`HistoryReader::restart_by_time`].
    #[error("the server refuses with status {}: {description}", .status.code())]
    Refused {
        /// Status of the response.
        status: StoreStatus,
        /// Text of the response; untrusted.
        description: Arc<str>,
    },
    /// The walk is longer than [`ReaderLimits`] allow. Nobody is at fault.
    #[error("the walk is longer than its limits allow")]
    TooLong,
}

/// Fault of a server's response.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ServerFault {
    /// The response cannot be decoded or exceeds a limit.
    #[error(transparent)]
    Malformed(#[from] ResponseError),
    /// The request id of the response belongs to another request.
    #[error("the response is to another request")]
    RequestId,
    /// The page has more messages than requested.
    #[error("the page has {count} messages, of {limit} asked for")]
    PageTooLong {
        /// Number of messages of the page.
        count: usize,
        /// Number of messages requested.
        limit: u32,
    },
    /// The hash of a message is not the one that the server states.
    #[error("{hash} is not the hash of its message")]
    WrongHash {
        /// Hash that the server states.
        hash: MessageHash,
    },
    /// A message does not meet the criteria of the query.
    #[error("{hash} was not asked for")]
    NotAskedFor {
        /// Hash of the message.
        hash: MessageHash,
    },
    /// A message is older or newer than its place in the walk allows.
    #[error("{hash} is out of order")]
    Order {
        /// Hash of the message.
        hash: MessageHash,
    },
    /// A message was in an earlier page, or is twice in this one.
    #[error("{hash} is repeated")]
    Repeated {
        /// Hash of the message.
        hash: MessageHash,
    },
    /// The cursor is not the hash of the message at the far end of the page.
    #[error("the cursor {cursor} is not the last message of the page")]
    Cursor {
        /// Cursor that the page carries.
        cursor: MessageHash,
    },
}

impl HistoryReader {
    /// Starts a walk at the first page of `query`, or after its cursor.
    pub fn new(query: HistoryQuery, limits: ReaderLimits) -> Self {
        Self {
            limits,
            query,
            seen: BTreeSet::new(),
            edge_ns: None,
            repeatable: BTreeSet::new(),
            pages: 0,
            ended: false,
        }
    }

    /// Whether every page has been read.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Returns the last good cursor; `None` before the first page, and at the end.
    pub fn cursor(&self) -> Option<MessageHash> {
        self.query.cursor
    }

    /// Returns the request for the next page, with a request id that the caller chooses; `None` if the walk has
    /// ended.
    pub fn request(&self, request_id: impl Into<Arc<str>>) -> Option<StoreRequest> {
        (!self.ended).then(|| StoreRequest {
            request_id: request_id.into(),
            query: self.query.clone(),
        })
    }

    /// Checks and accepts the response to the request with id `request_id`, and returns its page.
    ///
    /// # Errors
    /// [`HistoryReadError`] when the response is not a page, or is detectably false; the walk then stays where it
    /// was.
    pub fn take(&mut self, request_id: &str, bytes: &Bytes) -> Result<ReadPage, HistoryReadError> {
        let response = StoreResponse::decode(bytes, &self.limits.response);
        let response = response.map_err(ServerFault::from)?;
        match response.status {
            StoreStatus::Ok => {}
            status @ (StoreStatus::TooManyRequests | StoreStatus::ServiceUnavailable) => {
                return Err(HistoryReadError::Busy { status });
            }
            status => {
                return Err(HistoryReadError::Refused {
                    status,
                    description: response.description,
                });
            }
        }
        if *response.request_id != *request_id {
            return Err(ServerFault::RequestId.into());
        }
        let (entries, next) = (response.page.entries, response.page.next);
        let edge_ns = self.check(&entries, next)?;
        if self.seen.len() + entries.len() > self.limits.max_messages
            || self.pages == self.limits.max_pages
        {
            return Err(HistoryReadError::TooLong);
        }
        self.pages += 1;
        self.edge_ns = edge_ns;
        self.ended = next.is_none() || entries.is_empty();
        self.query.cursor = next.filter(|_| !self.ended);
        Ok(self.accept(entries))
    }

    /// Continues the walk by the timestamp that it has reached instead of its cursor, for servers that lack the
    /// cursor's message. Messages with that timestamp are requested again but not returned twice. Returns whether
    /// this is possible: the query must be by content and with data, and have reached a message.
    pub fn restart_by_time(&mut self) -> bool {
        let HistoryCriteria::Content(content) = &mut self.query.criteria else {
            return false;
        };
        let (Some(edge_ns), false) = (self.edge_ns, self.ended) else {
            return false;
        };
        match self.query.direction {
            PageDirection::Forward => content.start_ns = Some(edge_ns),
            PageDirection::Backward => content.end_ns = Some(edge_ns),
        }
        self.query.cursor = None;
        self.repeatable = self.seen.clone();
        true
    }

    /// Checks a page without accepting it; returns the timestamp that the walk would reach.
    fn check(
        &self,
        entries: &[HistoryEntry],
        next: Option<MessageHash>,
    ) -> Result<Option<i64>, ServerFault> {
        let (count, limit) = (entries.len(), self.query.limit);
        if count > limit as usize {
            return Err(ServerFault::PageTooLong { count, limit });
        }
        let mut edge_ns = self.edge_ns;
        let mut in_page = BTreeSet::new();
        let mut check = |entry: &HistoryEntry| {
            let hash = entry.hash;
            let repeated = self.seen.contains(&hash) && !self.repeatable.contains(&hash);
            if repeated || !in_page.insert(hash) {
                return Err(ServerFault::Repeated { hash });
            }
            if let Some(data) = entry.data.as_ref().filter(|_| self.query.include_data) {
                self.check_data(hash, data, edge_ns)?;
                edge_ns = Some(data.message.timestamp_ns());
            }
            match &self.query.criteria {
                HistoryCriteria::Hashes(asked) if !asked.contains(&hash) => {
                    Err(ServerFault::NotAskedFor { hash })
                }
                _ => Ok(()),
            }
        };
        match self.query.direction {
            PageDirection::Forward => entries.iter().try_for_each(&mut check)?,
            PageDirection::Backward => entries.iter().rev().try_for_each(&mut check)?,
        }
        let far_end = match self.query.direction {
            PageDirection::Forward => entries.last(),
            PageDirection::Backward => entries.first(),
        };
        match (next, far_end) {
            (Some(cursor), Some(entry)) if cursor != entry.hash => {
                Err(ServerFault::Cursor { cursor })
            }
            _ => Ok(edge_ns),
        }
    }

    fn check_data(
        &self,
        hash: MessageHash,
        data: &HistoryData,
        edge_ns: Option<i64>,
    ) -> Result<(), ServerFault> {
        if message_hash(&data.pubsub_topic, &data.message) != hash {
            return Err(ServerFault::WrongHash { hash });
        }
        if let HistoryCriteria::Content(content) = &self.query.criteria
            && !content.is_met_by(data)
        {
            return Err(ServerFault::NotAskedFor { hash });
        }
        let time_ns = data.message.timestamp_ns();
        let in_order = edge_ns.is_none_or(|edge_ns| match self.query.direction {
            PageDirection::Forward => edge_ns <= time_ns,
            PageDirection::Backward => time_ns <= edge_ns,
        });
        match in_order {
            true => Ok(()),
            false => Err(ServerFault::Order { hash }),
        }
    }

    /// Accepts the entries of a checked page and returns the new ones.
    fn accept(&mut self, entries: Vec<HistoryEntry>) -> ReadPage {
        let mut page = ReadPage {
            ended: self.ended,
            ..ReadPage::default()
        };
        for mut entry in entries {
            if !self.seen.insert(entry.hash) {
                self.repeatable.remove(&entry.hash);
                continue;
            }
            if !self.query.include_data {
                entry.data = None;
            } else if entry.data.is_none() {
                page.unreadable.push(entry.hash);
                continue;
            }
            page.entries.push(entry);
        }
        page
    }
}
