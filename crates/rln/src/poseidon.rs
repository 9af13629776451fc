//! The Poseidon hash over the BN254 scalar field, with circomlib's parameters.

use rln::hashers::PoseidonHash;
use zerokit_utils::hasher::ZerokitHasher;

use crate::field::Fr;

/// Poseidon of one, two or three elements (any other number does not compile).
///
/// The first call computes the round constants, about 25 ms; each further call takes about 20 us.
pub fn poseidon<const N: usize>(inputs: &[Fr; N]) -> Fr {
    const { assert!(N >= 1 && N <= 3, "RLN hashes one, two or three elements") }
    PoseidonHash::hash(inputs)
}

#[cfg(test)]
mod tests;
