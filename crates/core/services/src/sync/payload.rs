//! Reconciliation payload: time ranges, each with the fingerprint or the identities of its messages.
//!
//! The format is nwaku's. Counts, lengths and times are LEB128 numbers; a time is the difference to the previous one.
//! A range begins where the previous one ends, and the first one at the first time of the payload. The end of a range
//! is exclusive. Its hash is zero, except when the range ends at the timestamp where it begins: then the payload has
//! the first bytes of the hash, and the rest are zeros.

use std::sync::Arc;

use thiserror::Error;
use undertone_message::MessageHash;
use undertone_wire::{put_varint, read_varint};

use super::{Fingerprint, SyncId, SyncLimits};

#[cfg(test)]
#[path = "tests/payload.rs"]
mod tests;

const SKIP: u8 = 0;
const FINGERPRINT: u8 = 1;
const ITEM_SET: u8 = 2;

/// Largest timestamp: nwaku reads nine bytes of a LEB128 number, which hold 63 bits.
const TIME_MAX: u64 = i64::MAX as u64;

/// Payload of one turn of a session. A payload without ranges ends the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangesPayload {
    /// Pubsub topics whose messages the sender wants to compare; empty for all.
    pub pubsub_topics: Vec<Arc<str>>,
    /// Content topics whose messages the sender wants to compare; empty for all.
    pub content_topics: Vec<Arc<str>>,
    /// Ranges in ascending order, each beginning where the one before it ends.
    pub ranges: Vec<SyncRange>,
}

/// Range of identities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncRange {
    /// Least identity of the range.
    pub lower: SyncId,
    /// Smallest identity after the range.
    pub upper: SyncId,
    /// Content that the sender states for the range.
    pub content: RangeContent,
}

/// Statement about a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RangeContent {
    /// There is nothing more to compare in the range.
    Skip,
    /// Fingerprint of the sender's messages.
    Fingerprint(Fingerprint),
    /// The sender's messages.
    Items(ItemSet),
}

/// Messages of a range, listed individually.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemSet {
    /// Identities in ascending order.
    pub elements: Vec<SyncId>,
    /// Whether the sender knows the receiver's messages of the range already and wants no answer.
    pub reconciled: bool,
}

/// Error of bytes that are not a payload; the peer that sent them is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// The payload is longer than [`SyncLimits::max_payload_bytes`].
    #[error("payload of {size_bytes} bytes; at most {max_bytes} are accepted")]
    TooLarge {
        /// Length of the payload, in bytes.
        size_bytes: usize,
        /// Maximum length, in bytes.
        max_bytes: usize,
    },
    /// A value extends past the end of the payload, or a number does not fit 64 bits.
    #[error("no valid value at byte {offset}")]
    Value {
        /// Offset of the value, in bytes.
        offset: usize,
    },
    /// A time exceeds 63 bits.
    #[error("the time at byte {offset} is too large")]
    Time {
        /// Offset of the time, in bytes.
        offset: usize,
    },
    /// The payload has more topics than [`SyncLimits::max_topics`].
    #[error("{count} topics; at most {max} are accepted")]
    TooManyTopics {
        /// Number of topics.
        count: u64,
        /// Maximum number of topics.
        max: usize,
    },
    /// A topic is not UTF-8 or longer than [`SyncLimits::max_topic_bytes`].
    #[error("the topic at byte {offset} is not UTF-8 or too long")]
    Topic {
        /// Offset of the topic, in bytes.
        offset: usize,
    },
    /// The payload has more ranges than [`SyncLimits::max_ranges`].
    #[error("too many ranges; at most {max} are accepted")]
    TooManyRanges {
        /// Maximum number of ranges.
        max: usize,
    },
    /// The type of a range, or the flag of an item set, has an undefined value.
    #[error("byte {offset} is {value}, which is undefined")]
    Undefined {
        /// Offset of the byte.
        offset: usize,
        /// Value of the byte.
        value: u8,
    },
    /// A range ends before it begins.
    #[error("the range that ends at byte {offset} goes backward")]
    Backward {
        /// Offset after the range's end, in bytes.
        offset: usize,
    },
    /// A message is outside its range, or out of order.
    #[error("the message that ends at byte {offset} is out of place")]
    Misplaced {
        /// Offset after the message, in bytes.
        offset: usize,
    },
}

