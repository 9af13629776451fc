//! SDS messages on the wire.

use thiserror::Error;
use undertone_wire::{FieldError, FieldReader, FieldValue, put_bytes_field, put_varint_field};

use super::{Id, SdsLimits};

#[cfg(test)]
#[path = "tests/message.rs"]
mod tests;

const SENDER_ID: u32 = 1;
const MESSAGE_ID: u32 = 2;
const CHANNEL_ID: u32 = 3;
const LAMPORT_TIMESTAMP: u32 = 10;
const CAUSAL_HISTORY: u32 = 11;
const BLOOM_FILTER: u32 = 12;
const REPAIR_REQUEST: u32 = 13;
const CONTENT: u32 = 20;

const ENTRY_MESSAGE_ID: u32 = 1;
const ENTRY_RETRIEVAL_HINT: u32 = 2;
const ENTRY_SENDER_ID: u32 = 3;

/// Reference to a message of the channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CausalHistoryEntry {
    /// Id of the message.
    pub message_id: Id,
    /// Hint for retrieving the message, such as its Waku message hash.
    pub retrieval_hint: Option<Vec<u8>>,
    /// Participant id of the message's sender, for SDS-Repair.
    pub sender_id: Option<Id>,
}

/// Message of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SdsMessage {
    /// Participant id of the sender.
    pub sender_id: Id,
    /// Id of the message.
    pub message_id: Id,
    /// Id of the channel.
    pub channel_id: Id,
    /// Lamport timestamp, near the Unix time in milliseconds; `None` for ephemeral messages.
    pub lamport_timestamp: Option<u64>,
    /// Messages that precede this one.
    pub causal_history: Vec<CausalHistoryEntry>,
    /// Encoded Bloom filter of the messages that the sender has.
    pub bloom_filter: Option<Vec<u8>>,
    /// Messages that the sender asks the channel to resend (SDS-Repair).
    pub repair_request: Vec<CausalHistoryEntry>,
    /// Content for the application; absent or empty in sync messages.
    pub content: Option<Vec<u8>>,
}

/// Kind of a message, determined by the fields that are present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// Message with content and timestamp, which is ordered and acknowledged.
    Content,
    /// Message with a timestamp and no content, which tells others which messages its sender has.
    Sync,
    /// Message with content and no timestamp, which is delivered at once or never.
    Ephemeral,
}

/// Error of decoding a message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The message is longer than [`SdsLimits::max_frame_bytes`](crate::SdsLimits::max_frame_bytes).
    #[error("message of {size_bytes} bytes; at most {max_bytes} are accepted")]
    TooLarge {
        /// Length of the message, in bytes.
        size_bytes: usize,
        /// Maximum length, in bytes.
        max_bytes: usize,
    },
    /// The message is not valid protobuf.
    #[error(transparent)]
    Wire(#[from] FieldError),
    /// An id is not UTF-8.
    #[error("id in field {field} is not UTF-8")]
    NotUtf8 {
        /// Number of the field in its message or entry.
        field: u32,
    },
    /// An id or a retrieval hint is longer than allowed.
    #[error("field {field} of {size_bytes} bytes; at most {max_bytes} are accepted")]
    FieldTooLong {
        /// Number of the field in its message or entry.
        field: u32,
        /// Length of the field, in bytes.
        size_bytes: usize,
        /// Maximum length, in bytes.
        max_bytes: usize,
    },
    /// A list of entries is longer than allowed.
    #[error("field {field} has more than {max} entries")]
    TooManyEntries {
        /// Number of the list's field.
        field: u32,
        /// Maximum number of entries.
        max: usize,
    },
}

impl CausalHistoryEntry {
    /// Creates an entry with only the id.
    pub fn new(message_id: impl Into<Id>) -> Self {
        Self {
            message_id: message_id.into(),
            retrieval_hint: None,
            sender_id: None,
        }
    }

    pub(super) fn encode_into(&self, out: &mut Vec<u8>) {
        if !self.message_id.is_empty() {
            put_bytes_field(out, ENTRY_MESSAGE_ID, self.message_id.as_bytes());
        }
        if let Some(hint) = &self.retrieval_hint {
            put_bytes_field(out, ENTRY_RETRIEVAL_HINT, hint);
        }
        if let Some(sender) = &self.sender_id {
            put_bytes_field(out, ENTRY_SENDER_ID, sender.as_bytes());
        }
    }

    pub(super) fn decode(input: &[u8], limits: &SdsLimits) -> Result<Self, MessageError> {
        let mut entry = Self::new("");
        let mut fields = FieldReader::new(input);
        while let Some(field) = fields.field()? {
            match field {
                (number @ ENTRY_MESSAGE_ID, FieldValue::Bytes(bytes)) => {
                    entry.message_id = read_id(number, bytes, limits)?;
                }
                (field @ ENTRY_RETRIEVAL_HINT, FieldValue::Bytes(bytes)) => {
                    check_length(field, bytes, limits.max_hint_bytes)?;
                    entry.retrieval_hint = Some(bytes.to_vec());
                }
                (number @ ENTRY_SENDER_ID, FieldValue::Bytes(bytes)) => {
                    entry.sender_id = Some(read_id(number, bytes, limits)?);
                }
                _ => {}
            }
        }
        Ok(entry)
    }
}

