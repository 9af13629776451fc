//! Message of the transfer protocol, by which one archive sends what the other lacks.
//!
//! The side that has messages opens a stream, writes one [`TransferMessage`] after the other, and closes it. A
//! message proves nothing by itself: the receiver computes its hash, and accepts the message if a session
//! listed that hash as missing and the message is valid by the rules of its network.

use std::sync::Arc;

use bytes::Bytes;
use thiserror::Error;
use undertone_message::{DecodeError, MessageLimits, WakuMessage, WireError};
use undertone_wire::{FieldReader, FieldValue, put_bytes_field};

use crate::history::StoredMessage;

#[cfg(test)]
#[path = "tests/transfer.rs"]
mod tests;

const PUBSUB_TOPIC: u32 = 1;
const MESSAGE: u32 = 2;

/// Maximum size of topic and tags beside a message, in bytes.
const OVERHEAD_MAX: usize = 1024 + 32;

/// Message with its topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferMessage {
    /// Topic that the message was published on.
    pub pubsub_topic: Arc<str>,
    /// Message that is transferred.
    pub message: WakuMessage,
}

/// Error of bytes that are not a transfer message. The peer that sent them is at fault, unless
/// [`DecodeError::forwarder_may_be_honest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The bytes are longer than a message and a topic may be.
    #[error("transfer message of {size_bytes} bytes; at most {max_bytes} are accepted")]
    TooLarge {
        /// Length of the bytes.
        size_bytes: usize,
        /// Maximum length, in bytes.
        max_bytes: usize,
    },
    /// The bytes are not valid protobuf.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// Field 1, the topic, is missing.
    #[error("pubsub topic (field 1) is missing")]
    MissingTopic,
    /// Field 1, the topic, is not UTF-8.
    #[error("pubsub topic (field 1) is not UTF-8")]
    TopicNotUtf8,
    /// Field 2, the message, is missing.
    #[error("message (field 2) is missing")]
    MissingMessage,
    /// The message cannot be decoded.
    #[error(transparent)]
    Message(#[from] DecodeError),
}

impl TransferMessage {
    /// Encodes the message without a length prefix.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_bytes_field(&mut out, PUBSUB_TOPIC, self.pubsub_topic.as_bytes());
        put_bytes_field(&mut out, MESSAGE, &self.message.encode());
        out
    }

    /// Decodes a message that shares the memory of `input`.
    ///
    /// # Errors
    /// [`TransferError`] when the bytes are not such a message or exceed `limits`.
    pub fn decode(input: &Bytes, limits: &MessageLimits) -> Result<Self, TransferError> {
        let max_bytes = limits.max_message_bytes.saturating_add(OVERHEAD_MAX);
        if input.len() > max_bytes {
            return Err(TransferError::TooLarge {
                size_bytes: input.len(),
                max_bytes,
            });
        }
        let (mut topic, mut message) = (None, None);
        let mut fields = FieldReader::new(input);
        while let Some((number, value)) = fields.field().map_err(WireError::from)? {
            match (number, value) {
                (PUBSUB_TOPIC, FieldValue::Bytes(bytes)) => topic = Some(bytes),
                (MESSAGE, FieldValue::Bytes(bytes)) => message = Some(input.slice_ref(bytes)),
                _ => {}
            }
        }
        let topic = std::str::from_utf8(topic.ok_or(TransferError::MissingTopic)?);
        let message = message.ok_or(TransferError::MissingMessage)?;
        Ok(Self {
            pubsub_topic: topic.map_err(|_| TransferError::TopicNotUtf8)?.into(),
            message: WakuMessage::decode_with(&message, limits)?,
        })
    }

    /// Returns the message as an archive stores it, with its hash computed.
    pub fn into_stored(self) -> StoredMessage {
        StoredMessage::new(self.pubsub_topic, self.message)
    }
}
