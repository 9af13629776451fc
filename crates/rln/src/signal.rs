//! The signal: what a proof binds its message by.

use crate::field::{Fr, hash_to_field};

/// `x = H(payload || content topic || timestamp)`, the timestamp (unix ns) as a little-endian u64.
///
/// Neither the pubsub topic nor the message's meta field takes part, and nothing is length-prefixed
/// (nwaku's `toRLNSignal`).
pub fn signal_hash(payload: &[u8], content_topic: &str, timestamp_ns: i64) -> Fr {
    hash_to_field(&[
        payload,
        content_topic.as_bytes(),
        &timestamp_ns.to_le_bytes(),
    ])
}

#[cfg(test)]
mod tests;
