//! Number-theoretic transforms over the circuit's domain: the n = 8192 powers of a root of unity ω.
//!
//! A Groth16 prover interpolates the rows' values over the domain and evaluates the quotient on a
//! coset. With [`crate::rows`] this reduces to one linear map of the values, [`Domain::row_sums`].

use std::ops::{Add, Mul, Sub};

use ark_ff::{FftField, Field};

use crate::field::Fr;

/// Size of the domain: the smallest power of two that is at least the number of rows.
pub(crate) const SIZE: usize = 1 << LOG_SIZE;
const LOG_SIZE: usize = 13;

/// Twiddle factors and the kernel of [`Domain::row_sums`].
pub(crate) struct Domain {
    /// Root of unity ω of order n.
    pub(crate) root: Fr,
    /// Square root of ω: the coset is `shift * ω^i`, on which `X^n` is -1.
    pub(crate) shift: Fr,
    /// Twiddle factors of ω: for each stage with half-blocks of `len`, the powers of ω^(n / 2 len)
    /// with exponents below `len`, from index `len` on.
    forward: Vec<Fr>,
    /// Twiddle factors of 1/ω, in the same order.
    backward: Vec<Fr>,
    /// Transform of the kernel, in bit-reversed order, times the factors 1/n and -2/n.
    kernel: Vec<Fr>,
}

/// Elements that can be transformed: field elements and points.
pub(crate) trait Vector:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Fr, Output = Self>
{
}
impl<T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Fr, Output = T>> Vector for T {}

impl Domain {
    pub(crate) fn new() -> Self {
        let shift = Fr::get_root_of_unity(2 * SIZE as u64).expect("r - 1 is divisible by 2^28");
        let root = shift.square();
        let inverse = root.inverse().expect("a root of unity is not 0");
        let n = Fr::from(SIZE as u64);
        let scale = -Fr::from(2) * (n * n).inverse().expect("n is not 0");
        // The transform of κ(0) = 0, κ(d) = 1 / (ω^d - 1): adding 1 to k adds the sum of all ω^(dk)
        // with d > 0, which is n - 1 for k = 0 and -1 otherwise.
        let half = (n - Fr::ONE) * Fr::from(2).inverse().expect("2 is not 0");
        let kernel =
            (0..SIZE).map(
                |at| match at.reverse_bits() >> (usize::BITS as usize - LOG_SIZE) {
                    0 => -half * scale,
                    k => (half - Fr::from(k as u64 - 1)) * scale,
                },
            );
        Self {
            root,
            shift,
            forward: twiddles(root),
            backward: twiddles(inverse),
            kernel: kernel.collect(),
        }
    }

    /// Replaces `values[i]` by `-2/n Σ_{j≠i} values[j] ω^j / (ω^i - ω^j)`.
    ///
    /// The sum is a cyclic convolution: `ω^j / (ω^i - ω^j)` is `1 / (ω^(i-j) - 1)`.
    pub(crate) fn row_sums(&self, values: &mut [Fr]) {
        self.forward(values);
        for (value, factor) in values.iter_mut().zip(&self.kernel) {
            *value *= factor;
        }
        self.backward(values);
    }

    /// Replaces `values` by `Σ_j values[j] ω^(ij)`, at the position that is i with its bits reversed.
    pub(crate) fn forward<T: Vector>(&self, values: &mut [T]) {
        assert_eq!(
            values.len(),
            SIZE,
            "a transform takes one value for each power of ω"
        );
        let mut len = SIZE / 2;
        while len > 0 {
            let twiddles = &self.forward[len..2 * len];
            for block in values.chunks_exact_mut(2 * len) {
                let (low, high) = block.split_at_mut(len);
                for ((a, b), twiddle) in low.iter_mut().zip(high).zip(twiddles) {
                    (*a, *b) = (*a + *b, (*a - *b) * *twiddle);
                }
            }
            len /= 2;
        }
    }

    /// Inverts [`Domain::forward`], except that the values are n times as large.
    pub(crate) fn backward<T: Vector>(&self, values: &mut [T]) {
        assert_eq!(
            values.len(),
            SIZE,
            "a transform takes one value for each power of ω"
        );
        let mut len = 1;
        while len < SIZE {
            let twiddles = &self.backward[len..2 * len];
            for block in values.chunks_exact_mut(2 * len) {
                let (low, high) = block.split_at_mut(len);
                for ((a, b), twiddle) in low.iter_mut().zip(high).zip(twiddles) {
                    let turned = *b * *twiddle;
                    (*a, *b) = (*a + turned, *a - turned);
                }
            }
            len *= 2;
        }
    }
}

fn twiddles(root: Fr) -> Vec<Fr> {
    let mut all = vec![Fr::ONE; SIZE];
    let mut len = SIZE / 2;
    let mut step = root;
    while len > 0 {
        for at in 1..len {
            all[len + at] = all[len + at - 1] * step;
        }
        step.square_in_place();
        len /= 2;
    }
    all
}

#[cfg(test)]
#[path = "tests/transform.rs"]
mod tests;
