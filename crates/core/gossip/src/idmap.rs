//! A map keyed by message id, with its own keyed hash and without iteration.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashMap;

use crate::rng::Rng;
use crate::types::MessageId;

/// Keyed hash of message ids. Ids are SHA-256 digests, but a publisher can grind a few bits of one: the
/// secret key prevents chosen bucket collisions without the cost of a full keyed hash.
#[derive(Clone, Copy, Debug)]
struct IdHash {
    xor: u64,
    multiplier: u64,
}

struct IdHasher {
    key: IdHash,
    state: u64,
}

impl BuildHasher for IdHash {
    type Hasher = IdHasher;
    fn build_hasher(&self) -> IdHasher {
        IdHasher {
            key: *self,
            state: self.xor,
        }
    }
}

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let mixed =
                u128::from(self.state ^ u64::from_le_bytes(word)) * u128::from(self.key.multiplier);
            self.state = (mixed as u64) ^ ((mixed >> 64) as u64);
        }
    }

    fn write_usize(&mut self, _: usize) {
        // The length prefix of a fixed-size array carries no information.
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

/// Map from message id to `V`. Nothing can depend on its order, because it has no iteration.
#[derive(Debug)]
pub(crate) struct IdMap<V>(HashMap<MessageId, V, IdHash>);

impl<V> IdMap<V> {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let key = IdHash {
            xor: rng.next_u64(),
            multiplier: rng.next_u64() | 1,
        };
        Self(HashMap::with_hasher(key))
    }

    pub(crate) fn get(&self, id: &MessageId) -> Option<&V> {
        self.0.get(id)
    }

    pub(crate) fn get_mut(&mut self, id: &MessageId) -> Option<&mut V> {
        self.0.get_mut(id)
    }

    pub(crate) fn contains(&self, id: &MessageId) -> bool {
        self.0.contains_key(id)
    }

    pub(crate) fn insert(&mut self, id: MessageId, value: V) -> Option<V> {
        self.0.insert(id, value)
    }

    /// Removes an entry; a map without entries holds no memory.
    pub(crate) fn remove(&mut self, id: &MessageId) -> Option<V> {
        let removed = self.0.remove(id);
        if self.0.is_empty() {
            self.0 = HashMap::with_hasher(*self.0.hasher());
        }
        removed
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
