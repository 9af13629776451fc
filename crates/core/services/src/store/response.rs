//! Store v3 response on the wire: a page of history or a refusal.

use std::sync::Arc;

use bytes::Bytes;
use thiserror::Error;
use undertone_message::{DecodeError, MessageHash, WakuMessage, WireError};
use undertone_wire::{
    FieldReader, FieldValue, bytes_field_len, put_bytes_field, put_bytes_header, put_varint_field,
};

use super::StoreLimits;
use crate::history::{HistoryData, HistoryEntry, HistoryPage};

#[cfg(test)]
#[path = "tests/response.rs"]
mod tests;

/// Field numbers of `StoreQueryResponse`.
mod field {
    pub(super) const REQUEST_ID: u32 = 1;
    pub(super) const STATUS_CODE: u32 = 10;
    pub(super) const STATUS_DESC: u32 = 11;
    pub(super) const MESSAGES: u32 = 20;
    pub(super) const PAGINATION_CURSOR: u32 = 51;
}

/// Field numbers of `WakuMessageKeyValue`.
mod entry_field {
    pub(super) const MESSAGE_HASH: u32 = 1;
    pub(super) const MESSAGE: u32 = 2;
    pub(super) const PUBSUB_TOPIC: u32 = 3;
}

/// Status of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreStatus {
    /// 200: the response is a page.
    Ok,
    /// 300: the archive could not answer the query, for instance because it lacks the cursor.
    BadResponse,
    /// 400: the request is malformed or exceeds a limit.
    BadRequest,
    /// 429: the client sends too many requests, or too many at once.
    TooManyRequests,
    /// 503: the server cannot answer now.
    ServiceUnavailable,
    /// Another code, from another implementation.
    Other(u32),
}

impl StoreStatus {
    /// Returns the status code on the wire.
    pub fn code(self) -> u32 {
        match self {
            Self::Ok => 200,
            Self::BadResponse => 300,
            Self::BadRequest => 400,
            Self::TooManyRequests => 429,
            Self::ServiceUnavailable => 503,
            Self::Other(code) => code,
        }
    }

    /// Returns the status for a code.
    pub fn from_code(code: u32) -> Self {
        match code {
            200 => Self::Ok,
            300 => Self::BadResponse,
            400 => Self::BadRequest,
            429 => Self::TooManyRequests,
            503 => Self::ServiceUnavailable,
            code => Self::Other(code),
        }
    }
}

/// Response to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreResponse {
    /// Request id of the request.
    pub request_id: Arc<str>,
    /// Whether the response is a page or a refusal.
    pub status: StoreStatus,
    /// Human-readable explanation of the status.
    pub description: Arc<str>,
    /// The page; empty in a refusal.
    pub page: HistoryPage,
}

/// Error of a response; the server that sent it is at fault.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ResponseError {
    /// The response is longer than [`StoreLimits::max_response_bytes`].
    #[error("response of {size_bytes} bytes; at most {max_bytes} are accepted")]
    TooLarge {
        /// Length of the response, in bytes.
        size_bytes: usize,
        /// Maximum length, in bytes.
        max_bytes: usize,
    },
    /// The response is not valid protobuf.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A required field is missing.
    #[error("field {field} is missing")]
    Missing {
        /// Number of the field.
        field: u32,
    },
    /// The status code does not fit 32 bits.
    #[error("status code {value} does not fit 32 bits")]
    StatusCode {
        /// Value that was read.
        value: u64,
    },
    /// A text is longer than accepted or not UTF-8.
    #[error("the text of field {field} is not UTF-8 or too long")]
    Text {
        /// Number of the field.
        field: u32,
    },
    /// A hash or cursor is not 32 bytes long.
    #[error("hash of {size_bytes} bytes in field {field}; a hash has 32")]
    HashLength {
        /// Number of the field.
        field: u32,
        /// Length of the hash, in bytes.
        size_bytes: usize,
    },
    /// The response has more messages than [`StoreLimits::max_response_messages`].
    #[error("too many messages; at most {max} are accepted")]
    TooManyMessages {
        /// Maximum number of messages.
        max: usize,
    },
    /// A message has no hash.
    #[error("message {index} has no hash")]
    NoHash {
        /// Index of the message in the page.
        index: usize,
    },
    /// A message cannot be decoded.
    #[error("message {index}: {error}")]
    Message {
        /// Index of the message in the page.
        index: usize,
        /// Decoding error.
        error: DecodeError,
    },
}