impl RangesPayload {
    /// Encodes the payload. The ranges must follow each other as the type requires. A range that spans more than one
    /// timestamp must end at a hash of zero, which a reader assumes.
    pub fn encode(&self) -> Vec<u8> {
        let Some(first) = self.ranges.first() else {
            return vec![0];
        };
        let mut out = Vec::new();
        for topics in [&self.pubsub_topics, &self.content_topics] {
            put_varint(&mut out, topics.len() as u64);
            for topic in topics {
                put_varint(&mut out, topic.len() as u64);
                out.extend_from_slice(topic.as_bytes());
            }
        }
        let mut time_ns = first.lower.time_ns;
        put_varint(&mut out, time_ns);
        for range in &self.ranges {
            let step_ns = range.upper.time_ns.saturating_sub(time_ns);
            time_ns = range.upper.time_ns;
            put_varint(&mut out, step_ns);
            if step_ns == 0 {
                let hash = &range.upper.hash.0;
                let len = hash
                    .iter()
                    .rposition(|&byte| byte != 0)
                    .map_or(0, |at| at + 1);
                out.push(len as u8);
                out.extend_from_slice(&hash[..len]);
            }
            put_content(&mut out, &range.content);
        }
        out
    }

    /// Decodes a payload. It allocates at most a small multiple of the payload's length.
    ///
    /// # Errors
    /// [`PayloadError`] when the bytes are not a payload or exceed `limits`.
    pub fn decode(input: &[u8], limits: &SyncLimits) -> Result<Self, PayloadError> {
        if input.len() > limits.max_payload_bytes {
            return Err(PayloadError::TooLarge {
                size_bytes: input.len(),
                max_bytes: limits.max_payload_bytes,
            });
        }
        // A payload of one byte ends the session, as does an empty one where no topic is shared.
        if input.len() <= 1 {
            return Ok(Self::default());
        }
        let mut reader = PayloadReader { input, at: 0 };
        let pubsub_topics = reader.topics(limits)?;
        let content_topics = reader.topics(limits)?;
        let mut ranges = Vec::new();
        let mut lower = SyncId::at(reader.time(0)?);
        while reader.at < input.len() {
            if ranges.len() == limits.max_ranges {
                let max = limits.max_ranges;
                return Err(PayloadError::TooManyRanges { max });
            }
            let range = reader.range(lower)?;
            lower = range.upper;
            ranges.push(range);
        }
        Ok(Self {
            pubsub_topics,
            content_topics,
            ranges,
        })
    }
}

fn put_content(out: &mut Vec<u8>, content: &RangeContent) {
    match content {
        RangeContent::Skip => out.push(SKIP),
        RangeContent::Fingerprint(fingerprint) => {
            out.push(FINGERPRINT);
            out.extend_from_slice(&fingerprint.0);
        }
        RangeContent::Items(items) => {
            out.push(ITEM_SET);
            put_varint(out, items.elements.len() as u64);
            let mut time_ns = 0;
            for id in &items.elements {
                put_varint(out, id.time_ns.saturating_sub(time_ns));
                time_ns = id.time_ns;
                out.extend_from_slice(&id.hash.0);
            }
            out.push(u8::from(items.reconciled));
        }
    }
}

/// Reader of a payload from front to back.
struct PayloadReader<'a> {
    input: &'a [u8],
    at: usize,
}

