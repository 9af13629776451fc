//! Making a full proof, without a prepared token.

use ark_bn254::{G1Projective, G2Projective};
use ark_ec::CurveGroup;
use ark_serialize::CanonicalSerialize;
use rand_core::CryptoRng;

use super::Member;
use super::request::ProofInputs;
use crate::circuit::{WIRE_NULLIFIER, WIRE_ROOT, WIRE_Y};
use crate::external::external_nullifier;
use crate::field::{Fr, fr_to_le};
use crate::proof_request::{MessageSlot, ProveError};
use crate::wire::{PROOF_BYTES, RateLimitProof};

impl Member {
    /// Makes the proof for the message with signal hash `x`; takes about 60 ms.
    ///
    /// # Errors
    /// [`ProveError::MessageIdOutOfRange`] when the message id is not less than the limit.
    pub fn prove<R: CryptoRng + ?Sized>(
        &self,
        slot: &MessageSlot<'_>,
        x: Fr,
        rng: &mut R,
    ) -> Result<RateLimitProof, ProveError> {
        let assembly = self.assemble(self.request(slot, x)?, rng);
        let wires = &assembly.wires;
        Ok(RateLimitProof {
            proof: compress(assembly.a, assembly.b, assembly.c),
            merkle_root: fr_to_le(&wires[WIRE_ROOT]),
            epoch: slot.epoch.to_bytes(),
            share_x: fr_to_le(&x),
            share_y: fr_to_le(&wires[WIRE_Y]),
            nullifier: fr_to_le(&wires[WIRE_NULLIFIER]),
            rln_identifier: slot.identifier.0,
        })
    }

    /// Checks the message id against the limit and computes the inputs of the message.
    pub(super) fn request(&self, slot: &MessageSlot<'_>, x: Fr) -> Result<ProofInputs, ProveError> {
        let (limit, message_id) = (self.limit, slot.message_id);
        if message_id >= limit {
            return Err(ProveError::MessageIdOutOfRange { message_id, limit });
        }
        Ok(ProofInputs {
            external_nullifier: external_nullifier(slot.generation, slot.epoch, slot.identifier),
            message_id,
            x,
        })
    }
}

/// Encodes the points in their wire form. Those of G1 share one field inversion.
pub(crate) fn compress(a: G1Projective, b: G2Projective, c: G1Projective) -> [u8; PROOF_BYTES] {
    let ac = G1Projective::normalize_batch(&[a, c]);
    let mut bytes = [0; PROOF_BYTES];
    let (a_bytes, rest) = bytes.split_at_mut(32);
    let (b_bytes, c_bytes) = rest.split_at_mut(64);
    let fits = "a compressed point takes 32 bytes in G1 and 64 in G2";
    ac[0].serialize_compressed(a_bytes).expect(fits);
    b.into_affine().serialize_compressed(b_bytes).expect(fits);
    ac[1].serialize_compressed(c_bytes).expect(fits);
    bytes
}
