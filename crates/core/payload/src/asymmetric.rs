//! Sealing for one reader: ECIES on secp256k1 (RFC 26).
//!
//! The sealed form is an ephemeral public key, an initialisation vector, an AES-128-CTR ciphertext, and an HMAC-SHA-256
//! over the previous two. The two keys are the halves of SHA-256(00000001 || x), where x is the shared point's
//! coordinate; the second half is hashed once more.

use aes::Aes128;
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit as _, StreamCipher as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
use rand_core::CryptoRng;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::content::{self, Opened};
use crate::{CiphertextDefect, OpenError, PayloadLimits, PublicKey, SealError, SecretKey};

#[cfg(test)]
#[path = "tests/asymmetric.rs"]
mod tests;

const IV_BYTES: usize = 16;
const MAC_BYTES: usize = 32;
const OVERHEAD_BYTES: usize = PublicKey::BYTES + IV_BYTES + MAC_BYTES;

impl PublicKey {
    /// Seals a payload so that only the owner of the secret key can open it. It is signed if there is a signer.
    ///
    /// # Errors
    /// [`SealError`].
    pub fn seal(
        &self,
        payload: &[u8],
        signer: Option<&SecretKey>,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, SealError> {
        let mut content = content::write(payload, signer, rng)?;
        let ephemeral = SecretKey::generate(rng)?;
        let mut iv = [0; IV_BYTES];
        rng.fill_bytes(&mut iv);
        let keys = Keys::agreed(&ephemeral, self);
        keys.apply_cipher(&iv, &mut content);

        let mut sealed = Vec::with_capacity(content.len() + OVERHEAD_BYTES);
        sealed.extend_from_slice(&ephemeral.public_key().to_bytes());
        sealed.extend_from_slice(&iv);
        sealed.extend_from_slice(&content);
        let mac = keys.mac(&sealed[Self::BYTES..]).finalize();
        sealed.extend_from_slice(&mac.into_bytes());
        Ok(sealed)
    }
}

impl SecretKey {
    /// Opens a payload that was sealed to this key's public key.
    ///
    /// # Errors
    /// [`OpenError`], classified by who is at fault.
    pub fn open(&self, sealed: &[u8], limits: &PayloadLimits) -> Result<Opened, OpenError> {
        let size_bytes = sealed.len();
        let max_bytes = limits.sealed_bytes_max;
        if size_bytes > max_bytes {
            return Err(OpenError::TooLarge {
                size_bytes,
                max_bytes,
            });
        }
        let too_short = CiphertextDefect::TooShort {
            size_bytes,
            min_bytes: OVERHEAD_BYTES,
        };
        let (point, rest) = sealed
            .split_first_chunk::<{ PublicKey::BYTES }>()
            .ok_or(too_short)?;
        let (authentic, mac) = rest.split_last_chunk::<MAC_BYTES>().ok_or(too_short)?;
        let (iv, encrypted) = authentic.split_first_chunk::<IV_BYTES>().ok_or(too_short)?;
        let ephemeral = PublicKey::from_slice(point).map_err(|_| CiphertextDefect::EphemeralKey)?;
        let keys = Keys::agreed(self, &ephemeral);
        // Compared in constant time.
        let is_authentic = keys.mac(authentic).verify_slice(mac);
        is_authentic.map_err(|_| OpenError::OtherKeyOrChanged)?;
        let mut content = encrypted.to_vec();
        keys.apply_cipher(iv, &mut content);
        Ok(content::read(content)?)
    }
}

/// Keys derived for one message, equal for author and reader.
struct Keys {
    encryption: Zeroizing<[u8; 16]>,
    authentication: Zeroizing<[u8; 32]>,
}

impl Keys {
    fn agreed(own: &SecretKey, other: &PublicKey) -> Self {
        let shared = k256::ecdh::diffie_hellman(own.0.to_nonzero_scalar(), other.0.as_affine());
        let derived = Sha256::new()
            .chain_update(1_u32.to_be_bytes())
            .chain_update(shared.raw_secret_bytes());
        let derived: Zeroizing<[u8; 32]> = Zeroizing::new(derived.finalize().into());
        let (encryption, authentication) = derived.split_at(16);
        let mut keys = Self {
            encryption: Zeroizing::new([0; 16]),
            authentication: Zeroizing::new(Sha256::digest(authentication).into()),
        };
        keys.encryption.copy_from_slice(encryption);
        keys
    }

    /// Encrypts or decrypts in place; both are the same operation.
    fn apply_cipher(&self, iv: &[u8; IV_BYTES], bytes: &mut [u8]) {
        Ctr128BE::<Aes128>::new(&(*self.encryption).into(), iv.into()).apply_keystream(bytes);
    }

    fn mac(&self, bytes: &[u8]) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&*self.authentication);
        mac.expect("HMAC takes keys of any length")
            .chain_update(bytes)
    }
}
