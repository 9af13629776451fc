//! The only source of randomness: a seeded ChaCha8 stream.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// Seeded generator of the router's random choices; the same seed gives the same choices on every platform.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Self(ChaCha8Rng::from_seed(seed))
    }

    /// Returns 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number in `0..bound`; `bound` must not be 0. The bias of the multiply-shift is below 2^-32
    /// for every bound used here (peer and id counts).
    pub fn below(&mut self, bound: usize) -> usize {
        debug_assert!(bound > 0);
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Moves `count` randomly chosen elements to the front, in random order.
    pub fn choose<T>(&mut self, items: &mut [T], count: usize) {
        for i in 0..count.min(items.len()) {
            let j = i + self.below(items.len() - i);
            items.swap(i, j);
        }
    }

    /// Puts all elements into random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        self.choose(items, items.len());
    }
}
