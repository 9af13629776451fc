//! The verifying key with all values that can be computed in advance.

use ark_bn254::{Bn254, Fq12, G1Affine, G1Projective};
use ark_ec::CurveGroup;
use ark_ec::pairing::{MillerLoopOutput, Pairing, PairingOutput};
use ark_ff::Zero;
use ark_groth16::VerifyingKey;

use super::ProofStatement;
use super::coefficient::{DigitTable, combine};
use super::decode::DecodedPoints;
use super::lines::Lines;
use super::miller::{LinePoint, miller};
use crate::circuit::PUBLIC_INPUTS;
use crate::field::Fr;

/// Prepared verifying key: tables of 3.5 MiB, lines of the key's points in G2, and a pairing.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) alpha: DigitTable,
    /// Points of the constant term and of the public inputs.
    pub(super) inputs: [DigitTable; PUBLIC_INPUTS + 1],
    pub(super) beta: Lines,
    pub(super) gamma: Lines,
    pub(super) delta: Lines,
    /// Point of the constant term.
    constant: G1Affine,
    /// Pairing `e(alpha, beta)` of the key.
    alpha_beta: PairingOutput<Bn254>,
}

impl Prepared {
    pub(super) fn new(key: &VerifyingKey<Bn254>) -> Self {
        let lines =
            |point| Lines::of_one(&point).expect("the key's points were checked at loading");
        let inputs: Vec<_> = key
            .gamma_abc_g1
            .iter()
            .copied()
            .map(DigitTable::new)
            .collect();
        Self {
            alpha: DigitTable::new(key.alpha_g1),
            inputs: inputs
                .try_into()
                .expect("the key was loaded for five public inputs"),
            beta: lines(key.beta_g2),
            gamma: lines(key.gamma_g2),
            delta: lines(key.delta_g2),
            constant: key.gamma_abc_g1[0],
            alpha_beta: Bn254::pairing(key.alpha_g1, key.beta_g2),
        }
    }

    /// Whether one proof holds; the lines are those of the proof's `b`.
    pub(super) fn holds(
        &self,
        points: &DecodedPoints,
        lines: &Lines,
        statement: &ProofStatement,
    ) -> bool {
        let [_, bases @ ..] = &self.inputs;
        let inputs = combine(bases, &public_inputs(statement)) + self.constant;
        let product = pairings([
            (points.a.into(), lines),
            (-inputs, &self.gamma),
            (-G1Projective::from(points.c), &self.delta),
        ]);
        Bn254::final_exponentiation(MillerLoopOutput(product)) == Some(self.alpha_beta)
    }
}

/// Computes the product of pairings without the final exponentiation. A pairing with infinity is 1.
pub(super) fn pairings<const N: usize>(pairs: [(G1Projective, &Lines); N]) -> Fq12 {
    let (points, lines): (Vec<_>, Vec<_>) = pairs
        .into_iter()
        .filter(|(point, _)| !point.is_zero())
        .unzip();
    let evaluations = LinePoint::of_many(&G1Projective::normalize_batch(&points));
    let pairs: Vec<_> = evaluations.into_iter().zip(lines).collect();
    miller(&pairs).0
}

/// Returns the public inputs in the circuit's order.
pub(super) fn public_inputs(statement: &ProofStatement) -> [Fr; PUBLIC_INPUTS] {
    [
        statement.y,
        statement.root,
        statement.nullifier,
        statement.x,
        statement.external_nullifier,
    ]
}
