//! Batch verification by a random linear combination of the proofs' equations, and search for failures.
//!
//! A proof holds when `e(A, B) = e(alpha, beta) e(I, gamma) e(C, delta)`, with I the combination of
//! its public inputs. Raised to random powers r_i and multiplied, n such equations become one with
//! n + 3 pairings and one final exponentiation. If some of them fail, then for any failing equation at
//! most one in 2^128 coefficients makes the product hold. The coefficients are drawn after the proofs
//! are fixed.

use std::ops::Range;

use ark_bn254::{Bn254, Fq12, G1Affine, G1Projective};
use ark_ec::pairing::{MillerLoopOutput, Pairing};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, CyclotomicMultSubgroup, Field, One};
use rand_core::CryptoRng;

use super::ProofStatement;
use super::coefficient::{Coefficient, Multiples, combine, weighted};
use super::decode::DecodedPoints;
use super::lines::Lines;
use super::miller::{LinePoint, miller};
use super::prepared::{Prepared, pairings, public_inputs};
use crate::field::Fr;

/// The well-formed proofs of a batch, with the values that the parts of the batch are computed from.
pub(super) struct Batch<'a> {
    key: &'a Prepared,
    lines: Vec<Lines>,
    coefficients: Vec<Coefficient>,
    /// Points `r_i A_i` of the batch.
    scaled_a: Vec<G1Affine>,
    /// Points of `scaled_a` in the form in which lines are evaluated.
    evaluations: Vec<LinePoint>,
    /// Points `C_i` with their multiples.
    c: Multiples,
    /// Public inputs of each proof, after the constant 1.
    inputs: Vec<[Fr; 6]>,
}

/// Contribution of a part of the batch to the equation. Contributions can be combined and removed.
#[derive(Clone, Copy)]
struct Part {
    /// Product of all `e(r_i A_i, B_i)`, without the final exponentiation.
    pairings: Fq12,
    /// Sum of the points `r_i C_i`.
    c: G1Projective,
    /// Sum of `r_i` times the constant 1 and the public inputs.
    inputs: [Fr; 6],
}

impl Part {
    /// Returns `self` without the contribution `part`.
    fn without(&self, part: &Self) -> Self {
        let inverse = part
            .pairings
            .inverse()
            .expect("a product of lines, each with the coefficient 1, is not zero");
        Self {
            pairings: self.pairings * inverse,
            c: self.c - part.c,
            inputs: std::array::from_fn(|i| self.inputs[i] - part.inputs[i]),
        }
    }
}

impl<'a> Batch<'a> {
    /// Creates a batch of proofs whose points are well formed; the lines are those of their `B`.
    pub(super) fn new(
        key: &'a Prepared,
        proofs: &[(DecodedPoints, &ProofStatement)],
        lines: Vec<Lines>,
        rng: &mut impl CryptoRng,
    ) -> Self {
        let coefficients: Vec<_> = proofs.iter().map(|_| Coefficient::random(rng)).collect();
        let [a, c] = [
            proofs
                .iter()
                .map(|(points, _)| points.a)
                .collect::<Vec<_>>(),
            proofs.iter().map(|(points, _)| points.c).collect(),
        ];
        // A finite point of a group of prime order, times a coefficient that is not 0 modulo the order,
        // is finite.
        let scaled = G1Projective::normalize_batch(&Multiples::new(&a).each(&coefficients));
        let inputs = proofs.iter().map(|(_, statement)| {
            let [y, root, nullifier, x, external] = public_inputs(statement);
            [Fr::ONE, y, root, nullifier, x, external]
        });
        Self {
            key,
            lines,
            coefficients,
            evaluations: LinePoint::of_many(&scaled),
            scaled_a: scaled,
            c: Multiples::new(&c),
            inputs: inputs.collect(),
        }
    }

    /// Returns the positions of the proofs that do not hold.
    pub(super) fn failures(&self) -> Vec<usize> {
        let all = 0..self.lines.len();
        let mut failures = Vec::new();
        if all.is_empty() {
            return failures;
        }
        let total = Part {
            c: self.c.sum(&self.coefficients),
            ..self.part(all.clone(), &[])
        };
        let error = self.error(&total);
        if !error.is_one() {
            let search = FailureSearch {
                batch: self,
                scaled_c: self.c.each(&self.coefficients),
            };
            search.run(all, &total, error, &mut failures);
        }
        failures
    }

