//! Sums of products and the S-box in the scalar field, with as few reductions as their bounds allow.
//!
//! Elements are held in Montgomery form, so a product must be divided by 2^256 modulo r. Products of
//! 256-bit integers are first added up in 512 bits. The division of a sum of `n` products leaves less
//! than `n r^2 / 2^256 + r < (0.19 n + 1) r`, with one more element `(0.19 n + 2) r`: two subtractions
//! of r complete the reduction for up to five products, three for up to ten.

use ark_ff::{AdditiveGroup, BigInt, PrimeField};

use crate::field::Fr;

const MODULUS: [u64; 4] = Fr::MODULUS.0;

/// Computes the sum of the products `a_i b_i`.
#[inline]
pub(super) fn sum_of_products<const N: usize>(a: &[Fr; N], b: &[Fr; N]) -> Fr {
    sum_of_two(a, b, &[], &[], Fr::ZERO)
}

/// Computes `sum of a_i b_i + sum of c_i d_i + more`, with at most ten products in all.
#[inline]
pub(super) fn sum_of_two<const N: usize, const M: usize>(
    a: &[Fr; N],
    b: &[Fr; N],
    c: &[Fr; M],
    d: &[Fr; M],
    more: Fr,
) -> Fr {
    const { assert!(N + M <= 10) }
    let mut sum = [0; 8];
    // `more` must not be divided, so it is first multiplied by 2^256.
    sum[4..].copy_from_slice(&more.0.0);
    for (a, b) in a.iter().zip(b).chain(c.iter().zip(d)) {
        add_product(&mut sum, &a.0.0, &b.0.0);
    }
    // The result is below (0.19 n + 2) r, where 0.19 n is 0.95 for five products and 1.89 for ten.
    let mut reduced = subtract_modulus(subtract_modulus(divide(sum)));
    if N + M > 5 {
        reduced = subtract_modulus(reduced);
    }
    Fr::new_unchecked(BigInt::new(reduced))
}

/// Computes the S-box `(x + k)^5`.
///
/// Reduction is left to the end: `x + k < 2 r`; the divided square is below
/// `(0.19 * 4 + 1) r = 1.76 r`, the divided square of that below `1.59 r`, and the last product below
/// `(0.19 * 1.59 * 2 + 1) r < 2 r`, so one subtraction of r suffices. 2^256 is more than `5 r`.
#[inline]
pub(super) fn power_5(x: Fr, k: Fr) -> Fr {
    let x = plus(&x.0.0, &k.0.0);
    let second = divide(square(&x));
    let fourth = divide(square(&second));
    let fifth = divide(product(&fourth, &x));
    Fr::new_unchecked(BigInt::new(subtract_modulus(fifth)))
}

/// Computes `a + b`, which must be less than 2^256.
#[inline(always)]
fn plus(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut carry = false;
    let mut sum = [0; 4];
    for (sum, (a, b)) in sum.iter_mut().zip(a.iter().zip(b)) {
        (*sum, carry) = add(*a, *b, carry);
    }
    sum
}

/// Computes `low + a b + carry` as low and high half; the sum always fits 128 bits.
#[inline(always)]
fn multiply_add(low: u64, a: u64, b: u64, carry: u64) -> (u64, u64) {
    let wide = u128::from(low) + u128::from(a) * u128::from(b) + u128::from(carry);
    (wide as u64, (wide >> 64) as u64)
}

#[inline(always)]
fn product(a: &[u64; 4], b: &[u64; 4]) -> [u64; 8] {
    let mut product = [0; 8];
    for i in 0..4 {
        let mut carry = 0;
        for j in 0..4 {
            (product[i + j], carry) = multiply_add(product[i + j], a[i], b[j], carry);
        }
        product[i + 4] = carry;
    }
    product
}

/// Computes `a a`: products of different limbs are computed once and doubled.
#[inline(always)]
fn square(a: &[u64; 4]) -> [u64; 8] {
    let mut mixed = [0; 8];
    for i in 0..3 {
        let mut carry = 0;
        for j in i + 1..4 {
            (mixed[i + j], carry) = multiply_add(mixed[i + j], a[i], a[j], carry);
        }
        mixed[i + 4] = carry;
    }
    let mut square = [0; 8];
    let (mut above, mut carry) = (0, false);
    for (i, limb) in a.iter().enumerate() {
        let wide = u128::from(*limb) * u128::from(*limb);
        for (at, half) in [(2 * i, wide as u64), (2 * i + 1, (wide >> 64) as u64)] {
            let doubled = mixed[at] << 1 | above;
            above = mixed[at] >> 63;
            (square[at], carry) = add(doubled, half, carry);
        }
    }
    square
}

#[inline(always)]
fn add_product(sum: &mut [u64; 8], a: &[u64; 4], b: &[u64; 4]) {
    let mut carry = false;
    for (sum, product) in sum.iter_mut().zip(product(a, b)) {
        (*sum, carry) = add(*sum, product, carry);
    }
}

/// Divides by 2^256 as Montgomery does: adds the multiple of r that makes the low half zero.
#[inline(always)]
fn divide(mut wide: [u64; 8]) -> [u64; 4] {
    let mut carry_above = false;
    for i in 0..4 {
        let factor = wide[i].wrapping_mul(Fr::INV);
        let (_, mut carry) = multiply_add(wide[i], factor, MODULUS[0], 0);
        for j in 1..4 {
            (wide[i + j], carry) = multiply_add(wide[i + j], factor, MODULUS[j], carry);
        }
        (wide[i + 4], carry_above) = add(wide[i + 4], carry, carry_above);
    }
    let [_, _, _, _, high @ ..] = wide;
    high
}

/// Subtracts r unless the number is below it.
#[inline(always)]
fn subtract_modulus(number: [u64; 4]) -> [u64; 4] {
    let mut less = number;
    let mut borrow = false;
    for (limb, modulus) in less.iter_mut().zip(MODULUS) {
        let (difference, first) = limb.overflowing_sub(modulus);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        (*limb, borrow) = (difference, first | second);
    }
    if borrow { number } else { less }
}

#[inline(always)]
fn add(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, first | second)
}

#[cfg(test)]
#[path = "tests/products.rs"]
mod tests;
