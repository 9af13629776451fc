//! Constants of the permutation for one width, in the form that makes partial rounds cheap.
//!
//! A partial round is `s <- M (s with y = (s[0] + k)^5 in place of s[0])`: the constants of the other
//! elements pass the S-box untouched, so they move on, through `M`, into the next round's. With
//!
//! ```text
//!     | m  v |      x_i = s[0] before round i, y_i its S-box's value,
//! M = | w  R |      s'_i the other N = T - 1 elements,
//! ```
//!
//! `x_(i+1) = m y_i + v s'_i` and `s'_(i+1) = R s'_i + w y_i`. Let `h_0 = m`, `h_k = v R^(k-1) w`; then
//!
//! ```text
//! x_(i+j+1) = sum_(k<=j) h_k y_(i+j-k) + v R^j s'_i                                    (1)
//! ```
//!
//! By Cayley and Hamilton `R^N = sum_(j<N) a_j R^j`, so taking (1) for `j = N` and replacing
//! `v R^N s'_i` by `sum a_j v R^j s'_i`, each term of which is (1) solved for it, gives
//!
//! ```text
//! x_(i+N+1) = sum_(j<N) a_j x_(i+j+1) + sum_(m<=N) b_m y_(i+m),
//! b_m = h_(N-m) - sum_(m<=j<N) a_j h_(j-m)                                             (2)
//! ```
//!
//! 2 T - 1 products, and `s'` is not needed. One of them is saved by scales: with `X_i = l_i x_i` and
//! `Y_i = (X_i + l_i k)^5 = l_i^5 y_i`, (2) is a sum of `X` and `Y` with other factors, and the one of the
//! newest `Y` is 1 if `l_(i+N+1) = l_(i+N)^5 / b_N`. The factors are then a round's own. (1) for `i = 0`
//! starts the recurrence. At its end, round `P`, (1) for `i = P - N` and `j < N` is a linear system
//! for `s'_(P-N)`, whose matrix has the rows `v R^j`; from there `N` plain steps lead to `s'_P`. Both
//! together are one matrix: the exit.

use std::array;

use ark_ff::{AdditiveGroup, Field};

use super::grain::Grain;
use crate::field::Fr;

/// Number of full rounds before the partial ones, and again after them.
pub(super) const HALF_FULL: usize = 4;

type Square<const N: usize> = [[Fr; N]; N];

/// Constants of a permutation of `T` elements; `N` is `T - 1`.
pub(super) struct Params<const T: usize, const N: usize> {
    /// Matrix `M` of the linear layer.
    pub(super) mix: Square<T>,
    /// Constants of the full rounds; the fifth includes those passed on by the partial rounds.
    pub(super) full: [[Fr; T]; 2 * HALF_FULL],
    /// Constants `k` of the first `N` partial rounds.
    pub(super) start: [Fr; N],
    /// Constants of the other partial rounds.
    pub(super) steady: Vec<Steady<N>>,
    /// Factors `h_0 .. h_(N-1)` of equation (1).
    pub(super) impulse: [Fr; N],
    /// Matrix whose row `j` is `v R^j`.
    pub(super) entry: Square<N>,
    /// Matrix of the contribution of `X_(P-N+1) .. X_P` to `s'_P`.
    pub(super) exit_x: Square<N>,
    /// Matrix of the contribution of `Y_(P-N) .. Y_(P-1)` to `s'_P`.
    pub(super) exit_y: Square<N>,
    /// Factor by which `X_P` is multiplied to give `x_P`.
    pub(super) exit_scale: Fr,
}

/// Constants of a partial round after the first `N`.
pub(super) struct Steady<const N: usize> {
    /// Scaled constant `l_i k` of the round.
    pub(super) constant: Fr,
    /// Factors of the newest `N` of `X`, the oldest first.
    pub(super) feedback: [Fr; N],
    /// Factors of the `N` of `Y` before the newest, the oldest first.
    pub(super) feed: [Fr; N],
}

impl<const T: usize, const N: usize> Params<T, N> {
    /// Generates the constants for a number of partial rounds.
    pub(super) fn new(partial_rounds: usize) -> Self {
        const { assert!(N + 1 == T) }
        let mut grain = Grain::new(T, 2 * HALF_FULL, partial_rounds);
        let rounds = 2 * HALF_FULL + partial_rounds;
        let mut constants: Vec<[Fr; T]> = (0..rounds)
            .map(|_| array::from_fn(|_| grain.element()))
            .collect();
        let columns: [Fr; T] = array::from_fn(|_| grain.reduced_element());
        let rows: [Fr; T] = array::from_fn(|_| grain.reduced_element());
        let mix = array::from_fn(|i| {
            array::from_fn(|j| {
                (columns[i] + rows[j])
                    .inverse()
                    .expect("the first Cauchy matrix that the generator gives is defined")
            })
        });

        let end = HALF_FULL + partial_rounds;
        for round in HALF_FULL..end {
            let mut passed = constants[round];
            passed[0] = Fr::ZERO;
            let passed = apply(&mix, &passed);
            for (constant, passed) in constants[round + 1].iter_mut().zip(passed) {
                *constant += passed;
            }
        }
        let full = array::from_fn(|i| match i {
            0..HALF_FULL => constants[i],
            _ => constants[i + partial_rounds],
        });
        let partial = constants[HALF_FULL..end].iter().map(|c| c[0]).collect();
        Self::with_recurrence(mix, full, partial)
    }

