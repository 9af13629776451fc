//! Store v3 request on the wire: the query for one page of history.

use std::sync::Arc;

use thiserror::Error;
use undertone_message::{MessageHash, WireError};
use undertone_wire::{
    FieldReader, FieldValue, put_bytes_field, put_varint_field, unzigzag, zigzag,
};

use super::StoreLimits;
use crate::history::{
    ContentCriteria, HistoryCriteria, HistoryQuery, PAGE_DEFAULT, PAGE_MAX, PageDirection,
};

#[cfg(test)]
#[path = "tests/request.rs"]
mod tests;

/// Field numbers of `StoreQueryRequest`.
mod field {
    pub(super) const REQUEST_ID: u32 = 1;
    pub(super) const INCLUDE_DATA: u32 = 2;
    pub(super) const PUBSUB_TOPIC: u32 = 10;
    pub(super) const CONTENT_TOPICS: u32 = 11;
    pub(super) const TIME_START: u32 = 12;
    pub(super) const TIME_END: u32 = 13;
    pub(super) const MESSAGE_HASHES: u32 = 20;
    pub(super) const PAGINATION_CURSOR: u32 = 51;
    pub(super) const PAGINATION_FORWARD: u32 = 52;
    pub(super) const PAGINATION_LIMIT: u32 = 53;
}

/// Request for one page of history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreRequest {
    /// Text by which the client matches the response.
    pub request_id: Arc<str>,
    /// Query of the client.
    pub query: HistoryQuery,
}

/// Error of a request; the client that sent it is at fault.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The request is longer than [`StoreLimits::max_request_bytes`].
    #[error("request of {size_bytes} bytes; at most {max_bytes} are accepted")]
    TooLarge {
        /// Length of the request, in bytes.
        size_bytes: usize,
        /// Maximum length, in bytes.
        max_bytes: usize,
    },
    /// The request is not valid protobuf.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// Field 1, the request id, is missing.
    #[error("request_id (field 1) is missing; write it even when it is empty")]
    MissingRequestId,
    /// A text is not UTF-8.
    #[error("the text of field {field} is not UTF-8")]
    NotUtf8 {
        /// Number of the field.
        field: u32,
    },
    /// A text is longer than accepted.
    #[error("text of {size_bytes} bytes in field {field}; at most {max_bytes} are accepted")]
    TextTooLong {
        /// Number of the field.
        field: u32,
        /// Length of the text, in bytes.
        size_bytes: usize,
        /// Maximum length, in bytes.
        max_bytes: usize,
    },
    /// A hash or cursor is not 32 bytes long.
    #[error("hash of {size_bytes} bytes in field {field}; a hash has 32")]
    HashLength {
        /// Number of the field.
        field: u32,
        /// Length of the hash, in bytes.
        size_bytes: usize,
    },
    /// The cursor is all zeros, which is not the hash of any message.
    #[error("all zeroes cursor hash")]
    ZeroCursor,
    /// The direction is neither 0 nor 1.
    #[error("pagination_forward (field 52) is {value}; 0 or 1 are defined")]
    Direction {
        /// Value that was read.
        value: u64,
    },
    /// The request has more content topics than [`StoreLimits::max_content_topics`].
    #[error("too many content topics; at most {max} are accepted")]
    TooManyContentTopics {
        /// Maximum number of content topics.
        max: usize,
    },
    /// The request has more hashes than [`StoreLimits::max_hashes`].
    #[error("too many message hashes; at most {max} are accepted")]
    TooManyHashes {
        /// Maximum number of hashes.
        max: usize,
    },
    /// The request combines hashes with content topics or times.
    #[error("message hashes exclude content topics and times")]
    HashesAndContent,
}

impl StoreRequest {
    /// Encodes the request. The direction (field 52) is always written: protobuf encoders omit `false`, and nwaku's
    /// servers take its absence as "forward". The request id is written even when empty, because nwaku refuses a
    /// request without it.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let query = &self.query;
        put_bytes_field(&mut out, field::REQUEST_ID, self.request_id.as_bytes());
        put_varint_field(&mut out, field::INCLUDE_DATA, u64::from(query.include_data));
        match &query.criteria {
            HistoryCriteria::Content(content) => put_content(&mut out, content),
            HistoryCriteria::Hashes(hashes) => hashes
                .iter()
                .for_each(|hash| put_bytes_field(&mut out, field::MESSAGE_HASHES, &hash.0)),
        }
        if let Some(cursor) = query.cursor {
            put_bytes_field(&mut out, field::PAGINATION_CURSOR, &cursor.0);
        }
        let forward = query.direction == PageDirection::Forward;
        put_varint_field(&mut out, field::PAGINATION_FORWARD, u64::from(forward));
        put_varint_field(&mut out, field::PAGINATION_LIMIT, u64::from(query.limit));
        out
    }

    /// Decodes a request. As in nwaku, an absent or zero page size means [`PAGE_DEFAULT`], and one above
    /// [`PAGE_MAX`] means [`PAGE_MAX`]. An absent direction means backward, the protobuf default: js-waku and
    /// go-waku omit it in that case, and no client is known to omit it for forward. nwaku reads it as forward.
    ///
    /// A topic beside hashes, which js-waku sends, is ignored: a hash covers its topic.
    ///
    /// # Errors
    /// [`RequestError`] when the bytes are not a request or exceed `limits`.
    pub fn decode(input: &[u8], limits: &StoreLimits) -> Result<Self, RequestError> {
        if input.len() > limits.max_request_bytes {
            return Err(RequestError::TooLarge {
                size_bytes: input.len(),
                max_bytes: limits.max_request_bytes,
            });
        }
        let raw = RawRequest::read(input, limits)?;
        let content = raw.content;
        let has_content = !content.content_topics.is_empty()
            || content.start_ns.is_some()
            || content.end_ns.is_some();
        let criteria = match (raw.hashes.is_empty(), has_content) {
            (false, true) => return Err(RequestError::HashesAndContent),
            (false, false) => HistoryCriteria::Hashes(raw.hashes),
            (true, _) => HistoryCriteria::Content(content),
        };
        Ok(Self {
            request_id: raw.request_id.ok_or(RequestError::MissingRequestId)?,
            query: HistoryQuery {
                include_data: raw.include_data,
                criteria,
                cursor: raw.cursor,
                direction: raw.direction.unwrap_or(PageDirection::Backward),
                limit: page_size(raw.limit),
            },
        })
    }

    /// Returns the request id of an otherwise invalid request; `None` if it cannot be found or is longer than
    /// `limits` allow.
    pub fn request_id_in<'a>(input: &'a [u8], limits: &StoreLimits) -> Option<&'a str> {
        let input = input.get(..limits.max_request_bytes).unwrap_or(input);
        let mut fields = FieldReader::new(input);
        while let Ok(Some((number, value))) = fields.field() {
            if let (field::REQUEST_ID, FieldValue::Bytes(bytes)) = (number, value) {
                return text(number, bytes, limits.max_request_id_bytes).ok();
            }
        }
        None
    }
}