impl SdsMessage {
    /// Encodes the message as protobuf, without a length prefix.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let ids = [
            (SENDER_ID, &self.sender_id),
            (MESSAGE_ID, &self.message_id),
            (CHANNEL_ID, &self.channel_id),
        ];
        for (number, id) in ids {
            if !id.is_empty() {
                put_bytes_field(&mut out, number, id.as_bytes());
            }
        }
        if let Some(timestamp) = self.lamport_timestamp {
            put_varint_field(&mut out, LAMPORT_TIMESTAMP, timestamp);
        }
        put_entries(&mut out, CAUSAL_HISTORY, &self.causal_history);
        if let Some(filter) = &self.bloom_filter {
            put_bytes_field(&mut out, BLOOM_FILTER, filter);
        }
        put_entries(&mut out, REPAIR_REQUEST, &self.repair_request);
        if let Some(content) = &self.content {
            put_bytes_field(&mut out, CONTENT, content);
        }
        out
    }

    /// Decodes a message of this or another implementation. Unknown fields are skipped, and the last value of a
    /// repeated field counts.
    ///
    /// # Errors
    /// [`MessageError`] when the input is not protobuf or a part exceeds `limits`.
    pub fn decode(input: &[u8], limits: &SdsLimits) -> Result<Self, MessageError> {
        if input.len() > limits.max_frame_bytes {
            return Err(MessageError::TooLarge {
                size_bytes: input.len(),
                max_bytes: limits.max_frame_bytes,
            });
        }
        let mut message = Self {
            sender_id: Id::from(""),
            message_id: Id::from(""),
            channel_id: Id::from(""),
            lamport_timestamp: None,
            causal_history: Vec::new(),
            bloom_filter: None,
            repair_request: Vec::new(),
            content: None,
        };
        let mut fields = FieldReader::new(input);
        while let Some((field, value)) = fields.field()? {
            match (field, value) {
                (SENDER_ID, FieldValue::Bytes(bytes)) => {
                    message.sender_id = read_id(field, bytes, limits)?;
                }
                (MESSAGE_ID, FieldValue::Bytes(bytes)) => {
                    message.message_id = read_id(field, bytes, limits)?;
                }
                (CHANNEL_ID, FieldValue::Bytes(bytes)) => {
                    message.channel_id = read_id(field, bytes, limits)?;
                }
                (LAMPORT_TIMESTAMP, FieldValue::Varint(value)) => {
                    message.lamport_timestamp = Some(value);
                }
                (CAUSAL_HISTORY, FieldValue::Bytes(bytes)) => {
                    let max = limits.max_history_entries;
                    push_entry(&mut message.causal_history, field, bytes, max, limits)?;
                }
                (BLOOM_FILTER, FieldValue::Bytes(bytes)) => {
                    message.bloom_filter = Some(bytes.to_vec());
                }
                (REPAIR_REQUEST, FieldValue::Bytes(bytes)) => {
                    let max = limits.max_repair_entries;
                    push_entry(&mut message.repair_request, field, bytes, max, limits)?;
                }
                (CONTENT, FieldValue::Bytes(bytes)) => message.content = Some(bytes.to_vec()),
                _ => {}
            }
        }
        Ok(message)
    }

    /// Returns the kind of the message; `None` without content and timestamp, which the specification does not
    /// define.
    pub fn kind(&self) -> Option<MessageKind> {
        let has_content = self.content.as_ref().is_some_and(|it| !it.is_empty());
        match (self.lamport_timestamp, has_content) {
            (Some(_), true) => Some(MessageKind::Content),
            (Some(_), false) => Some(MessageKind::Sync),
            (None, true) => Some(MessageKind::Ephemeral),
            (None, false) => None,
        }
    }
}

fn put_entries(out: &mut Vec<u8>, field: u32, entries: &[CausalHistoryEntry]) {
    for entry in entries {
        let mut encoded = Vec::new();
        entry.encode_into(&mut encoded);
        put_bytes_field(out, field, &encoded);
    }
}

fn push_entry(
    into: &mut Vec<CausalHistoryEntry>,
    field: u32,
    bytes: &[u8],
    max: usize,
    limits: &SdsLimits,
) -> Result<(), MessageError> {
    if into.len() >= max {
        return Err(MessageError::TooManyEntries { field, max });
    }
    into.push(CausalHistoryEntry::decode(bytes, limits)?);
    Ok(())
}

fn read_id(field: u32, bytes: &[u8], limits: &SdsLimits) -> Result<Id, MessageError> {
    check_length(field, bytes, limits.max_id_bytes)?;
    let text = std::str::from_utf8(bytes).map_err(|_| MessageError::NotUtf8 { field })?;
    Ok(Id::from(text))
}

fn check_length(field: u32, bytes: &[u8], max_bytes: usize) -> Result<(), MessageError> {
    if bytes.len() > max_bytes {
        return Err(MessageError::FieldTooLong {
            field,
            size_bytes: bytes.len(),
            max_bytes,
        });
    }
    Ok(())
}
