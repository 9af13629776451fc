//! Numbers drawn from a seeded generator.

use rand_chacha::ChaCha8Rng;
use rand_core::RngCore;

/// Returns a number below `bound`, which must not be 0; the bias is under 2^-32 for bounds of 32 bits.
pub(crate) fn below(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    debug_assert!(bound > 0);
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}