    /// Computes the contribution of a range, given the points `r_i C_i` of all proofs.
    fn part(&self, range: Range<usize>, scaled_c: &[G1Projective]) -> Part {
        let pairs: Vec<_> = range
            .clone()
            .map(|i| (self.evaluations[i], &self.lines[i]))
            .collect();
        Part {
            pairings: miller(&pairs).0,
            c: scaled_c.get(range.clone()).unwrap_or_default().iter().sum(),
            inputs: weighted(range.map(|i| (self.coefficients[i].scalar(), self.inputs[i]))),
        }
    }

    /// Computes the quotient of the equation's sides: 1 if the equation holds.
    fn error(&self, part: &Part) -> Fq12 {
        let key = self.key;
        let mut alpha = G1Projective::ZERO;
        key.alpha.add_multiple(&mut alpha, &part.inputs[0]);
        let inputs = combine(&key.inputs, &part.inputs);
        let fixed = pairings([
            (-alpha, &key.beta),
            (-inputs, &key.gamma),
            (-part.c, &key.delta),
        ]);
        Bn254::final_exponentiation(MillerLoopOutput(part.pairings * fixed))
            .expect("a product of lines, each with the coefficient 1, is not zero")
            .0
    }
}

/// Search for the failures of a batch that does not hold.
struct FailureSearch<'a> {
    batch: &'a Batch<'a>,
    scaled_c: Vec<G1Projective>,
}

impl FailureSearch<'_> {
    /// Finds the failures in a part whose equation has the quotient `error`, which is not 1.
    ///
    /// A single failure is found by one more evaluation ([`FailureSearch::lone`]). If there are more, the part
    /// is halved: the first half is computed, and the second follows by division, as does its error.
    fn run(&self, range: Range<usize>, part: &Part, error: Fq12, failures: &mut Vec<usize>) {
        if range.len() == 1 {
            failures.push(range.start);
            return;
        }
        if let Some(lone) = self.lone(range.clone(), error) {
            failures.push(lone);
            return;
        }
        if range.len() == 2 {
            failures.extend(range);
            return;
        }
        let middle = range.start + range.len() / 2;
        let first = self.batch.part(range.start..middle, &self.scaled_c);
        let second = part.without(&first);
        let first_error = self.batch.error(&first);
        // Errors multiply like parts, and those of a pairing invert by conjugation.
        let mut second_error = first_error;
        second_error.cyclotomic_inverse_in_place();
        second_error *= error;
        if !first_error.is_one() {
            self.run(range.start..middle, &first, first_error, failures);
        }
        if !second_error.is_one() {
            self.run(middle..range.end, &second, second_error, failures);
        }
    }

    /// Finds the failure in a part that has exactly one; `None` if there are more.
    ///
    /// Let the error be the product of `e_i`. With all coefficients multiplied by their proofs'
    /// positions it is the product of `e_i^i`, which for a lone failure j is `error^j`. If there are
    /// others, `e_i^(i - j)` multiply to 1 for the same few coefficients as in the test itself.
    fn lone(&self, range: Range<usize>, error: Fq12) -> Option<usize> {
        let batch = self.batch;
        // The first proof counts zero times.
        let counted = range.start + 1..range.end;
        let weights = 1..range.len() as u64;
        let points = counted.clone().zip(weights.clone());
        let points: Vec<_> = points
            .map(|(i, weight)| batch.scaled_a[i].mul_bigint([weight]))
            .collect();
        let evaluations = LinePoint::of_many(&G1Projective::normalize_batch(&points));
        let pairs: Vec<_> = evaluations
            .into_iter()
            .zip(&batch.lines[counted.clone()])
            .collect();
        let weighted_inputs = counted.clone().zip(weights).map(|(i, weight)| {
            let coefficient = batch.coefficients[i].scalar() * Fr::from(weight);
            (coefficient, batch.inputs[i])
        });
        // The sum of k times the k-th point is the sum of all tails.
        let mut tail = G1Projective::ZERO;
        let mut c = G1Projective::ZERO;
        for point in self.scaled_c[counted].iter().rev() {
            tail += point;
            c += tail;
        }
        let moment = batch.error(&Part {
            pairings: miller(&pairs).0,
            c,
            inputs: weighted(weighted_inputs),
        });
        let mut power = Fq12::ONE;
        range.into_iter().find(|_| {
            let found = power == moment;
            power *= error;
            found
        })
    }
}
