//! Fragmentation: a large payload sent as several messages, each of which is forwarded as soon as it has arrived.
//!
//! Every fragment carries the hashes of all fragments, and the hash of that list identifies the payload. So a fragment
//! is verified when it arrives, and nobody can corrupt a payload with a foreign part. Fragments are ordinary messages:
//! each is validated (and rate-limited) before it is forwarded, and a node that does not know fragments relays them.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::time::Time;

/// Maximum number of fragments of one payload; each carries the list of all their hashes.
pub const FRAGMENTS_MAX: usize = 64;

const MAGIC: [u8; 4] = *b"UFR1";
const HASH_BYTES: usize = 32;
/// Number of bytes of magic number, index and count.
const FIXED_BYTES: usize = MAGIC.len() + 2;

/// Returns the number of bytes that a fragment adds to its part when there are `count` fragments.
pub const fn overhead_bytes(count: usize) -> usize {
    FIXED_BYTES + count * HASH_BYTES
}

/// Splits a payload into at most `count` parts of equal length; the last one may be shorter.
///
/// # Errors
/// Returns [`FragmentError::Count`] unless `count` lies between 2 and the smaller of [`FRAGMENTS_MAX`] and
/// the length of the payload.
pub fn split(payload: &[u8], count: usize) -> Result<Vec<Bytes>, FragmentError> {
    if !(2..=FRAGMENTS_MAX.min(payload.len())).contains(&count) {
        return Err(FragmentError::Count { count });
    }
    let part_bytes = payload.len().div_ceil(count);
    let parts: Vec<&[u8]> = payload.chunks(part_bytes).collect();
    let hashes: Vec<_> = parts.iter().map(Sha256::digest).collect();
    let fragments = parts.iter().enumerate().map(|(index, part)| {
        let mut fragment = BytesMut::with_capacity(overhead_bytes(parts.len()) + part.len());
        fragment.put_slice(&MAGIC);
        fragment.put_u8(index as u8);
        fragment.put_u8(parts.len() as u8);
        hashes.iter().for_each(|hash| fragment.put_slice(hash));
        fragment.put_slice(part);
        fragment.freeze()
    });
    Ok(fragments.collect())
}

/// A fragment whose part matches its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Identity of the payload: SHA-256 of the concatenated hashes of its parts.
    pub whole: [u8; HASH_BYTES],
    /// Index of the part, from 0.
    pub index: usize,
    /// Number of parts of the payload.
    pub count: usize,
    /// Bytes of the part.
    pub part: Bytes,
}

impl Fragment {
    /// Decodes a fragment and verifies its hash. The part shares the memory of `bytes`.
    ///
    /// # Errors
    /// Returns [`FragmentError`] when the bytes are not a valid fragment.
    pub fn read(bytes: &Bytes) -> Result<Self, FragmentError> {
        let head = bytes.get(..FIXED_BYTES).ok_or(FragmentError::Short)?;
        if head[..MAGIC.len()] != MAGIC {
            return Err(FragmentError::Magic);
        }
        let [index, count] = [head[4], head[5]].map(usize::from);
        if !(2..=FRAGMENTS_MAX).contains(&count) || index >= count {
            return Err(FragmentError::Count { count });
        }
        let (from, to) = (FIXED_BYTES, overhead_bytes(count));
        let hashes = bytes.get(from..to).ok_or(FragmentError::Short)?;
        let part = bytes.slice(to..);
        let own = &hashes[index * HASH_BYTES..(index + 1) * HASH_BYTES];
        if Sha256::digest(&part)[..] != *own {
            return Err(FragmentError::Hash { index });
        }
        Ok(Self {
            whole: Sha256::digest(hashes).into(),
            index,
            count,
            part,
        })
    }
}

/// Reason why bytes are not a fragment, or why a payload cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FragmentError {
    /// The payload cannot be split into this many parts, or the fragment's index or count is out of range.
    #[error("{count} fragments: there must be 2 to 64, of at least one byte each")]
    Count {
        /// Number of parts requested or stated.
        count: usize,
    },
    /// The hash of the part is not the one in the list.
    #[error("the hash of part {index} is not the one in the list")]
    Hash {
        /// Index of the part.
        index: usize,
    },
    /// The bytes do not begin with the magic number.
    #[error("the bytes do not begin as a fragment")]
    Magic,
    /// The bytes end before the list of hashes does.
    #[error("the bytes end before the list of hashes does")]
    Short,
}

/// Limits of an [`Assembler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssemblerLimits {
    /// Maximum number of incomplete payloads. Beyond it, the source with the most of them loses the one that has waited
    /// longest for a part. The same number of complete payloads is remembered.
    pub wholes_max: usize,
    /// Maximum number of bytes of parts held. Beyond it, the source with the most bytes loses payloads in the same way.
    pub bytes_max: usize,
    /// Time after which an incomplete payload is dropped if no further part arrives.
    pub timeout: Duration,
}

