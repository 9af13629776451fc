//! Reading the points of a proof.

use ark_bn254::{G1Affine, G2Affine};
use ark_ec::AffineRepr;
use ark_serialize::{Compress, Validate};

use super::{ProofPoint, SnarkInvalid};
use crate::wire::PROOF_BYTES;

/// The points of a proof: finite and on their curves. Whether `b` is in its subgroup is left to
/// [`super::lines`], which finds out by the way; G1 has no proper subgroup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points {
    pub(super) a: G1Affine,
    pub(super) b: G2Affine,
    pub(super) c: G1Affine,
}

impl Points {
    pub(super) fn decode(proof: &[u8; PROOF_BYTES]) -> Result<Self, SnarkInvalid> {
        let (a, rest) = proof.split_at(32);
        let (b, c) = rest.split_at(64);
        Ok(Self {
            a: point(ProofPoint::A, a)?,
            b: point(ProofPoint::B, b)?,
            c: point(ProofPoint::C, c)?,
        })
    }
}

/// Decompression only accepts canonical coordinates, and finds the point on the curve or not at all.
/// No honest proof contains the point at infinity.
fn point<P: AffineRepr>(which: ProofPoint, bytes: &[u8]) -> Result<P, SnarkInvalid> {
    match P::deserialize_with_mode(bytes, Compress::Yes, Validate::No) {
        Ok(point) if !point.is_zero() => Ok(point),
        _ => Err(SnarkInvalid::MalformedPoint(which)),
    }
}
