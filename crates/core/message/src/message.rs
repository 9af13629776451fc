//! `WakuMessage` (RFC 14): the envelope that every relay message carries.

use std::sync::Arc;

use bytes::Bytes;

mod decode;
mod encode;

#[cfg(test)]
#[path = "tests/message.rs"]
mod tests;

pub use decode::DecodeError;

/// Field numbers of the `WakuMessage` protobuf.
mod field {
    pub(super) const PAYLOAD: u32 = 1;
    pub(super) const CONTENT_TOPIC: u32 = 2;
    pub(super) const VERSION: u32 = 3;
    pub(super) const TIMESTAMP: u32 = 10;
    pub(super) const META: u32 = 11;
    pub(super) const RATE_LIMIT_PROOF: u32 = 21;
    pub(super) const EPHEMERAL: u32 = 31;
}

/// Maximum length of `meta` that the network accepts, in bytes (RFC 14).
pub const MAX_META_BYTES: usize = 64;

/// A Waku message as applications see it.
///
/// `None` means that the field was absent on the wire, which some encoders use for default values
/// and others do not; the two forms have equal hashes but different gossip message ids, so a relay
/// forwards the bytes it received and never encodes a message again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WakuMessage {
    /// Application bytes, possibly empty.
    pub payload: Bytes,
    /// Content topic, the subject of the message, e.g. `/my-app/1/chat/proto`; not parsed here.
    pub content_topic: Arc<str>,
    /// Payload encryption scheme (RFC 26); absent means 0, "decided by the application".
    pub version: Option<u32>,
    /// Time of the message's creation, Unix time in nanoseconds.
    pub timestamp: Option<i64>,
    /// Application bytes that take part in the hash, at most [`MAX_META_BYTES`].
    pub meta: Option<Bytes>,
    /// Serialized `RateLimitProof` (RFC 17), opaque to this crate.
    pub rate_limit_proof: Option<Bytes>,
    /// `true` asks store nodes not to keep the message.
    pub ephemeral: Option<bool>,
}

impl WakuMessage {
    /// Creates a message with a payload and a content topic and no other field.
    pub fn new(payload: impl Into<Bytes>, content_topic: impl Into<Arc<str>>) -> Self {
        Self {
            payload: payload.into(),
            content_topic: content_topic.into(),
            version: None,
            timestamp: None,
            meta: None,
            rate_limit_proof: None,
            ephemeral: None,
        }
    }

    /// Returns the timestamp as Unix time in nanoseconds; an absent timestamp reads as 0, as in the
    /// hash and the RLN signal.
    pub fn timestamp_ns(&self) -> i64 {
        self.timestamp.unwrap_or(0)
    }

    /// Returns the bytes of `meta`, empty when absent.
    pub fn meta_bytes(&self) -> &[u8] {
        self.meta.as_deref().unwrap_or(&[])
    }

    /// Whether store nodes should forget the message.
    pub fn is_ephemeral(&self) -> bool {
        self.ephemeral.unwrap_or(false)
    }
}

/// Limits on messages from a remote, checked before anything is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageLimits {
    /// Maximum length of an encoded message, in bytes.
    pub max_message_bytes: usize,
    /// Maximum length of `meta`, in bytes.
    pub max_meta_bytes: usize,
}

impl Default for MessageLimits {
    /// Returns 1 MiB, the most that any known network carries, and the `meta` bound of RFC 14.
    fn default() -> Self {
        Self {
            max_message_bytes: 1024 * 1024,
            max_meta_bytes: MAX_META_BYTES,
        }
    }
}
