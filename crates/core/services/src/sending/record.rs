//! Records from which a queue is restored after a crash.
//!
//! A record is one version byte, protobuf fields, and the first four bytes of the SHA-256 of both, which
//! reveal a partly written record.

use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest, Sha256};
use thiserror::Error;
use undertone_message::{DecodeError, MessageLimits, WakuMessage};
use undertone_wire::{FieldError, FieldReader, FieldValue, put_bytes_field, put_varint_field};

use super::config::SenderLimits;
use super::io::SendId;
use super::part::{PartEnd, PartPlace};

#[cfg(test)]
#[path = "tests/record.rs"]
mod tests;

/// Version of the encoding.
pub const RECORD_VERSION: u8 = 1;

const CHECKSUM_BYTES: usize = 4;
/// Maximum overhead of a record beside message and topic, in bytes.
const OVERHEAD_BYTES: usize = 128;

mod field {
    pub(super) const ID: u32 = 1;
    pub(super) const PUBSUB_TOPIC: u32 = 2;
    pub(super) const MESSAGE: u32 = 3;
    pub(super) const CREATED_NS: u32 = 4;
    pub(super) const STAGE: u32 = 5;
    pub(super) const ATTEMPT: u32 = 6;
    pub(super) const IS_SELF_STAMPED: u32 = 7;
    pub(super) const IS_GIVEN: u32 = 8;
    pub(super) const WHOLE: u32 = 9;
    pub(super) const PARTS: u32 = 10;
    pub(super) const END: u32 = 11;
}

/// Persisted stage of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SendStage {
    Queued,
    /// A proof has been asked for.
    Proving,
    /// The message is ready to be sent, or has been.
    Ready,
    Propagated,
    /// The fragment has ended, but others of its message have not.
    Ended,
}

/// Persisted message, or fragment of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SendRecord {
    pub(crate) id: SendId,
    pub(crate) pubsub_topic: Arc<str>,
    /// The message, with its proof if it has one.
    pub(crate) message: WakuMessage,
    /// Time of queueing, Unix nanoseconds.
    pub(crate) created_ns: u64,
    pub(crate) stage: SendStage,
    /// Number of the last proof requested.
    pub(crate) attempt: u32,
    /// Whether the sender chose the timestamp.
    pub(crate) is_self_stamped: bool,
    /// Whether the message was sent to the relay or a lightpush peer.
    pub(crate) is_given: bool,
    /// Place in the message that this is a fragment of.
    pub(crate) part: Option<PartPlace>,
    /// Final state of a fragment; `Some` only at the stage [`SendStage::Ended`].
    pub(crate) end: Option<PartEnd>,
}

