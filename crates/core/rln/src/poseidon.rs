//! The Poseidon hash over the BN254 scalar field, with circomlib's parameters.
//!
//! The state of width `T` holds a zero and the `T - 1` inputs; the digest is its first element after
//! four full rounds, 56 or 57 partial rounds and four full rounds (`https://eprint.iacr.org/2019/458`).
//! The constants are not stored: the paper's generator computes them at the first use of a width, in
//! about a millisecond.

use std::sync::LazyLock;

use crate::field::Fr;

mod grain;
mod params;
mod permutation;
mod products;

use params::Params;

static ONE: LazyLock<Params<2, 1>> = LazyLock::new(|| Params::new(56));
static TWO: LazyLock<Params<3, 2>> = LazyLock::new(|| Params::new(57));
static THREE: LazyLock<Params<4, 3>> = LazyLock::new(|| Params::new(56));

/// Computes Poseidon of one, two or three elements (any other number does not compile).
pub fn poseidon<const N: usize>(inputs: &[Fr; N]) -> Fr {
    const { assert!(N >= 1 && N <= 3, "RLN hashes one, two or three elements") }
    match inputs.as_slice() {
        [a] => ONE.hash(&[*a]),
        [a, b] => TWO.hash(&[*a, *b]),
        [a, b, c] => THREE.hash(&[*a, *b, *c]),
        _ => unreachable!("the number of inputs is checked at compile time"),
    }
}

#[cfg(test)]
#[path = "tests/poseidon.rs"]
mod tests;
