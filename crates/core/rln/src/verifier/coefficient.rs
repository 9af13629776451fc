//! Random coefficients of a batch, and multiplication of points by them.

use std::array;

use ark_bn254::{G1Affine, G1Projective, g1};
use ark_ec::scalar_mul::glv::GLVConfig;
use ark_ec::{AdditiveGroup, CurveGroup};
use rand_core::CryptoRng;

use crate::field::Fr;

/// Coefficient `a + b lambda` with `a` and `b` of 64 bits, where lambda is the eigenvalue of the
/// curve's cheap endomorphism.
///
/// The 2^128 pairs give distinct coefficients: two equal ones would differ by a pair with
/// `a + b lambda = 0` modulo r, and such pairs except (0, 0) have a component above 2^126. A product
/// costs 64 doublings instead of 128.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coefficient {
    a: u64,
    b: u64,
}

impl Coefficient {
    /// Draws a uniform coefficient that is not 0.
    pub(super) fn random(rng: &mut impl CryptoRng) -> Self {
        loop {
            let (a, b) = (rng.next_u64(), rng.next_u64());
            if (a, b) != (0, 0) {
                return Self { a, b };
            }
        }
    }

    /// Returns the coefficient as a scalar.
    pub(super) fn scalar(self) -> Fr {
        Fr::from(self.a) + Fr::from(self.b) * g1::Config::LAMBDA
    }
}

/// Points prepared for multiplication: each with its endomorphism image and the sum of both.
#[derive(Debug)]
pub(super) struct Multiples {
    tables: Vec<[G1Affine; 3]>,
}

impl Multiples {
    /// Prepares points, which must be finite.
    pub(super) fn new(points: &[G1Affine]) -> Self {
        let images: Vec<_> = points.iter().map(g1::Config::endomorphism_affine).collect();
        let sums: Vec<G1Projective> = points.iter().zip(&images).map(|(p, q)| *p + q).collect();
        let sums = G1Projective::normalize_batch(&sums);
        let tables = (0..points.len()).map(|i| [points[i], images[i], sums[i]]);
        Self {
            tables: tables.collect(),
        }
    }

    /// Computes each point times its coefficient.
    pub(super) fn each(&self, coefficients: &[Coefficient]) -> Vec<G1Projective> {
        let pairs = self.tables.iter().zip(coefficients);
        pairs.map(|pair| sum(&[pair])).collect()
    }

    /// Computes the sum of all points, each times its coefficient.
    pub(super) fn sum(&self, coefficients: &[Coefficient]) -> G1Projective {
        sum(&self.tables.iter().zip(coefficients).collect::<Vec<_>>())
    }
}

/// Computes a sum of products by Straus' method: one chain of doublings for all terms.
fn sum(terms: &[(&[G1Affine; 3], &Coefficient)]) -> G1Projective {
    let mut sum = G1Projective::ZERO;
    for bit in (0..u64::BITS).rev() {
        sum.double_in_place();
        for (table, coefficient) in terms {
            let [a, b] = [coefficient.a, coefficient.b].map(|half| half >> bit & 1);
            match (a + 2 * b) as usize {
                0 => {}
                digit => sum += &table[digit - 1],
            }
        }
    }
    sum
}

/// A point known in advance, with the precomputed multiples for all digits of a scalar.
#[derive(Debug)]
pub(super) struct DigitTable {
    /// Multiples of the point: `rows[i][d - 1]` is `d 2^(8 i)` times the point.
    rows: Vec<Vec<G1Affine>>,
}

/// Number of bits of a digit: 32 additions for a product, 512 KiB for a point.
const DIGIT_BITS: usize = 8;

impl DigitTable {
    pub(super) fn new(point: G1Affine) -> Self {
        let mut start = G1Projective::from(point);
        let rows = (0..256 / DIGIT_BITS)
            .map(|_| {
                let mut row = vec![start];
                for digit in 2..1 << DIGIT_BITS {
                    row.push(row[digit - 2] + start);
                }
                start += row[row.len() - 1];
                G1Projective::normalize_batch(&row)
            })
            .collect();
        Self { rows }
    }

    /// Adds a multiple of the point to a sum.
    pub(super) fn add_multiple(&self, sum: &mut G1Projective, scalar: &Fr) {
        let digits = crate::field::fr_to_le(scalar);
        for (row, digit) in self.rows.iter().zip(digits) {
            if let Some(at) = usize::from(digit).checked_sub(1) {
                *sum += &row[at];
            }
        }
    }
}

/// Computes a linear combination of fixed points.
pub(super) fn combine<const N: usize>(bases: &[DigitTable; N], scalars: &[Fr; N]) -> G1Projective {
    let mut sum = G1Projective::ZERO;
    for (base, scalar) in bases.iter().zip(scalars) {
        base.add_multiple(&mut sum, scalar);
    }
    sum
}

/// Adds up vectors of scalars, each times its weight.
pub(super) fn weighted<const N: usize>(terms: impl Iterator<Item = (Fr, [Fr; N])>) -> [Fr; N] {
    let mut sum = [Fr::from(0); N];
    for (weight, scalars) in terms {
        sum = array::from_fn(|i| sum[i] + weight * scalars[i]);
    }
    sum
}

#[cfg(test)]
#[path = "tests/coefficient.rs"]
mod tests;