/// Error of an invalid record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendRecordError {
    /// The record is longer than any that a sender with these limits writes.
    #[error("record of {size_bytes} bytes; at most {max} are accepted")]
    TooLarge {
        /// Length of the record, in bytes.
        size_bytes: usize,
        /// Maximum length, in bytes.
        max: usize,
    },
    /// The record was written in part or damaged.
    #[error("the record is damaged")]
    Damaged,
    /// The record has another version.
    #[error("record of version {0}; this is version {RECORD_VERSION}")]
    Version(u8),
    /// The fields are not valid protobuf.
    #[error(transparent)]
    Wire(#[from] FieldError),
    /// The message is not valid.
    #[error(transparent)]
    Message(#[from] DecodeError),
    /// A field is missing or has an invalid value.
    #[error("field {0} is missing or has a value without meaning")]
    Field(u32),
    /// The queue is full, or holds this message already.
    #[error("the queue has no place for the record")]
    NoPlace,
}

impl SendRecord {
    pub(crate) fn encode(&self) -> Bytes {
        let mut out = vec![RECORD_VERSION];
        put_varint_field(&mut out, field::ID, self.id.0);
        put_bytes_field(&mut out, field::PUBSUB_TOPIC, self.pubsub_topic.as_bytes());
        put_bytes_field(&mut out, field::MESSAGE, &self.message.encode());
        put_varint_field(&mut out, field::CREATED_NS, self.created_ns);
        put_varint_field(&mut out, field::STAGE, self.stage as u64);
        put_varint_field(&mut out, field::ATTEMPT, u64::from(self.attempt));
        put_varint_field(
            &mut out,
            field::IS_SELF_STAMPED,
            u64::from(self.is_self_stamped),
        );
        put_varint_field(&mut out, field::IS_GIVEN, u64::from(self.is_given));
        if let Some(place) = self.part {
            put_varint_field(&mut out, field::WHOLE, place.whole.0);
            put_varint_field(&mut out, field::PARTS, place.count);
        }
        if let Some(end) = self.end {
            put_varint_field(&mut out, field::END, end as u64);
        }
        let checksum = checksum(&out);
        out.extend(checksum);
        out.into()
    }

    pub(crate) fn decode(input: &Bytes, limits: &SenderLimits) -> Result<Self, SendRecordError> {
        let max = limits
            .max_message_bytes
            .saturating_add(limits.max_topic_bytes)
            .saturating_add(OVERHEAD_BYTES);
        if input.len() > max {
            return Err(SendRecordError::TooLarge {
                size_bytes: input.len(),
                max,
            });
        }
        let (body, sum) = input
            .split_last_chunk::<CHECKSUM_BYTES>()
            .ok_or(SendRecordError::Damaged)?;
        if checksum(body) != *sum {
            return Err(SendRecordError::Damaged);
        }
        let (version, body) = body.split_first().ok_or(SendRecordError::Damaged)?;
        if *version != RECORD_VERSION {
            return Err(SendRecordError::Version(*version));
        }
        let mut id = None;
        let mut topic = None;
        let mut message = None;
        let mut created_ns = None;
        let mut stage = None;
        let mut attempt = 0;
        let mut is_self_stamped = false;
        let mut is_given = false;
        let (mut whole, mut parts, mut end) = (None, 0, None);
        let mut fields = FieldReader::new(body);
        while let Some((number, value)) = fields.field()? {
            match (number, value) {
                (field::ID, FieldValue::Varint(value)) => id = Some(SendId(value)),
                (field::PUBSUB_TOPIC, FieldValue::Bytes(bytes)) => topic = Some(bytes),
                (field::MESSAGE, FieldValue::Bytes(bytes)) => message = Some(bytes),
                (field::CREATED_NS, FieldValue::Varint(value)) => created_ns = Some(value),
                (field::STAGE, FieldValue::Varint(value)) => stage = SendStage::from_number(value),
                (field::ATTEMPT, FieldValue::Varint(value)) => {
                    attempt = u32::try_from(value).map_err(|_| SendRecordError::Field(number))?;
                }
                (field::IS_SELF_STAMPED, FieldValue::Varint(value)) => is_self_stamped = value != 0,
                (field::IS_GIVEN, FieldValue::Varint(value)) => is_given = value != 0,
                (field::WHOLE, FieldValue::Varint(value)) => whole = Some(SendId(value)),
                (field::PARTS, FieldValue::Varint(value)) => parts = value,
                (field::END, FieldValue::Varint(value)) => end = PartEnd::from_number(value),
                _ => {}
            }
        }
        let topic = topic
            .filter(|topic| topic.len() <= limits.max_topic_bytes)
            .and_then(|topic| std::str::from_utf8(topic).ok())
            .ok_or(SendRecordError::Field(field::PUBSUB_TOPIC))?;
        let message = message.ok_or(SendRecordError::Field(field::MESSAGE))?;
        let id = id.ok_or(SendRecordError::Field(field::ID))?;
        let stage = stage.ok_or(SendRecordError::Field(field::STAGE))?;
        let place = |whole| PartPlace::of(id, whole, parts);
        let part = whole.map(|whole| place(whole).ok_or(SendRecordError::Field(field::PARTS)));
        let part = part.transpose()?;
        if (stage == SendStage::Ended) != end.is_some() || end.is_some() && part.is_none() {
            return Err(SendRecordError::Field(field::END));
        }
        let mut message_limits = MessageLimits::default();
        message_limits.max_message_bytes = limits.max_message_bytes;
        Ok(Self {
            id,
            pubsub_topic: topic.into(),
            message: WakuMessage::decode_with(&input.slice_ref(message), &message_limits)?,
            created_ns: created_ns.ok_or(SendRecordError::Field(field::CREATED_NS))?,
            stage,
            attempt,
            is_self_stamped,
            is_given,
            part,
            end,
        })
    }
}

impl SendRecord {
    /// Reduces a fragment's record to the fact that it ended.
    pub(crate) fn end_part(&mut self, end: PartEnd) {
        self.message.payload = Bytes::new();
        self.message.rate_limit_proof = None;
        self.stage = SendStage::Ended;
        self.end = Some(end);
    }
}

impl SendStage {
    fn from_number(number: u64) -> Option<Self> {
        use SendStage::{Ended, Propagated, Proving, Queued, Ready};
        [Queued, Proving, Ready, Propagated, Ended]
            .into_iter()
            .find(|stage| *stage as u64 == number)
    }
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    [digest[0], digest[1], digest[2], digest[3]]
}
