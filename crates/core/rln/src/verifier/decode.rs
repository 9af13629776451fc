//! Decoding of the points of a proof.

use ark_bn254::{G1Affine, G2Affine};
use ark_ec::AffineRepr;
use ark_serialize::{Compress, Validate};

use super::{ProofPoint, SnarkInvalid};
use crate::wire::PROOF_BYTES;

/// The points of a proof: finite and on their curves. [`super::lines`] checks at almost no cost
/// whether `b` is in the subgroup; G1 has prime order, so it needs no such check.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecodedPoints {
    pub(super) a: G1Affine,
    pub(super) b: G2Affine,
    pub(super) c: G1Affine,
}

impl DecodedPoints {
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

/// Decodes one point of a proof.
///
/// Decompression only accepts canonical coordinates and only gives points on the curve. The point at
/// infinity is refused, as no honest proof contains it.
fn point<P: AffineRepr>(which: ProofPoint, bytes: &[u8]) -> Result<P, SnarkInvalid> {
    match P::deserialize_with_mode(bytes, Compress::Yes, Validate::No) {
        Ok(point) if !point.is_zero() => Ok(point),
        _ => Err(SnarkInvalid::MalformedPoint(which)),
    }
}
