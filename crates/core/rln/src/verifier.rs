//! Verification of Groth16 proofs over BN254, with arkworks' field and curve arithmetic.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use rand_core::CryptoRng;

use crate::field::Fr;
use crate::key::Key;
use crate::wire::PROOF_BYTES;

mod batch;
mod coefficient;
mod decode;
mod lines;
mod miller;
mod prepared;

use batch::Batch;
use decode::DecodedPoints;
use lines::Lines;
use prepared::Prepared;

/// A proof and the public values that it is verified against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofStatement {
    /// Compressed points A (32 bytes) | B (64) | C (32).
    pub proof: [u8; PROOF_BYTES],
    /// Value of the member's line at `x`.
    pub y: Fr,
    /// Root of the membership tree.
    pub root: Fr,
    /// Nullifier of the member's message id in this epoch.
    pub nullifier: Fr,
    /// Signal hash of the message.
    pub x: Fr,
    /// External nullifier of the epoch and the application.
    pub external_nullifier: Fr,
}

/// One of the points of a Groth16 proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofPoint {
    /// Point A, bytes 0..32, in G1.
    A,
    /// Point B, bytes 32..96, in G2.
    B,
    /// Point C, bytes 96..128, in G1.
    C,
}

/// Reason why a proof is invalid. Both are the sender's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnarkInvalid {
    /// A point is malformed: coordinates not canonical, off the curve, outside the subgroup, or the
    /// point at infinity.
    #[error("point {0:?} of the proof is not a finite, canonically encoded element of its group")]
    MalformedPoint(ProofPoint),
    /// The points are well formed, but the pairing equation does not hold for the public values.
    #[error("the proof does not hold for its public values")]
    Equation,
}

/// Verifier of proofs, one by one or in batches. Clones share the prepared key.
#[derive(Clone)]
pub struct Verifier {
    prepared: Arc<Prepared>,
}

impl Verifier {
    /// Creates a verifier over the vendored key. Computes tables of 3.5 MiB in about 20 ms.
    pub fn new(key: &Key) -> Self {
        Self {
            prepared: Arc::new(Prepared::new(key.verifying_key())),
        }
    }

    /// Verifies one proof by itself.
    ///
    /// # Errors
    /// [`SnarkInvalid`] when a point is malformed or the proof does not hold.
    pub fn verify(&self, statement: &ProofStatement) -> Result<(), SnarkInvalid> {
        let points = DecodedPoints::decode(&statement.proof)?;
        let lines = Lines::of_one(&points.b).ok_or(OUTSIDE_SUBGROUP)?;
        if self.prepared.holds(&points, &lines, statement) {
            Ok(())
        } else {
            Err(SnarkInvalid::Equation)
        }
    }

    /// Verifies many proofs together. The verdicts are in the order of the statements and equal those of
    /// [`Verifier::verify`].
    ///
    /// A proof that does not hold passes with a probability of about 2^-128, provided that the maker of
    /// the proof cannot predict `rng`: seed the generator from the operating system.
    pub fn verify_batch<S: Borrow<ProofStatement>>(
        &self,
        statements: &[S],
        rng: &mut impl CryptoRng,
    ) -> Vec<Result<(), SnarkInvalid>> {
        let mut verdicts = vec![Ok(()); statements.len()];
        let mut decoded = Vec::with_capacity(statements.len());
        for (at, statement) in statements.iter().enumerate() {
            match DecodedPoints::decode(&statement.borrow().proof) {
                Ok(points) => decoded.push((at, points)),
                Err(error) => verdicts[at] = Err(error),
            }
        }
        let b: Vec<_> = decoded.iter().map(|(_, points)| points.b).collect();
        let mut positions = Vec::with_capacity(decoded.len());
        let mut proofs = Vec::with_capacity(decoded.len());
        let mut lines = Vec::with_capacity(decoded.len());
        for ((at, points), of_b) in decoded.into_iter().zip(Lines::of_many(&b)) {
            match of_b {
                Some(of_b) => {
                    positions.push(at);
                    proofs.push((points, statements[at].borrow()));
                    lines.push(of_b);
                }
                None => verdicts[at] = Err(OUTSIDE_SUBGROUP),
            }
        }
        let batch = Batch::new(&self.prepared, &proofs, lines, rng);
        for failure in batch.failures() {
            verdicts[positions[failure]] = Err(SnarkInvalid::Equation);
        }
        verdicts
    }
}

const OUTSIDE_SUBGROUP: SnarkInvalid = SnarkInvalid::MalformedPoint(ProofPoint::B);

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "tests/verifier.rs"]
mod tests;
