//! Preparation of a token: the part of a proof that does not depend on the signal.
//!
//! `docs/design/rln-fast-path.md` has the algebra. In short: with the signal x the witness is `w + x (e_x + a1
//! e_y)`, so A and B are affine in x, and C is quadratic.

use rand_core::CryptoRng;
use zeroize::Zeroize;

use ark_ff::AdditiveGroup;

use super::Member;
use crate::circuit::{INSTANCE_WIRES, WIRE_NULLIFIER, WIRE_X, WIRE_Y};
use crate::field::Fr;
use crate::poseidon::poseidon;
use crate::proof_request::{MessageSlot, ProveError};
use crate::token::{PreparedToken, Secrets};

impl Member {
    /// Prepares the token of a message id; takes about 65 ms, and 60 ms more for a member's first.
    ///
    /// # Errors
    /// [`ProveError::MessageIdOutOfRange`] when the message id is not less than the limit.
    pub fn prepare<R: CryptoRng + ?Sized>(
        &self,
        slot: &MessageSlot<'_>,
        rng: &mut R,
    ) -> Result<PreparedToken, ProveError> {
        // With x = 0 the assembly is the proof's constant part, and y the line's constant.
        let request = self.request(slot, Fr::ZERO)?;
        let assembly = self.assemble(request, rng);
        let slope = poseidon(&[
            self.secret,
            request.external_nullifier,
            Fr::from(request.message_id),
        ]);
        let signal = &self.engine.signal;
        let tables = &self.engine.tables;
        let circuit = self.engine.key.circuit();
        let share = self.signal();

        // The quotient's coefficient of x: the membership's rows are already in the share, the message's
        // rows are added here. Rows k, p and q get factors from all rows.
        let (mut at_k, mut at_p, mut at_q) = (share.at_k, share.at_p, share.at_q);
        let mut terms = Vec::with_capacity(circuit.message_rows.len() + 4);
        for (row, (left, right)) in circuit.message_rows.iter().zip(&assembly.rows) {
            let row = *row as usize;
            let mut factor = signal.left_k[row] * left;
            if row != signal.k {
                at_k -= *left * (signal.coefficient * signal.scale + signal.left_k[row]);
            }
            factor += (signal.right_p[row] + slope * signal.right_q[row]) * right;
            at_p -= *right * (signal.scale + signal.right_p[row]);
            at_q -= *right * (signal.scale + signal.right_q[row]);
            terms.push((tables.lagrange(row), factor));
        }
        terms.push((tables.lagrange(signal.k), at_k));
        terms.push((tables.lagrange(signal.p), at_p));
        terms.push((tables.lagrange(signal.q), slope * at_q));
        let nth_k = circuit.message_rows[..circuit.message_rows.len() - INSTANCE_WIRES]
            .iter()
            .position(|row| *row as usize == signal.k)
            .expect("x, a message's wire, is in row k");
        let left_of_k = assembly.rows[nth_k].0;
        terms.push((tables.square(nth_k), signal.coefficient * left_of_k));
        let mut linear = share.fixed + share.sloped * slope;
        linear += tables.long.sum(terms.iter().copied());
        // The coefficients of x in A and B, times s and r.
        signal.a_x.add_to(&mut linear, assembly.s);
        signal.a_y.add_to(&mut linear, assembly.s * slope);
        linear += self.engine.key.proving_key().b_g1[WIRE_X] * assembly.r;
        for (_, factor) in &mut terms {
            factor.zeroize();
        }

        Ok(PreparedToken::new(
            &self.engine,
            slot,
            self.root(),
            assembly.wires[WIRE_NULLIFIER],
            Secrets {
                a: assembly.a,
                b: assembly.b,
                c: assembly.c,
                linear,
                intercept: assembly.wires[WIRE_Y],
                slope,
            },
        ))
    }
}
