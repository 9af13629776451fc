//! Many proofs at once, by a random linear combination of their equations; and which of them fail.
//!
//! A proof holds when `e(A, B) = e(alpha, beta) e(I, gamma) e(C, delta)`, with I the combination of
//! its public inputs. Raised to random powers r_i and multiplied, n such equations become one with
//! n + 3 pairings and one final exponentiation. If some of them fail, at most one coefficient in 2^128
//! of any of those makes the product hold. The coefficients are drawn when the proofs are fixed.

use std::ops::Range;

use ark_bn254::{Bn254, Fq12, G1Projective};
use ark_ec::CurveGroup;
use ark_ec::pairing::{MillerLoopOutput, Pairing};
use ark_ff::{AdditiveGroup, Field, One};
use rand_core::CryptoRng;

use super::ProofStatement;
use super::coefficient::{Coefficient, Multiples, combine, weighted};
use super::decode::Points;
use super::lines::Lines;
use super::miller::{Evaluation, miller};
use super::prepared::{Prepared, pairings, public_inputs};
use crate::field::Fr;

/// The proofs of a batch, as far as they are well formed, with what each part of it needs.
pub(super) struct Batch<'a> {
    key: &'a Prepared,
    lines: Vec<Lines>,
    coefficients: Vec<Coefficient>,
    /// Evaluations at `r_i A_i`.
    evaluations: Vec<Evaluation>,
    c: Multiples,
    /// 1 and the public inputs.
    inputs: Vec<[Fr; 6]>,
}

/// What a part of the batch contributes to the equation. Parts multiply and divide.
#[derive(Clone, Copy)]
struct Part {
    /// The product of all `e(r_i A_i, B_i)`, but for the final exponentiation.
    pairings: Fq12,
    /// The sum of `r_i C_i`.
    c: G1Projective,
    /// The sum of `r_i` times 1 and the public inputs.
    inputs: [Fr; 6],
}

impl Part {
    /// What is left of `self` without `part` of it.
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
    /// Takes proofs whose points are well formed; the lines are those of their `B`.
    pub(super) fn new(
        key: &'a Prepared,
        proofs: &[(Points, &ProofStatement)],
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
        // A finite point of a group of prime order, times a coefficient that is not 0 modulo it, is
        // finite.
        let scaled = G1Projective::normalize_batch(&Multiples::new(&a).each(&coefficients));
        let inputs = proofs.iter().map(|(_, statement)| {
            let [y, root, nullifier, x, external] = public_inputs(statement);
            [Fr::ONE, y, root, nullifier, x, external]
        });
        Self {
            key,
            lines,
            coefficients,
            evaluations: Evaluation::of_many(&scaled),
            c: Multiples::new(&c),
            inputs: inputs.collect(),
        }
    }

    /// The positions of the proofs that do not hold.
    pub(super) fn failures(&self) -> Vec<usize> {
        let all = 0..self.lines.len();
        let mut failures = Vec::new();
        if !all.is_empty() {
            let total = self.part(all.clone());
            if !self.holds(&total) {
                self.search(all, &total, &mut failures);
            }
        }
        failures
    }

    /// Finds the failures in a part that does not hold. Of its halves, the first is computed; the
    /// second is the rest, and is not even tested when the first one holds.
    fn search(&self, range: Range<usize>, part: &Part, failures: &mut Vec<usize>) {
        if range.len() == 1 {
            failures.push(range.start);
            return;
        }
        let middle = range.start + range.len() / 2;
        let first = self.part(range.start..middle);
        let second = part.without(&first);
        let first_holds = self.holds(&first);
        if !first_holds {
            self.search(range.start..middle, &first, failures);
        }
        if first_holds || !self.holds(&second) {
            self.search(middle..range.end, &second, failures);
        }
    }

    fn part(&self, range: Range<usize>) -> Part {
        let pairs: Vec<_> = range
            .clone()
            .map(|i| (self.evaluations[i], &self.lines[i]))
            .collect();
        Part {
            pairings: miller(&pairs).0,
            c: self.c.sum(range.clone(), &self.coefficients),
            inputs: weighted(range.map(|i| (self.coefficients[i], self.inputs[i]))),
        }
    }

    fn holds(&self, part: &Part) -> bool {
        let key = self.key;
        let mut alpha = G1Projective::ZERO;
        key.alpha.add_multiple(&mut alpha, &part.inputs[0]);
        let inputs = combine(&key.inputs, &part.inputs);
        let fixed = pairings([
            (-alpha, &key.beta),
            (-inputs, &key.gamma),
            (-part.c, &key.delta),
        ]);
        let product = MillerLoopOutput(part.pairings * fixed);
        Bn254::final_exponentiation(product).is_some_and(|product| product.0.is_one())
    }
}
