//! Fragmentation: a large payload as several messages, each of which is passed on as soon as it has
//! come.
//!
//! Every fragment names the hashes of all fragments, and the hash of that list names the whole. So a
//! fragment is checked when it comes, and nobody can spoil a whole with a part of another. Fragments
//! are messages like any others: each is validated (and rate-limited) before it is passed on, and a
//! node that knows nothing of fragments relays them.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::time::Time;

/// Fragments of one payload at most; the list of their hashes is part of each.
pub const FRAGMENTS_MAX: usize = 64;

const MAGIC: [u8; 4] = *b"UFR1";
const HASH_BYTES: usize = 32;
/// Magic, index, count.
const FIXED_BYTES: usize = MAGIC.len() + 2;

/// Bytes that a fragment adds to its part when there are `count` of them.
pub const fn overhead_bytes(count: usize) -> usize {
    FIXED_BYTES + count * HASH_BYTES
}

/// Cuts a payload into `count` parts of nearly the same length.
///
/// # Errors
/// [`FragmentError::Count`] unless there are 2 to [`FRAGMENTS_MAX`], and no more than bytes.
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

/// A fragment that is what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Names the whole: SHA-256 of the hashes of its parts.
    pub whole: [u8; HASH_BYTES],
    /// Its place, from 0.
    pub index: usize,
    /// Parts of the whole.
    pub count: usize,
    /// Its bytes.
    pub part: Bytes,
}

impl Fragment {
    /// Reads and checks a fragment. The part shares the memory of `bytes`.
    ///
    /// # Errors
    /// [`FragmentError`] says what is wrong with it.
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

/// Why something is not a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FragmentError {
    /// It cannot be cut so, or says that it was.
    #[error("{count} fragments: there must be 2 to 64, of at least one byte each")]
    Count {
        /// How many.
        count: usize,
    },
    /// The bytes are not those that were announced.
    #[error("part {index} has another hash than its list says")]
    Hash {
        /// Which.
        index: usize,
    },
    /// Something else.
    #[error("it does not begin as a fragment does")]
    Magic,
    /// It ends too early.
    #[error("it ends before its list of hashes does")]
    Short,
}

/// Bounds of an [`Assembler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssemblerLimits {
    /// Wholes of which some parts are here; the oldest makes room.
    pub wholes_max: usize,
    /// Bytes of parts; the oldest whole makes room.
    pub bytes_max: usize,
    /// How long parts wait for the others.
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

/// Names a whole in a scope.
type WholeKey = [u8; HASH_BYTES];

#[derive(Debug)]
struct Partial {
    parts: Vec<Option<Bytes>>,
    missing: usize,
    bytes: usize,
    expires: Time,
}

/// Puts wholes together.
#[derive(Debug)]
pub struct Assembler {
    limits: AssemblerLimits,
    partial: BTreeMap<WholeKey, Partial>,
    /// Oldest first; some may be complete by now.
    order: VecDeque<WholeKey>,
    /// Complete ones, oldest first: another copy of a part must not begin them anew.
    done: VecDeque<WholeKey>,
    bytes: usize,
}

impl Assembler {
    /// An empty one.
    pub fn new(limits: AssemblerLimits) -> Self {
        Self {
            limits,
            partial: BTreeMap::new(),
            order: VecDeque::new(),
            done: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Takes a part; the whole when it was the last one. `scope` keeps equal wholes apart that were
    /// published to different places.
    pub fn take(&mut self, now: Time, scope: &[u8], fragment: Fragment) -> Option<Bytes> {
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
                parts: vec![None; fragment.count],
                missing: fragment.count,
                bytes: 0,
                expires,
            }
        });
        // The name commits to the count, so the place exists.
        let place = partial.parts.get_mut(fragment.index)?;
        if place.is_some() {
            return None;
        }
        let len = fragment.part.len();
        *place = Some(fragment.part);
        partial.missing -= 1;
        partial.bytes += len;
        self.bytes += len;
        if partial.missing > 0 {
            self.make_room(&key);
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

    /// Wholes of which some parts are here.
    pub fn len(&self) -> usize {
        self.partial.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }

    /// Bytes of parts that wait.
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

    fn make_room(&mut self, newest: &WholeKey) {
        while self.partial.len() > self.limits.wholes_max || self.bytes > self.limits.bytes_max {
            let Some(oldest) = self.order.front().copied() else {
                return;
            };
            if oldest == *newest && self.order.len() > 1 {
                // Its turn comes last: it is the one that grows.
                self.order.rotate_left(1);
                continue;
            }
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
