//! Zero-copy decoding of a [`WakuMessage`].

use bytes::Bytes;
use thiserror::Error;
use undertone_wire::{FieldReader, FieldValue, unzigzag};

use super::{MessageLimits, WakuMessage, field};
use crate::wire::WireError;

/// Error of bytes that are not a valid `WakuMessage`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The message is longer than [`MessageLimits::max_message_bytes`].
    #[error("message of {size_bytes} bytes; at most {max_bytes} are accepted")]
    TooLarge {
        /// Length of the input, in bytes.
        size_bytes: usize,
        /// Maximum length, in bytes.
        max_bytes: usize,
    },
    /// The message is not valid protobuf.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// Field 1 is missing; an empty payload must be written explicitly.
    #[error("payload (field 1) is missing; write it even when it is empty")]
    MissingPayload,
    /// Field 2, the content topic, is missing.
    #[error("content_topic (field 2) is missing; write it even when it is empty")]
    MissingContentTopic,
    /// Field 2, the content topic, is not UTF-8.
    #[error("content_topic (field 2) is not UTF-8 from its byte {valid_up_to} on")]
    ContentTopicNotUtf8 {
        /// Length of the valid beginning, in bytes.
        valid_up_to: usize,
    },
    /// Field 11 is longer than [`MessageLimits::max_meta_bytes`].
    #[error("meta (field 11) of {size_bytes} bytes; at most {max_bytes} are accepted")]
    MetaTooLong {
        /// Length of `meta`, in bytes.
        size_bytes: usize,
        /// Maximum length, in bytes.
        max_bytes: usize,
    },
    /// A field declared as 32 bits wide holds more.
    #[error("field {field} holds {value}, which does not fit 32 bits")]
    Exceeds32Bits {
        /// Number of the field.
        field: u32,
        /// Value that was read.
        value: u64,
    },
}

impl DecodeError {
    /// Whether another implementation in use accepts these bytes, so that the peer that forwarded
    /// them may have followed its rules.
    ///
    /// A penalty for such a forwarder would let one author cut us off from honest neighbours: drop
    /// the message without a penalty. nwaku checks neither UTF-8 nor field numbers, and
    /// go-waku skips groups.
    pub fn forwarder_may_be_honest(&self) -> bool {
        matches!(
            self,
            Self::ContentTopicNotUtf8 { .. }
                | Self::Wire(
                    WireError::FieldNumber { .. }
                        | WireError::WireType {
                            wire_type: 3 | 4,
                            ..
                        }
                )
        )
    }
}

impl WakuMessage {
    /// Decodes a message with the default [`MessageLimits`].
    ///
    /// # Errors
    /// The errors of [`decode_with`](Self::decode_with).
    pub fn decode(input: &Bytes) -> Result<Self, DecodeError> {
        Self::decode_with(input, &MessageLimits::default())
    }

    /// Decodes a message whose byte fields share the memory of `input`.
    ///
    /// Presence rules are those of nwaku: payload and content topic are required, the last value of
    /// a repeated field counts, unknown fields and known fields of another wire type are skipped.
    ///
    /// # Errors
    /// [`DecodeError`] when the input is not a valid message or exceeds `limits`.
    pub fn decode_with(input: &Bytes, limits: &MessageLimits) -> Result<Self, DecodeError> {
        if input.len() > limits.max_message_bytes {
            return Err(DecodeError::TooLarge {
                size_bytes: input.len(),
                max_bytes: limits.max_message_bytes,
            });
        }
        let raw = RawFields::read(input)?;
        let payload = raw.payload.ok_or(DecodeError::MissingPayload)?;
        let topic = raw.content_topic.ok_or(DecodeError::MissingContentTopic)?;
        let topic = std::str::from_utf8(topic).map_err(|e| DecodeError::ContentTopicNotUtf8 {
            valid_up_to: e.valid_up_to(),
        })?;
        if let Some(meta) = raw.meta
            && meta.len() > limits.max_meta_bytes
        {
            return Err(DecodeError::MetaTooLong {
                size_bytes: meta.len(),
                max_bytes: limits.max_meta_bytes,
            });
        }
        Ok(Self {
            payload: input.slice_ref(payload),
            content_topic: topic.into(),
            version: raw.version,
            timestamp: raw.timestamp,
            meta: raw.meta.map(|bytes| input.slice_ref(bytes)),
            rate_limit_proof: raw.rate_limit_proof.map(|bytes| input.slice_ref(bytes)),
            ephemeral: raw.ephemeral,
        })
    }
}

impl WakuMessage {
    /// Returns the content topic of an encoded message, without decoding the rest; `None` for bytes
    /// that are not a message, or a topic that is not UTF-8.
    pub fn content_topic_in(input: &[u8]) -> Option<&str> {
        let topic = RawFields::read(input).ok()?.content_topic?;
        std::str::from_utf8(topic).ok()
    }
}

/// Fields of an encoded message, before any of them is checked for meaning.
#[derive(Default)]
struct RawFields<'a> {
    payload: Option<&'a [u8]>,
    content_topic: Option<&'a [u8]>,
    version: Option<u32>,
    timestamp: Option<i64>,
    meta: Option<&'a [u8]>,
    rate_limit_proof: Option<&'a [u8]>,
    ephemeral: Option<bool>,
}

impl<'a> RawFields<'a> {
    fn read(input: &'a [u8]) -> Result<Self, DecodeError> {
        let mut raw = Self::default();
        let mut fields = FieldReader::new(input);
        while let Some((number, value)) = fields.field().map_err(WireError::from)? {
            match (number, value) {
                (field::PAYLOAD, FieldValue::Bytes(bytes)) => raw.payload = Some(bytes),
                (field::CONTENT_TOPIC, FieldValue::Bytes(bytes)) => raw.content_topic = Some(bytes),
                (field::VERSION, FieldValue::Varint(value)) => {
                    raw.version = Some(narrow(number, value)?);
                }
                (field::TIMESTAMP, FieldValue::Varint(value)) => {
                    raw.timestamp = Some(unzigzag(value));
                }
                (field::META, FieldValue::Bytes(bytes)) => raw.meta = Some(bytes),
                (field::RATE_LIMIT_PROOF, FieldValue::Bytes(bytes)) => {
                    raw.rate_limit_proof = Some(bytes);
                }
                (field::EPHEMERAL, FieldValue::Varint(value)) => {
                    raw.ephemeral = Some(narrow(number, value)? != 0);
                }
                _ => {}
            }
        }
        Ok(raw)
    }
}

/// Converts a value to 32 bits. nwaku refuses wider values where protoc truncates them; forwarding
/// messages that nwaku refuses would count against us.
fn narrow(field: u32, value: u64) -> Result<u32, DecodeError> {
    u32::try_from(value).map_err(|_| DecodeError::Exceeds32Bits { field, value })
}