impl<'a> PayloadReader<'a> {
    fn number(&mut self) -> Result<u64, PayloadError> {
        let offset = self.at;
        let rest = self.input.get(offset..).unwrap_or_default();
        let (value, len) = read_varint(rest).map_err(|_| PayloadError::Value { offset })?;
        self.at += len;
        Ok(value)
    }

    fn take(&mut self, len: u64) -> Result<&'a [u8], PayloadError> {
        let rest = self.input.get(self.at..).unwrap_or_default();
        let taken = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        let taken = taken.ok_or(PayloadError::Value { offset: self.at })?;
        self.at += taken.len();
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, PayloadError> {
        let offset = self.at;
        let byte = self.input.get(offset);
        self.at += 1;
        byte.copied().ok_or(PayloadError::Value { offset })
    }

    fn hash(&mut self) -> Result<[u8; 32], PayloadError> {
        let offset = self.at;
        let bytes = self.take(32)?;
        bytes.try_into().map_err(|_| PayloadError::Value { offset })
    }

    /// Reads a time as the difference to `before_ns`.
    fn time(&mut self, before_ns: u64) -> Result<u64, PayloadError> {
        let offset = self.at;
        let time_ns = before_ns.checked_add(self.number()?);
        let time_ns = time_ns.filter(|&time_ns| time_ns <= TIME_MAX);
        time_ns.ok_or(PayloadError::Time { offset })
    }

    fn topics(&mut self, limits: &SyncLimits) -> Result<Vec<Arc<str>>, PayloadError> {
        let (count, max) = (self.number()?, limits.max_topics);
        if count > max as u64 {
            return Err(PayloadError::TooManyTopics { count, max });
        }
        let mut topics = Vec::new();
        for _ in 0..count {
            let len = self.number()?;
            let offset = self.at;
            let bytes = self.take(len)?;
            let text = Some(bytes).filter(|bytes| bytes.len() <= limits.max_topic_bytes);
            let text = text.and_then(|bytes| std::str::from_utf8(bytes).ok());
            topics.push(text.ok_or(PayloadError::Topic { offset })?.into());
        }
        Ok(topics)
    }

    fn range(&mut self, lower: SyncId) -> Result<SyncRange, PayloadError> {
        let mut upper = SyncId::at(self.time(lower.time_ns)?);
        if upper.time_ns == lower.time_ns {
            let offset = self.at;
            let len = self.byte()?;
            let target = upper.hash.0.get_mut(..usize::from(len));
            let target = target.ok_or(PayloadError::Undefined { offset, value: len })?;
            target.copy_from_slice(self.take(u64::from(len))?);
        }
        if upper < lower {
            return Err(PayloadError::Backward { offset: self.at });
        }
        let offset = self.at;
        let content = match self.byte()? {
            SKIP => RangeContent::Skip,
            FINGERPRINT => RangeContent::Fingerprint(Fingerprint(self.hash()?)),
            ITEM_SET => RangeContent::Items(self.items(lower, upper)?),
            value => return Err(PayloadError::Undefined { offset, value }),
        };
        Ok(SyncRange {
            lower,
            upper,
            content,
        })
    }

    fn items(&mut self, lower: SyncId, upper: SyncId) -> Result<ItemSet, PayloadError> {
        let count = self.number()?;
        let mut elements: Vec<SyncId> = Vec::new();
        let mut time_ns = 0;
        for _ in 0..count {
            time_ns = self.time(time_ns)?;
            let id = SyncId {
                time_ns,
                hash: MessageHash(self.hash()?),
            };
            let behind_last = elements.last().is_none_or(|last| *last < id);
            if !behind_last || id < lower || upper <= id {
                return Err(PayloadError::Misplaced { offset: self.at });
            }
            elements.push(id);
        }
        let offset = self.at;
        let reconciled = match self.byte()? {
            0 => false,
            1 => true,
            value => return Err(PayloadError::Undefined { offset, value }),
        };
        Ok(ItemSet {
            elements,
            reconciled,
        })
    }
}