impl StoreResponse {
    /// Creates a response without a page.
    pub fn refusal(
        request_id: impl Into<Arc<str>>,
        status: StoreStatus,
        description: impl Into<Arc<str>>,
    ) -> Self {
        Self {
            request_id: request_id.into(),
            status,
            description: description.into(),
            page: HistoryPage::default(),
        }
    }

    /// Encodes the response; request id, status and description are written even when empty, because nwaku
    /// refuses a response without them.
    pub fn encode(&self) -> Vec<u8> {
        // Pages are megabytes long and many are queued: a growing buffer could be up to twice as large.
        let entries: usize = self.page.entries.iter().map(entry_field_len).sum();
        let overhead = response_overhead(&self.request_id, &self.description);
        let mut out = Vec::with_capacity(overhead + entries);
        put_bytes_field(&mut out, field::REQUEST_ID, self.request_id.as_bytes());
        put_varint_field(&mut out, field::STATUS_CODE, u64::from(self.status.code()));
        put_bytes_field(&mut out, field::STATUS_DESC, self.description.as_bytes());
        for entry in &self.page.entries {
            put_bytes_header(&mut out, field::MESSAGES, entry_len(entry));
            put_entry(&mut out, entry);
        }
        if let Some(cursor) = self.page.next {
            put_bytes_field(&mut out, field::PAGINATION_CURSOR, &cursor.0);
        }
        out
    }

    /// Decodes a response whose messages share the memory of `input`.
    ///
    /// A message that other implementations accept and this one does not (see
    /// [`DecodeError::forwarder_may_be_honest`]) becomes an entry without data, so that one such message does
    /// not hide the history around it. An absent description counts as empty, since some protobuf libraries omit
    /// it then.
    ///
    /// # Errors
    /// [`ResponseError`] when the bytes are not a response or exceed `limits`.
    pub fn decode(input: &Bytes, limits: &StoreLimits) -> Result<Self, ResponseError> {
        if input.len() > limits.max_response_bytes {
            return Err(ResponseError::TooLarge {
                size_bytes: input.len(),
                max_bytes: limits.max_response_bytes,
            });
        }
        let (mut request_id, mut status, mut description) = (None, None, "");
        let mut page = HistoryPage::default();
        let mut fields = FieldReader::new(input);
        while let Some((number, value)) = fields.field().map_err(WireError::from)? {
            match (number, value) {
                (field::REQUEST_ID, FieldValue::Bytes(bytes)) => {
                    request_id = Some(text(number, bytes, limits.max_request_id_bytes)?);
                }
                (field::STATUS_CODE, FieldValue::Varint(value)) => {
                    let code = u32::try_from(value);
                    let code = code.map_err(|_| ResponseError::StatusCode { value })?;
                    status = Some(StoreStatus::from_code(code));
                }
                (field::STATUS_DESC, FieldValue::Bytes(bytes)) => {
                    description = text(number, bytes, limits.max_description_bytes)?;
                }
                (field::MESSAGES, FieldValue::Bytes(bytes)) => {
                    let (index, max) = (page.entries.len(), limits.max_response_messages);
                    if index == max {
                        return Err(ResponseError::TooManyMessages { max });
                    }
                    page.entries
                        .push(read_entry(index, &input.slice_ref(bytes), limits)?);
                }
                (field::PAGINATION_CURSOR, FieldValue::Bytes(bytes)) => {
                    page.next = Some(hash(number, bytes)?);
                }
                _ => {}
            }
        }
        let missing = |field| ResponseError::Missing { field };
        Ok(Self {
            request_id: request_id.ok_or(missing(field::REQUEST_ID))?.into(),
            status: status.ok_or(missing(field::STATUS_CODE))?,
            description: description.into(),
            page,
        })
    }
}

