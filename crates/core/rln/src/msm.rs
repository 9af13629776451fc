//! Multi-scalar multiplication: sums of many points times scalars.
//!
//! All sums use the bucket method: scalars become signed digits, each digit adds a point to a bucket,
//! and the buckets are added up with their weights. The additions are affine, in batches of about a
//! thousand that share one inversion: about six multiplications each, against eleven in Jacobian
//! coordinates.
//!
//! [`MultiplesTable`] is for points known in advance: with each point's multiples by the digits' weights
//! precomputed, all digits share one set of buckets. [`sum_of`] is for points used once.
//!
//! Time and memory access depend on the scalars, as they do in arkworks, so side-channel attacks from
//! the same processor are not excluded.

use ark_ec::short_weierstrass::{Affine, Projective, SWCurveConfig};
use ark_ff::{AdditiveGroup, Field, PrimeField};

use crate::field::Fr;

mod buckets;
mod digits;
mod fixed;
mod glv;
mod table;

use buckets::Buckets;
use digits::signed_digits;
pub(crate) use fixed::FixedBase;
pub(crate) use table::{MultiplesTable, TableShape};

/// An affine point of a curve without the point (0, 0), which represents the point at infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point<F> {
    pub(crate) x: F,
    pub(crate) y: F,
}

/// One of the groups G1 and G2, whose scalars are below r.
pub(crate) trait MsmGroup: SWCurveConfig<ScalarField = Fr> {
    /// The base field's element β for which `(βx, y)` is λ of [`glv`] times `(x, y)`; `None` if the
    /// endomorphism is not used for this group.
    const ENDOMORPHISM: Option<Self::BaseField>;
}

impl MsmGroup for ark_bn254::g1::Config {
    const ENDOMORPHISM: Option<ark_bn254::Fq> = Some(glv::BETA);
}

impl MsmGroup for ark_bn254::g2::Config {
    const ENDOMORPHISM: Option<ark_bn254::Fq2> = None;
}

impl<F: Field> Point<F> {
    pub(crate) const INFINITY: Self = Self {
        x: F::ZERO,
        y: F::ZERO,
    };

    pub(crate) fn is_infinity(&self) -> bool {
        self.x.is_zero() && self.y.is_zero()
    }

    pub(crate) fn of<G: SWCurveConfig<BaseField = F>>(point: &Affine<G>) -> Self {
        match point.infinity {
            true => Self::INFINITY,
            false => Self {
                x: point.x,
                y: point.y,
            },
        }
    }

    pub(crate) fn to_affine<G: SWCurveConfig<BaseField = F>>(self) -> Affine<G> {
        match self.is_infinity() {
            true => Affine::identity(),
            false => Affine::new_unchecked(self.x, self.y),
        }
    }
}

/// Contribution of one digit of a scalar: the bucket, and the point that is added, which may be
/// negated or mapped by the endomorphism.
#[derive(Clone, Copy, Debug)]
struct BucketEntry {
    bucket: u32,
    /// `index << 2 | image << 1 | negated`.
    point: u32,
}

impl BucketEntry {
    fn new(bucket: usize, index: usize, image: bool, negated: bool) -> Self {
        Self {
            bucket: bucket as u32,
            point: (index as u32) << 2 | u32::from(image) << 1 | u32::from(negated),
        }
    }

    fn index(self) -> usize {
        (self.point >> 2) as usize
    }

    /// Returns the point that the entry adds, given the point at its index.
    fn applied<F: Field>(self, mut point: Point<F>, endomorphism: Option<F>) -> Point<F> {
        if let Some(beta) = endomorphism
            && self.point & 2 != 0
        {
            point.x *= beta;
        }
        if self.point & 1 != 0 {
            point.y = -point.y;
        }
        point
    }
}

/// Bits of a digit in [`sum_of`], whose scalars have 254 bits.
const PLAIN_BITS: usize = 10;

/// Computes the sum of `scalar * points[index]` over the terms `(index, scalar)`, without a table.
pub(crate) fn sum_of<G: MsmGroup>(
    points: &[Affine<G>],
    terms: impl Iterator<Item = (usize, Fr)>,
) -> Projective<G> {
    let windows = digits::windows_for(Fr::MODULUS_BIT_SIZE as usize, PLAIN_BITS);
    let per_window = 1 << (PLAIN_BITS - 1);
    let mut used = Vec::new();
    let mut entries = Vec::new();
    for (index, scalar) in terms {
        let point = Point::of(&points[index]);
        if point.is_infinity() {
            continue;
        }
        signed_digits(
            scalar.into_bigint().0,
            PLAIN_BITS,
            windows,
            |window, digit| {
                let bucket = window * per_window + digit.unsigned_abs() as usize - 1;
                entries.push(BucketEntry::new(bucket, used.len(), false, digit < 0));
            },
        );
        used.push(point);
    }
    let buckets = Buckets::fill(&used, None, &entries, windows * per_window);
    let mut sum = Projective::<G>::ZERO;
    for window in buckets.sums.chunks_exact(per_window).rev() {
        for _ in 0..PLAIN_BITS {
            sum.double_in_place();
        }
        sum += Buckets::weighted::<G>(window);
    }
    sum
}

#[cfg(test)]
#[path = "tests/msm.rs"]
mod tests;