impl Default for AssemblerLimits {
    fn default() -> Self {
        Self {
            wholes_max: 256,
            bytes_max: 16 << 20,
            timeout: Duration::from_secs(30),
        }
    }
}

/// Hash that identifies a payload within a scope.
type WholeKey = [u8; HASH_BYTES];

#[derive(Debug)]
struct Partial {
    /// Source of the first part received.
    source: Bytes,
    parts: Vec<Option<Bytes>>,
    missing: usize,
    bytes: usize,
    expires: Time,
}

/// Reassembles payloads from their fragments.
#[derive(Debug)]
pub struct Assembler {
    limits: AssemblerLimits,
    partial: BTreeMap<WholeKey, Partial>,
    /// Keys of `partial`, ordered by their latest part; the most recent one is last.
    order: VecDeque<WholeKey>,
    /// Keys of complete payloads, the oldest first, so that another copy of a part does not start them again.
    done: VecDeque<WholeKey>,
    bytes: usize,
}

impl Assembler {
    /// Creates an empty assembler with these limits.
    pub fn new(limits: AssemblerLimits) -> Self {
        Self {
            limits,
            partial: BTreeMap::new(),
            order: VecDeque::new(),
            done: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Adds a part; returns the payload if it was the last missing one. `scope` separates equal payloads published to
    /// different places. `source` names the peer that the part came from: a source that sends too much displaces its
    /// own payloads, not those of others.
    pub fn take(
        &mut self,
        now: Time,
        source: &[u8],
        scope: &[u8],
        fragment: Fragment,
    ) -> Option<Bytes> {
        let name = Sha256::new().chain_update(fragment.whole);
        let key = name.chain_update(scope).finalize().into();
        if self.done.contains(&key) {
            return None;
        }
        self.expire(now);
        let expires = now.after(self.limits.timeout);
        let order = &mut self.order;
        let partial = self.partial.entry(key).or_insert_with(|| {
            order.push_back(key);
            Partial {
                source: Bytes::copy_from_slice(source),
                parts: vec![None; fragment.count],
                missing: fragment.count,
                bytes: 0,
                expires,
            }
        });
        // The key commits to the count, so the slot exists.
        let place = partial.parts.get_mut(fragment.index)?;
        if place.is_some() {
            return None;
        }
        let len = fragment.part.len();
        *place = Some(fragment.part);
        partial.missing -= 1;
        partial.expires = expires;
        self.order.retain(|known| *known != key);
        self.order.push_back(key);
        partial.bytes += len;
        self.bytes += len;
        if partial.missing > 0 {
            self.make_room();
            return None;
        }
        let partial = self.forget(&key)?;
        self.done.push_back(key);
        if self.done.len() > self.limits.wholes_max {
            self.done.pop_front();
        }
        let mut whole = BytesMut::with_capacity(partial.bytes);
        partial
            .parts
            .iter()
            .flatten()
            .for_each(|part| whole.put_slice(part));
        Some(whole.freeze())
    }

    /// Number of incomplete payloads held.
    pub fn len(&self) -> usize {
        self.partial.len()
    }

    /// Whether no incomplete payload is held.
    pub fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }

    /// Returns the number of bytes of parts of incomplete payloads.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn expire(&mut self, now: Time) {
        while let Some(oldest) = self.order.front().copied() {
            let over = |partial: &Partial| partial.expires <= now;
            if self
                .partial
                .get(&oldest)
                .is_some_and(|partial| !over(partial))
            {
                return;
            }
            self.forget(&oldest);
        }
    }

    fn make_room(&mut self) {
        loop {
            let has_too_many = self.partial.len() > self.limits.wholes_max;
            if !has_too_many && self.bytes <= self.limits.bytes_max {
                return;
            }
            let mut held: BTreeMap<&[u8], usize> = BTreeMap::new();
            for partial in self.partial.values() {
                *held.entry(&partial.source).or_default() += match has_too_many {
                    true => 1,
                    false => partial.bytes,
                };
            }
            let most = held.into_iter().max_by_key(|(_, held)| *held);
            let is_of_most = |key: &&WholeKey| {
                let source = self.partial.get(*key).map(|partial| &partial.source[..]);
                source == most.map(|(source, _)| source)
            };
            let Some(oldest) = self.order.iter().find(is_of_most).copied() else {
                return;
            };
            self.forget(&oldest);
        }
    }

    fn forget(&mut self, key: &WholeKey) -> Option<Partial> {
        self.order.retain(|known| known != key);
        let partial = self.partial.remove(key)?;
        self.bytes -= partial.bytes;
        Some(partial)
    }
}
