//! The signal hash, which binds a proof to its message.

use crate::field::{Fr, hash_to_field};

/// Computes `x = H(payload || content topic || timestamp)`.
///
/// The timestamp (Unix nanoseconds) is hashed as 8 little-endian bytes. Neither the pubsub topic nor the
/// message's meta field is hashed, and no part is length-prefixed (nwaku's `toRLNSignal`).
pub fn signal_hash(payload: &[u8], content_topic: &str, timestamp_ns: i64) -> Fr {
    hash_to_field(&[
        payload,
        content_topic.as_bytes(),
        &timestamp_ns.to_le_bytes(),
    ])
}

#[cfg(test)]
#[path = "tests/signal.rs"]
mod tests;