/// Returns the number of bytes that an entry takes in a response, with its tag and length.
pub(super) fn entry_field_len(entry: &HistoryEntry) -> usize {
    bytes_field_len(field::MESSAGES, entry_len(entry))
}

/// Returns the maximum number of bytes of a response besides its entries.
pub(super) fn response_overhead(request_id: &str, description: &str) -> usize {
    bytes_field_len(field::REQUEST_ID, request_id.len())
        + bytes_field_len(field::STATUS_DESC, description.len())
        + bytes_field_len(field::PAGINATION_CURSOR, 32)
        + undertone_wire::varint_field_len(field::STATUS_CODE, u64::from(u32::MAX))
}

fn entry_len(entry: &HistoryEntry) -> usize {
    let data = entry.data.as_ref().map_or(0, |data| {
        bytes_field_len(entry_field::MESSAGE, data.message.encoded_len())
            + bytes_field_len(entry_field::PUBSUB_TOPIC, data.pubsub_topic.len())
    });
    bytes_field_len(entry_field::MESSAGE_HASH, entry.hash.0.len()) + data
}

fn put_entry(out: &mut Vec<u8>, entry: &HistoryEntry) {
    put_bytes_field(out, entry_field::MESSAGE_HASH, &entry.hash.0);
    if let Some(data) = &entry.data {
        put_bytes_field(out, entry_field::MESSAGE, &data.message.encode());
        put_bytes_field(out, entry_field::PUBSUB_TOPIC, data.pubsub_topic.as_bytes());
    }
}

fn read_entry(
    index: usize,
    input: &Bytes,
    limits: &StoreLimits,
) -> Result<HistoryEntry, ResponseError> {
    let (mut key, mut message, mut topic) = (None, None, None);
    let mut fields = FieldReader::new(input);
    while let Some((number, value)) = fields.field().map_err(WireError::from)? {
        let FieldValue::Bytes(bytes) = value else {
            continue;
        };
        match number {
            entry_field::MESSAGE_HASH => key = Some(hash(number, bytes)?),
            entry_field::MESSAGE => message = Some(input.slice_ref(bytes)),
            entry_field::PUBSUB_TOPIC => {
                topic = Some(text(number, bytes, limits.max_topic_bytes)?);
            }
            _ => {}
        }
    }
    let data = match (message, topic) {
        (Some(message), Some(topic)) => match WakuMessage::decode_with(&message, &limits.message) {
            Ok(message) => Some(HistoryData {
                pubsub_topic: topic.into(),
                message,
            }),
            Err(error) if error.forwarder_may_be_honest() => None,
            Err(error) => return Err(ResponseError::Message { index, error }),
        },
        _ => None,
    };
    let hash = key.ok_or(ResponseError::NoHash { index })?;
    Ok(HistoryEntry { hash, data })
}

fn text(field: u32, bytes: &[u8], max_bytes: usize) -> Result<&str, ResponseError> {
    let text = Some(bytes).filter(|bytes| bytes.len() <= max_bytes);
    text.and_then(|bytes| std::str::from_utf8(bytes).ok())
        .ok_or(ResponseError::Text { field })
}

fn hash(field: u32, bytes: &[u8]) -> Result<MessageHash, ResponseError> {
    let hash = bytes.try_into().map_err(|_| ResponseError::HashLength {
        field,
        size_bytes: bytes.len(),
    })?;
    Ok(MessageHash(hash))
}
