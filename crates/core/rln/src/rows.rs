//! The quotient's share of a proof, expressed by rows instead of coset points.
//!
//! With `L_i` the Lagrange basis of the domain and `H_k` the H query, the quotient's share is
//! `Σ_k (A(x_k) B(x_k) - C(x_k)) H_k` over the coset's points `x_k`. On the coset `X^n = -1`, so
//!
//! ```text
//! L_i L_j = -2/n (ω^j L_i - ω^i L_j) / (ω^i - ω^j)        for i ≠ j,
//! ```
//!
//! and with `E_i = Σ_k L_i(x_k) H_k` and `F_i = Σ_k (L_i(x_k)² - L_i(x_k)) H_k` the share is
//!
//! ```text
//! Σ_i (a_i S_i(b) + b_i S_i(a)) E_i + Σ_i a_i b_i F_i
//! ```
//!
//! where a and b are the rows' values, `c_i = a_i b_i`, and `S` is [`Domain::row_sums`]. This has
//! fewer terms than there are points in the H query, needs four transforms instead of six, and is
//! explicit in every row. `docs/design/rln-fast-path.md` derives it in full.
//!
//! `E` and `F` are constants of the circuit. They are vendored because computing them takes
//! seconds ([`crate::key::derive_row_tables`]); a test compares them with the key.
//!
//! ```text
//! "UTRLNRT1"
//! E of each row, then F of each constraint: x and y, 32 bytes each, little-endian
//! ```

use ark_bn254::{Fq, G1Affine, G1Projective};
use ark_ec::CurveGroup;
use ark_ff::{AdditiveGroup, BigInt, Field, PrimeField, batch_inversion};

use crate::arkzkey::{Defect, MalformedArtefact};
use crate::field::Fr;
use crate::transform::{Domain, SIZE};

const MAGIC: &[u8; 8] = b"UTRLNRT1";
const POINT_BYTES: usize = 64;

/// The tables E and F of the quotient's share.
#[derive(Debug, PartialEq)]
pub(crate) struct RowTables {
    /// Point E of each row.
    pub(crate) lagrange: Vec<G1Affine>,
    /// Point F of each constraint.
    pub(crate) squares: Vec<G1Affine>,
}

impl RowTables {
    /// Parses the vendored file of row tables.
    pub(crate) fn parse(
        bytes: &[u8],
        rows: usize,
        constraints: usize,
    ) -> Result<Self, MalformedArtefact> {
        let malformed = |at_byte, what| MalformedArtefact { at_byte, what };
        let body = bytes
            .strip_prefix(MAGIC)
            .ok_or(malformed(0, Defect::Magic))?;
        if body.len() != (rows + constraints) * POINT_BYTES {
            return Err(malformed(MAGIC.len(), Defect::Shape));
        }
        let mut points = body
            .as_chunks::<POINT_BYTES>()
            .0
            .iter()
            .enumerate()
            .map(|(at, bytes)| {
                let not_canonical = malformed(MAGIC.len() + at * POINT_BYTES, Defect::NonCanonical);
                point(bytes).ok_or(not_canonical)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let squares = points.split_off(rows);
        Ok(Self {
            lagrange: points,
            squares,
        })
    }

    /// Computes both tables from the key's H query; takes about ten seconds.
    pub(crate) fn compute(h_query: &[G1Affine], rows: usize, constraints: usize) -> Self {
        let domain = Domain::new();
        let mut transformed: Vec<G1Projective> =
            h_query.iter().map(|point| (*point).into()).collect();
        domain.forward(&mut transformed);
        let n_inverse = Fr::from(SIZE as u64)
            .inverse()
            .expect("the domain's size is not 0 modulo r");
        // Both tables are cyclic convolutions of the H query with a scalar kernel.
        let convolve = |kernel: &[Fr]| {
            let mut points: Vec<G1Projective> = transformed
                .iter()
                .zip(kernel)
                .map(|(point, factor)| *point * (*factor * n_inverse))
                .collect();
            domain.backward(&mut points);
            points
        };
        // L_i(shift ω^k) = -2/n / (shift ω^(k-i) - 1), at place i - k.
        let scale = -Fr::from(2) * n_inverse;
        let inverse_root = domain.root.inverse().expect("a root of unity is not 0");
        let mut basis = Vec::with_capacity(SIZE);
        let mut point = domain.shift;
        for _ in 0..SIZE {
            basis.push(point - Fr::ONE);
            point *= inverse_root;
        }
        batch_inversion(&mut basis);
        for value in &mut basis {
            *value *= scale;
        }
        let mut squares: Vec<Fr> = basis.iter().map(|value| value.square() - value).collect();
        domain.forward(&mut basis);
        domain.forward(&mut squares);
        let normalised = |points: &[G1Projective]| G1Projective::normalize_batch(points);
        Self {
            lagrange: normalised(&convolve(&basis)[..rows]),
            squares: normalised(&convolve(&squares)[..constraints]),
        }
    }

    /// Encodes the tables as the vendored file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for point in self.lagrange.iter().chain(&self.squares) {
            for coordinate in [point.x, point.y] {
                for limb in coordinate.into_bigint().0 {
                    bytes.extend_from_slice(&limb.to_le_bytes());
                }
            }
        }
        bytes
    }
}

fn point(bytes: &[u8; POINT_BYTES]) -> Option<G1Affine> {
    let mut limbs = [0; 8];
    for (limb, chunk) in limbs.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *limb = u64::from_le_bytes(*chunk);
    }
    let [a, b, c, d, e, f, g, h] = limbs;
    let x = Fq::from_bigint(BigInt::new([a, b, c, d]))?;
    let y = Fq::from_bigint(BigInt::new([e, f, g, h]))?;
    match x == Fq::ZERO && y == Fq::ZERO {
        true => Some(G1Affine::identity()),
        false => Some(G1Affine::new_unchecked(x, y)),
    }
}

#[cfg(test)]
#[path = "tests/rows.rs"]
mod tests;
