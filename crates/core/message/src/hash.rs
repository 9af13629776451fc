//! Deterministic message hash of RFC 14, by which stores and applications identify messages.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::WakuMessage;

#[cfg(test)]
#[path = "tests/hash.rs"]
mod tests;

/// SHA-256 hash that identifies a message on a pubsub topic; shown as `0x` and 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageHash(pub [u8; 32]);

/// Computes `SHA256(pubsub_topic ‖ payload ‖ content_topic ‖ meta ‖ timestamp)`, the timestamp as
/// eight big-endian bytes and absent fields as empty or zero (RFC 14,
/// "Deterministic message hashing").
pub fn message_hash(pubsub_topic: &str, message: &WakuMessage) -> MessageHash {
    let mut hasher = Sha256::new();
    hasher.update(pubsub_topic);
    hasher.update(&message.payload);
    hasher.update(&*message.content_topic);
    hasher.update(message.meta_bytes());
    hasher.update(message.timestamp_ns().to_be_bytes());
    MessageHash(hasher.finalize().into())
}

impl fmt::Display for MessageHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for MessageHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessageHash({self})")
    }
}
