//! Elements of the BN254 scalar field and their 32-byte little-endian form.

pub use ark_bn254::Fr;
use ark_ff::{BigInt, PrimeField};
use rand_core::CryptoRng;
use sha3::{Digest, Keccak256};
use zeroize::Zeroize;

/// Error for 32 bytes that encode an integer not less than the field's modulus r.
///
/// Such bytes alias a smaller element; accepting them would give one value two encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a canonical field element: the 32 bytes (little-endian) encode a value >= r")]
pub struct NonCanonical;

/// Reads a canonical element: 32 bytes, little-endian, less than r.
///
/// # Errors
/// [`NonCanonical`] when the integer is r or more.
pub fn fr_from_le(bytes: &[u8; 32]) -> Result<Fr, NonCanonical> {
    let mut limbs = [0u64; 4];
    for (limb, chunk) in limbs.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *limb = u64::from_le_bytes(*chunk);
    }
    Fr::from_bigint(BigInt::new(limbs)).ok_or(NonCanonical)
}

/// Encodes an element in its canonical form: 32 bytes, little-endian.
pub fn fr_to_le(element: &Fr) -> [u8; 32] {
    let mut bytes = [0u8; 32];
    for (chunk, limb) in bytes
        .as_chunks_mut::<8>()
        .0
        .iter_mut()
        .zip(element.into_bigint().0)
    {
        *chunk = limb.to_le_bytes();
    }
    bytes
}

/// Hashes `parts[0] || parts[1] || ...` to the field: Keccak-256, read little-endian, modulo r.
///
/// The parts are hashed one after the other, so that a payload need not be copied.
pub fn hash_to_field(parts: &[&[u8]]) -> Fr {
    let mut hasher = Keccak256::new();
    for part in parts {
        hasher.update(part);
    }
    Fr::from_le_bytes_mod_order(&hasher.finalize())
}

/// Draws a random element: 512 random bits modulo r, which is 2^-258 from uniform.
pub(crate) fn fr_random<R: CryptoRng + ?Sized>(rng: &mut R) -> Fr {
    let mut bytes = [0; 64];
    rng.fill_bytes(&mut bytes);
    let element = Fr::from_le_bytes_mod_order(&bytes);
    bytes.zeroize();
    element
}

#[cfg(test)]
#[path = "tests/field.rs"]
mod tests;
