//! Verifying proofs, on arkworks' pairing.

use std::fmt;
use std::sync::Arc;

use ark_bn254::{Bn254, G1Affine, G2Affine};
use ark_ec::AffineRepr;
use ark_groth16::{Groth16, PreparedVerifyingKey, Proof, prepare_verifying_key};

use crate::field::Fr;
use crate::key::Key;
use crate::wire::PROOF_BYTES;

/// A proof and the public values that it claims to hold for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofStatement {
    /// Compressed points A (32) | B (64) | C (32).
    pub proof: [u8; PROOF_BYTES],
    /// The member's line at `x`.
    pub y: Fr,
    /// Root of the membership tree.
    pub root: Fr,
    /// Nullifier of the member's message id in this epoch.
    pub nullifier: Fr,
    /// Signal hash.
    pub x: Fr,
    /// Epoch and application.
    pub external_nullifier: Fr,
}

/// A point of a Groth16 proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofPoint {
    /// Bytes 0..32, in G1.
    A,
    /// Bytes 32..96, in G2.
    B,
    /// Bytes 96..128, in G1.
    C,
}

/// Why a proof does not hold. Both are the sender's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnarkInvalid {
    /// Not a point of the right group: non-canonical coordinates, off the curve, outside the
    /// subgroup, or the point at infinity.
    #[error("point {0:?} of the proof is not a finite, canonically encoded element of its group")]
    MalformedPoint(ProofPoint),
    /// The points are fine, but prove something else or nothing.
    #[error("the proof does not hold for its public values")]
    Equation,
}

/// Verifies proofs; each takes about 1.5 ms. Clones share the prepared key.
#[derive(Clone)]
pub struct Verifier {
    prepared: Arc<PreparedVerifyingKey<Bn254>>,
}

impl Verifier {
    /// A verifier over the vendored key.
    pub fn new(key: &Key) -> Self {
        Self {
            prepared: Arc::new(prepare_verifying_key(key.verifying_key())),
        }
    }

    /// Checks the proof.
    ///
    /// # Errors
    /// [`SnarkInvalid`] when it does not hold.
    pub fn verify(&self, statement: &ProofStatement) -> Result<(), SnarkInvalid> {
        let (a, rest) = statement.proof.split_at(32);
        let (b, c) = rest.split_at(64);
        let proof = Proof::<Bn254> {
            a: point::<G1Affine>(ProofPoint::A, a)?,
            b: point::<G2Affine>(ProofPoint::B, b)?,
            c: point::<G1Affine>(ProofPoint::C, c)?,
        };
        let inputs = [
            statement.y,
            statement.root,
            statement.nullifier,
            statement.x,
            statement.external_nullifier,
        ];
        let holds = Groth16::<Bn254>::verify_proof(&self.prepared, &proof, &inputs)
            .expect("the key was loaded for five public inputs");
        if holds {
            Ok(())
        } else {
            Err(SnarkInvalid::Equation)
        }
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").finish_non_exhaustive()
    }
}

/// Reads one compressed point with all checks. No honest proof contains the point at infinity.
fn point<P: AffineRepr>(which: ProofPoint, bytes: &[u8]) -> Result<P, SnarkInvalid> {
    match P::deserialize_compressed(bytes) {
        Ok(point) if !point.is_zero() => Ok(point),
        _ => Err(SnarkInvalid::MalformedPoint(which)),
    }
}

#[cfg(test)]
mod tests;
