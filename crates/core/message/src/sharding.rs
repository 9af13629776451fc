//! Autosharding (RFC 51): the shard that carries a content topic.

use std::num::NonZeroU16;

use sha2::{Digest, Sha256};

use crate::ContentTopic;

#[cfg(test)]
#[path = "tests/sharding.rs"]
mod tests;

/// Computes the index of the shard that carries `topic` in a network of `num_shards`: the last
/// eight bytes of `SHA256(application ‖ version)`, big-endian, modulo the number of shards.
pub fn shard_of(topic: &ContentTopic<'_>, num_shards: NonZeroU16) -> u16 {
    let digest = Sha256::new()
        .chain_update(topic.application)
        .chain_update(topic.version);
    let digest: [u8; 32] = digest.finalize().into();
    let tail = digest
        .last_chunk()
        .expect("a SHA-256 digest has more than eight bytes");
    let index = u64::from_be_bytes(*tail) % u64::from(num_shards.get());
    index as u16
}