/// Returns the page size for the number in a request.
fn page_size(limit: Option<u64>) -> u32 {
    match limit {
        None | Some(0) => PAGE_DEFAULT,
        Some(limit) => u32::try_from(limit).unwrap_or(PAGE_MAX).min(PAGE_MAX),
    }
}

fn put_content(out: &mut Vec<u8>, content: &ContentCriteria) {
    if let Some(topic) = &content.pubsub_topic {
        put_bytes_field(out, field::PUBSUB_TOPIC, topic.as_bytes());
    }
    for topic in &content.content_topics {
        put_bytes_field(out, field::CONTENT_TOPICS, topic.as_bytes());
    }
    if let Some(start_ns) = content.start_ns {
        put_varint_field(out, field::TIME_START, zigzag(start_ns));
    }
    if let Some(end_ns) = content.end_ns {
        put_varint_field(out, field::TIME_END, zigzag(end_ns));
    }
}

/// Fields of a request, before they are checked for consistency.
#[derive(Default)]
struct RawRequest {
    request_id: Option<Arc<str>>,
    include_data: bool,
    content: ContentCriteria,
    hashes: Vec<MessageHash>,
    cursor: Option<MessageHash>,
    direction: Option<PageDirection>,
    limit: Option<u64>,
}

impl RawRequest {
    fn read(input: &[u8], limits: &StoreLimits) -> Result<Self, RequestError> {
        let mut raw = Self::default();
        let mut fields = FieldReader::new(input);
        while let Some((number, value)) = fields.field().map_err(WireError::from)? {
            match value {
                FieldValue::Bytes(bytes) => raw.put_bytes(number, bytes, limits)?,
                FieldValue::Varint(value) => raw.put_number(number, value)?,
                FieldValue::Fixed => {}
            }
        }
        Ok(raw)
    }

    fn put_bytes(
        &mut self,
        number: u32,
        bytes: &[u8],
        limits: &StoreLimits,
    ) -> Result<(), RequestError> {
        let topic = || text(number, bytes, limits.max_topic_bytes).map(Arc::from);
        match number {
            field::REQUEST_ID => {
                self.request_id = Some(text(number, bytes, limits.max_request_id_bytes)?.into());
            }
            field::PUBSUB_TOPIC => self.content.pubsub_topic = Some(topic()?),
            field::CONTENT_TOPICS => {
                let max = limits.max_content_topics;
                if self.content.content_topics.len() == max {
                    return Err(RequestError::TooManyContentTopics { max });
                }
                self.content.content_topics.push(topic()?);
            }
            field::MESSAGE_HASHES => {
                let max = limits.max_hashes;
                if self.hashes.len() == max {
                    return Err(RequestError::TooManyHashes { max });
                }
                self.hashes.push(hash(number, bytes)?);
            }
            field::PAGINATION_CURSOR => {
                let cursor = hash(number, bytes)?;
                if cursor.0 == [0; 32] {
                    return Err(RequestError::ZeroCursor);
                }
                self.cursor = Some(cursor);
            }
            _ => {}
        }
        Ok(())
    }

    fn put_number(&mut self, number: u32, value: u64) -> Result<(), RequestError> {
        match number {
            field::INCLUDE_DATA => self.include_data = value != 0,
            field::TIME_START => self.content.start_ns = Some(unzigzag(value)),
            field::TIME_END => self.content.end_ns = Some(unzigzag(value)),
            field::PAGINATION_FORWARD => {
                self.direction = Some(match value {
                    0 => PageDirection::Backward,
                    1 => PageDirection::Forward,
                    value => return Err(RequestError::Direction { value }),
                });
            }
            field::PAGINATION_LIMIT => self.limit = Some(value),
            _ => {}
        }
        Ok(())
    }
}

fn text(field: u32, bytes: &[u8], max_bytes: usize) -> Result<&str, RequestError> {
    if bytes.len() > max_bytes {
        return Err(RequestError::TextTooLong {
            field,
            size_bytes: bytes.len(),
            max_bytes,
        });
    }
    std::str::from_utf8(bytes).map_err(|_| RequestError::NotUtf8 { field })
}

fn hash(field: u32, bytes: &[u8]) -> Result<MessageHash, RequestError> {
    let hash = bytes.try_into().map_err(|_| RequestError::HashLength {
        field,
        size_bytes: bytes.len(),
    })?;
    Ok(MessageHash(hash))
}
