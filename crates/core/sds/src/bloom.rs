//! Bloom filter of message ids, in the layout of js-waku.
//!
//! The specification does not define a filter's encoding. js-waku sends the words of a filter for 10 000 ids with an
//! error rate of 0.001: 2344 numbers of 64 bits, the most significant byte first. It takes the bits of an id by double
//! hashing with MurmurHash3 (32 bits, seed 0) over the characters of the id.

use thiserror::Error;

#[cfg(test)]
#[path = "tests/bloom.rs"]
mod tests;

/// Number of ids that a filter is designed for.
pub const BLOOM_CAPACITY: usize = 10_000;

/// Number of bits in a filter that ids can set.
pub const BLOOM_BITS: u32 = 150_000;

/// Number of bits that each id sets.
pub const BLOOM_HASHES: u32 = 10;

/// Length of an encoded filter, in bytes.
pub const BLOOM_BYTES: usize = (1 + BLOOM_BITS as usize / 64) * 8;

/// Error of reading an encoded filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BloomError {
    /// The length is not [`BLOOM_BYTES`], so the filter's bits have another meaning.
    #[error("Bloom filter of {size_bytes} bytes; {BLOOM_BYTES} are expected")]
    WrongLength {
        /// Length of the encoded filter, in bytes.
        size_bytes: usize,
    },
}

/// Bloom filter of message ids, stored in its encoded form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BloomFilter {
    bytes: Vec<u8>,
    inserted: usize,
}

/// Bloom filter borrowed from a received message.
#[derive(Debug, Clone, Copy)]
pub struct BloomView<'a> {
    bytes: &'a [u8],
}

impl Default for BloomFilter {
    fn default() -> Self {
        Self {
            bytes: vec![0; BLOOM_BYTES],
            inserted: 0,
        }
    }
}

impl BloomFilter {
    /// Creates a filter of the given ids.
    pub fn of<'a>(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let mut filter = Self::default();
        ids.into_iter().for_each(|id| filter.insert(id));
        filter
    }

    /// Inserts an id.
    pub fn insert(&mut self, id: &str) {
        for position in positions(id) {
            let (byte, mask) = place(position);
            self.bytes[byte] |= mask;
        }
        self.inserted += 1;
    }

    /// Returns the number of insertions, repeated ids included.
    pub fn inserted(&self) -> usize {
        self.inserted
    }

    /// Returns the encoded filter, [`BLOOM_BYTES`] long.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl<'a> BloomView<'a> {
    /// Reads an encoded filter without copying it.
    ///
    /// # Errors
    /// [`BloomError::WrongLength`] when the length is not [`BLOOM_BYTES`].
    pub fn new(bytes: &'a [u8]) -> Result<Self, BloomError> {
        if bytes.len() != BLOOM_BYTES {
            return Err(BloomError::WrongLength {
                size_bytes: bytes.len(),
            });
        }
        Ok(Self { bytes })
    }

    /// Whether the filter may contain the id; `false` is certain.
    pub fn contains(&self, id: &str) -> bool {
        positions(id).all(|position| {
            let (byte, mask) = place(position);
            self.bytes[byte] & mask != 0
        })
    }

    /// Returns the share of bits that are set, in thousandths, rounded up.
    pub fn fill_permille(&self) -> u32 {
        let ones: u32 = self.bytes.iter().map(|byte| byte.count_ones()).sum();
        (ones * 1000).div_ceil(BLOOM_BITS)
    }
}

/// Returns the index and mask of a bit's byte: words of 64 bits, each with its most significant byte first.
fn place(position: u32) -> (usize, u8) {
    let (word, bit) = (position as usize / 64, position % 64);
    (word * 8 + 7 - bit as usize / 8, 1 << (bit % 8))
}

/// Returns the positions of an id's bits, all below [`BLOOM_BITS`].
fn positions(id: &str) -> impl Iterator<Item = u32> {
    // js-waku hashes the first UTF-16 unit of each character, not bytes. The two differ only outside ASCII.
    let mut units: Vec<u32> = id.chars().map(first_utf16_unit).collect();
    let first = murmur3(&units).unsigned_abs() % BLOOM_BITS;
    units.extend([u32::from(b' '), u32::from(b'b')]);
    let second = murmur3(&units).unsigned_abs() % BLOOM_BITS;
    (0..BLOOM_HASHES).map(move |n| (first + n * second) % BLOOM_BITS)
}

fn first_utf16_unit(character: char) -> u32 {
    u32::from(character.encode_utf16(&mut [0; 2])[0])
}

/// Computes MurmurHash3 with 32 bits and seed 0 over units, which are bytes in ASCII text and may be wider otherwise.
fn murmur3(units: &[u32]) -> i32 {
    let mut hash = 0_u32;
    let blocks = units.chunks_exact(4);
    let rest = blocks.remainder();
    for block in blocks {
        hash = (hash ^ scramble(pack(block))).rotate_left(13);
        hash = hash.wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= scramble(pack(rest));
    hash ^= units.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    (hash ^ (hash >> 16)).cast_signed()
}

/// Joins up to four units, the first one lowest; the bits of a wide unit above its byte overlap the next one.
fn pack(units: &[u32]) -> u32 {
    units.iter().rev().fold(0, |word, unit| (word << 8) | unit)
}

fn scramble(word: u32) -> u32 {
    word.wrapping_mul(0xcc9e_2d51)
        .rotate_left(15)
        .wrapping_mul(0x1b87_3593)
}
