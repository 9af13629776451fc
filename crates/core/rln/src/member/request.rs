//! A message's share of a proof, and the sums that a full proof and a token have in common.

use ark_bn254::{G1Projective, G2Projective};
use ark_ff::AdditiveGroup;
use rand_core::CryptoRng;
use zeroize::Zeroize;

use super::Member;
use crate::circuit::INSTANCE_WIRES;
use crate::field::{Fr, fr_random};
use crate::graph::Wire;

/// Inputs of one message for a proof.
#[derive(Clone, Copy)]
pub(super) struct ProofInputs {
    pub(super) external_nullifier: Fr,
    pub(super) message_id: u32,
    pub(super) x: Fr,
}

/// A full proof for one signal, before its points are encoded.
pub(super) struct Assembly {
    pub(super) a: G1Projective,
    pub(super) b: G2Projective,
    pub(super) c: G1Projective,
    /// All wires, including the public ones. Secret.
    pub(super) wires: Vec<Fr>,
    /// Left and right sides of the message's rows, in the order of `Circuit::message_rows`. Secret.
    pub(super) rows: Vec<(Fr, Fr)>,
    /// First blinding factor of the proof. Secret.
    pub(super) r: Fr,
    /// Second blinding factor of the proof. Secret.
    pub(super) s: Fr,
}

impl Member {
    /// Computes the points A, B and C of a proof, with new blinding.
    pub(super) fn assemble<R: CryptoRng + ?Sized>(
        &self,
        request: ProofInputs,
        rng: &mut R,
    ) -> Assembly {
        let engine = &*self.engine;
        let (key, circuit) = (engine.key.proving_key(), engine.key.circuit());
        let tables = &engine.tables;
        let (r, s) = (fr_random(rng), fr_random(rng));

        let wires = self.wires(request);
        let mut left = self.share.left.clone();
        let mut right = self.share.right.clone();
        let rows: Vec<(Fr, Fr)> = circuit
            .message_rows
            .iter()
            .map(|row| circuit.row(key, *row as usize, &wires))
            .collect();
        for (row, sides) in circuit.message_rows.iter().zip(&rows) {
            (left[*row as usize], right[*row as usize]) = *sides;
        }
        let mut factors = row_factors(&engine.domain, &left, &right);
        left.zeroize();
        right.zeroize();

        let of_message = || {
            circuit
                .message_wires
                .iter()
                .map(|wire| wires[*wire as usize])
        };
        let lagrange = factors
            .iter()
            .enumerate()
            .map(|(row, by)| (tables.lagrange(row), *by));
        let squares = rows[..rows.len() - INSTANCE_WIRES].iter().enumerate();
        let squares = squares.map(|(nth, (a, b))| (tables.square(nth), *a * b));
        let l = of_message()
            .enumerate()
            .map(|(nth, by)| (tables.l(nth), by));
        let b_g1 = of_message()
            .enumerate()
            .map(|(nth, by)| (tables.b(nth), by * r));
        let long = tables
            .long
            .sum(lagrange.chain(squares).chain(l).chain(b_g1));
        factors.zeroize();

        let mut a = self.share.a + tables.a.sum(of_message().enumerate());
        engine.delta_g1.add_to(&mut a, r);
        let mut b = self.share.b_g2 + tables.b.sum(of_message().enumerate());
        engine.delta_g2.add_to(&mut b, s);
        // Computes s A + r B - r s δ, in which the δ in B and the last term cancel.
        let c = self.share.c + long + a * s + self.share.b_g1 * r;
        Assembly {
            a,
            b,
            c,
            wires,
            rows,
            r,
            s,
        }
    }

    /// Computes all wires of the circuit for a message.
    fn wires(&self, request: ProofInputs) -> Vec<Fr> {
        let split = &self.engine.key.circuit().split;
        let mut inputs = vec![
            request.x,
            request.external_nullifier,
            Fr::from(request.message_id),
        ];
        inputs.extend_from_slice(&self.share.values);
        let mut values = split.message.run(&inputs);
        inputs.zeroize();
        let mut wires = self.share.wires.clone();
        for (wire, from) in wires.iter_mut().zip(&split.wires) {
            if let Wire::Message(value) = from {
                *wire = values[*value as usize];
            }
        }
        values.zeroize();
        wires
    }
}

/// Factor of each row's E: `left S(right) + right S(left)`.
fn row_factors(domain: &crate::transform::Domain, left: &[Fr], right: &[Fr]) -> Vec<Fr> {
    let sums = |values: &[Fr]| {
        let mut sums = values.to_vec();
        sums.resize(crate::transform::SIZE, Fr::ZERO);
        domain.row_sums(&mut sums);
        sums
    };
    let (mut of_left, mut of_right) = (sums(left), sums(right));
    let sides = left.iter().zip(right);
    let factors = sides
        .zip(of_left.iter().zip(&of_right))
        .map(|((left, right), (of_left, of_right))| *left * of_right + *right * of_left)
        .collect();
    of_left.zeroize();
    of_right.zeroize();
    factors
}

impl Drop for Assembly {
    fn drop(&mut self) {
        self.wires.zeroize();
        for (left, right) in &mut self.rows {
            left.zeroize();
            right.zeroize();
        }
        self.r.zeroize();
        self.s.zeroize();
        self.a.zeroize();
        self.b.zeroize();
        self.c.zeroize();
    }
}
