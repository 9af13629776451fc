//! Fixed-base multiplication: with the multiples of a point for all digits, no doubling is needed.

use ark_ec::short_weierstrass::{Affine, Projective};
use ark_ff::PrimeField;

use super::{MsmGroup, Point, buckets::to_points, digits, signed_digits};
use crate::field::Fr;

/// Bits of a digit: 37 additions for each product; 2368 multiples, computed in about 2 ms in G1.
const BITS: usize = 7;
const PER_WINDOW: usize = 1 << (BITS - 1);

/// A point with precomputed multiples, for points that are multiplied often.
pub(crate) struct FixedBase<G: MsmGroup> {
    /// Multiples of the point: `k 2^(7 w)` times the point is at `w * PER_WINDOW + k - 1`.
    multiples: Vec<Point<G::BaseField>>,
    windows: usize,
}

impl<G: MsmGroup> FixedBase<G> {
    pub(crate) fn new(point: Affine<G>) -> Self {
        let windows = digits::windows_for(Fr::MODULUS_BIT_SIZE as usize, BITS);
        let mut multiples = Vec::with_capacity(windows * PER_WINDOW);
        let mut base = Projective::<G>::from(point);
        for _ in 0..windows {
            let mut multiple = base;
            for _ in 0..PER_WINDOW {
                multiples.push(multiple);
                multiple += base;
            }
            // `multiple` is 65 times the base; the next base is 128 times this one.
            base = (multiple - base) + (multiple - base);
        }
        Self {
            multiples: to_points(&multiples),
            windows,
        }
    }

    /// Adds `scalar` times the point to `sum`.
    pub(crate) fn add_to(&self, sum: &mut Projective<G>, scalar: Fr) {
        signed_digits(
            scalar.into_bigint().0,
            BITS,
            self.windows,
            |window, digit| {
                let at = window * PER_WINDOW + digit.unsigned_abs() as usize - 1;
                let multiple = self.multiples[at].to_affine::<G>();
                match digit > 0 {
                    true => *sum += multiple,
                    false => *sum -= multiple,
                }
            },
        );
    }
}
