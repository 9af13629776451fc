//! Sealing with a shared key: AES-256-GCM, with tag and initialisation vector appended.

use aes_gcm::aead::AeadInOut as _;
use aes_gcm::{Aes256Gcm, KeyInit as _};
use rand_core::CryptoRng;
use zeroize::Zeroize as _;

use crate::content::{self, Opened};
use crate::{CiphertextDefect, OpenError, PayloadLimits, SealError, SecretKey, SymmetricKey};

#[cfg(test)]
#[path = "tests/symmetric.rs"]
mod tests;

const TAG_BYTES: usize = 16;
const IV_BYTES: usize = 12;
const OVERHEAD_BYTES: usize = TAG_BYTES + IV_BYTES;

impl SymmetricKey {
    /// Seals a payload; it is signed if there is a signer. With random initialisation vectors, one key is safe for
    /// about 2^32 messages.
    ///
    /// # Errors
    /// [`SealError::PayloadTooLarge`].
    pub fn seal(
        &self,
        payload: &[u8],
        signer: Option<&SecretKey>,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, SealError> {
        let mut content = content::write(payload, signer, rng)?;
        let mut iv = [0; IV_BYTES];
        rng.fill_bytes(&mut iv);
        let tag = self
            .cipher()
            .encrypt_inout_detached(&iv.into(), &[], content.as_mut_slice().into())
            .expect("AES-GCM takes up to 2^36 bytes, and a content has less than 2^25");
        let mut sealed = Vec::with_capacity(content.len() + OVERHEAD_BYTES);
        sealed.extend_from_slice(&content);
        sealed.extend_from_slice(&tag);
        sealed.extend_from_slice(&iv);
        Ok(sealed)
    }

    /// Opens a payload that was sealed with this key.
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
        let (rest, iv) = sealed.split_last_chunk::<IV_BYTES>().ok_or(too_short)?;
        let (encrypted, tag) = rest.split_last_chunk::<TAG_BYTES>().ok_or(too_short)?;
        let mut content = encrypted.to_vec();
        let opened = self.cipher().decrypt_inout_detached(
            iv.into(),
            &[],
            content.as_mut_slice().into(),
            tag.into(),
        );
        if opened.is_err() {
            content.zeroize();
            return Err(OpenError::OtherKeyOrChanged);
        }
        Ok(content::read(content)?)
    }

    fn cipher(&self) -> Aes256Gcm {
        Aes256Gcm::new(self.as_bytes().into())
    }
}