    fn with_recurrence(mix: Square<T>, full: [[Fr; T]; 2 * HALF_FULL], partial: Vec<Fr>) -> Self {
        let v: [Fr; N] = array::from_fn(|j| mix[0][j + 1]);
        let w: [Fr; N] = array::from_fn(|i| mix[i + 1][0]);
        let r: Square<N> = array::from_fn(|i| array::from_fn(|j| mix[i + 1][j + 1]));

        let mut rows_v = vec![v];
        let mut columns_w = vec![w];
        for k in 0..N {
            rows_v.push(apply(&transpose(&r), &rows_v[k]));
            columns_w.push(apply(&r, &columns_w[k]));
        }
        let h: [Fr; T] = array::from_fn(|k| match k {
            0 => mix[0][0],
            _ => dot(&v, &columns_w[k - 1]),
        });
        let entry: Square<N> = array::from_fn(|j| rows_v[j]);
        // v R^N = sum a_j v R^j: the transposed entry matrix times a is v R^N.
        let feedback = apply(&inverse(transpose(&entry)), &rows_v[N]);
        let feed: [Fr; T] =
            array::from_fn(|m| h[N - m] - (m..N).map(|j| feedback[j] * h[j - m]).sum::<Fr>());

        let start = array::from_fn(|i| partial[i]);
        let (steady, scales) = scaled(&feedback, &feed, &partial[N..]);

        let mut power = identity();
        for _ in 0..N {
            power = multiply(&power, &r);
        }
        let exit_x = multiply(&power, &inverse(entry));
        let exit_y = array::from_fn(|i| {
            array::from_fn(|m| {
                let known: Fr = (m..N).map(|j| exit_x[i][j] * h[j - m]).sum();
                (columns_w[N - 1 - m][i] - known) * scales.inverse_y[m]
            })
        });
        Self {
            mix,
            full,
            start,
            steady,
            impulse: array::from_fn(|k| h[k]),
            entry,
            exit_x: array::from_fn(|i| array::from_fn(|j| exit_x[i][j] * scales.inverse_x[j])),
            exit_y,
            exit_scale: scales.inverse_x[N - 1],
        }
    }
}

/// Factors that convert the newest of `X` and `Y` back to `x` and `y`, the oldest first.
struct Scales<const T: usize, const N: usize> {
    inverse_x: [Fr; N],
    inverse_y: [Fr; T],
}

/// Computes the scaled rounds after the first `N`; before them all scales are 1.
fn scaled<const T: usize, const N: usize>(
    feedback: &[Fr; N],
    feed: &[Fr; T],
    constants: &[Fr],
) -> (Vec<Steady<N>>, Scales<T, N>) {
    let one_over = |element: Fr| {
        element
            .inverse()
            .expect("made of b_N by powers and quotients, which is m, an entry of a Cauchy matrix")
    };
    let newest_feed = one_over(feed[N]);
    let mut scale = Fr::ONE;
    let mut scales = Scales {
        inverse_x: [Fr::ONE; N],
        inverse_y: [Fr::ONE; T],
    };
    let mut rounds = Vec::with_capacity(constants.len());
    for constant in constants {
        let next = scale.pow([5]) * newest_feed;
        let Scales {
            inverse_x,
            inverse_y,
        } = &mut scales;
        rounds.push(Steady {
            constant: scale * constant,
            feedback: array::from_fn(|j| next * feedback[j] * inverse_x[j]),
            feed: array::from_fn(|m| next * feed[m] * inverse_y[m]),
        });
        inverse_y[N] = one_over(scale.pow([5]));
        inverse_y.rotate_left(1);
        inverse_x.rotate_left(1);
        inverse_x[N - 1] = one_over(next);
        scale = next;
    }
    (rounds, scales)
}

fn dot<const N: usize>(a: &[Fr; N], b: &[Fr; N]) -> Fr {
    a.iter().zip(b).map(|(a, b)| *a * b).sum()
}

fn apply<const N: usize>(matrix: &Square<N>, vector: &[Fr; N]) -> [Fr; N] {
    array::from_fn(|i| dot(&matrix[i], vector))
}

fn transpose<const N: usize>(matrix: &Square<N>) -> Square<N> {
    array::from_fn(|i| array::from_fn(|j| matrix[j][i]))
}

fn multiply<const N: usize>(a: &Square<N>, b: &Square<N>) -> Square<N> {
    let columns = transpose(b);
    array::from_fn(|i| array::from_fn(|j| dot(&a[i], &columns[j])))
}

fn identity<const N: usize>() -> Square<N> {
    array::from_fn(|i| array::from_fn(|j| Fr::from(u8::from(i == j))))
}

/// Inverts a matrix by Gauss-Jordan elimination.
fn inverse<const N: usize>(mut matrix: Square<N>) -> Square<N> {
    let mut inverse = identity();
    for pivot in 0..N {
        let scale = matrix[pivot][pivot]
            .inverse()
            .expect("a leading minor of these constants is not zero");
        for j in 0..N {
            matrix[pivot][j] *= scale;
            inverse[pivot][j] *= scale;
        }
        for i in (0..N).filter(|i| *i != pivot) {
            let factor = matrix[i][pivot];
            for j in 0..N {
                let (m, n) = (matrix[pivot][j], inverse[pivot][j]);
                matrix[i][j] -= factor * m;
                inverse[i][j] -= factor * n;
            }
        }
    }
    inverse
}
