//! Decomposition of scalars: `k = k1 + λ k2` with k1 and k2 of 127 bits, where λ times a point of G1
//! costs one multiplication (Gallant, Lambert, Vanstone 2001).
//!
//! (B1, -A1) and (A1, A2) span the pairs (u, v) with `u + λ v = 0 mod r`. Subtracting from (k, 0)
//! the nearest of these pairs leaves halves of at most `0.625 (A1 + A2)`, below 2^127.

use ark_bn254::Fq;
use ark_ff::{BigInt, MontFp, PrimeField};

use crate::field::Fr;

/// Primitive cube root of unity λ modulo r.
#[cfg(test)]
pub(super) const LAMBDA: Fr =
    MontFp!("21888242871839275217838484774961031246154997185409878258781734729429964517155");

/// Cube root of unity β modulo the base field's order that corresponds to λ.
pub(super) const BETA: Fq =
    MontFp!("21888242871839275220042445260109153167277707414472061641714758635765020556616");

const A1: u128 = 9931322734385697763;
const B1: u128 = 147946756881789319000765030803803410728;
const A2: u128 = 147946756881789319010696353538189108491;

/// Precomputed `round(2^256 A2 / r)`, least significant limb first.
const A2_OVER_R: [u64; 3] = [0x5398fd0300ff6565, 0x4ccef014a773d2d2, 0x2];
/// Precomputed `round(2^256 A1 / r)`, least significant limb first.
const A1_OVER_R: [u64; 3] = [0xd91d232ec7e0b3d7, 0x2, 0x0];

/// Maximum number of bits of a half's magnitude.
pub(super) const HALF_BITS: usize = 127;

/// Decomposes a scalar into its two signed halves.
pub(super) fn halves(scalar: Fr) -> [i128; 2] {
    let scalar = scalar.into_bigint();
    let c1 = high_half(&scalar, &A2_OVER_R);
    let c2 = high_half(&scalar, &A1_OVER_R);
    let low = u128::from(scalar.0[0]) | u128::from(scalar.0[1]) << 64;
    // Both halves fit i128, so arithmetic modulo 2^128 gives the exact values.
    let first = low
        .wrapping_sub(c1.wrapping_mul(B1))
        .wrapping_sub(c2.wrapping_mul(A1));
    let second = c1.wrapping_mul(A1).wrapping_sub(c2.wrapping_mul(A2));
    [first as i128, second as i128]
}

/// Computes `round(a b / 2^256)`, which is below 2^128 for the factors used here.
fn high_half(a: &BigInt<4>, b: &[u64; 3]) -> u128 {
    let mut product = [0u64; 7];
    for (i, x) in a.0.iter().enumerate() {
        let mut carry = 0;
        for (j, y) in b.iter().enumerate() {
            let sum = u128::from(*x) * u128::from(*y) + u128::from(product[i + j]) + carry;
            product[i + j] = sum as u64;
            carry = sum >> 64;
        }
        product[i + 3] = carry as u64;
    }
    let high = u128::from(product[4]) | u128::from(product[5]) << 64;
    high + u128::from(product[3] >> 63)
}
