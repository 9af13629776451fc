//! Signatures within the encrypted content: ECDSA on secp256k1 over Keccak-256, with recovery of the public key.

use k256::ecdsa::{RecoveryId, Signature, SigningKey, VerifyingKey};
use sha3::{Digest as _, Keccak256};

use crate::{PublicKey, SecretKey};

#[cfg(test)]
#[path = "tests/signature.rs"]
mod tests;

/// Length of a signature: r, s, recovery id.
pub(crate) const SIGNATURE_BYTES: usize = 65;

/// Offset added to the recovery id by authors who follow the text of RFC 26.
const RECOVERY_OFFSET: u8 = 27;

/// Signs a content. The signature is deterministic (RFC 6979).
pub(crate) fn sign(content: &[u8], signer: &SecretKey) -> [u8; SIGNATURE_BYTES] {
    let hash = Keccak256::digest(content);
    let signer = SigningKey::from(&signer.0);
    let (signature, recovery) = signer.sign_prehash_recoverable(&hash);
    let mut bytes = [0; SIGNATURE_BYTES];
    bytes[..SIGNATURE_BYTES - 1].copy_from_slice(&signature.to_bytes());
    bytes[SIGNATURE_BYTES - 1] = recovery.to_byte();
    bytes
}

/// Returns the key that signed the content; `None` if no key did.
pub(crate) fn recover(content: &[u8], signature: &[u8]) -> Option<PublicKey> {
    let (recovery, signature) = signature.split_last()?;
    let recovery = recovery.checked_sub(RECOVERY_OFFSET).unwrap_or(*recovery);
    let recovery = RecoveryId::from_byte(recovery)?;
    let signature = Signature::from_slice(signature).ok()?;
    let hash = Keccak256::digest(content);
    let key = VerifyingKey::recover_from_prehash(&hash, &signature, recovery).ok()?;
    Some(PublicKey(key.into()))
}
