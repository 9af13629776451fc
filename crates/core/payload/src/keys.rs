//! Creation, reading and writing of keys. The other modules use them.

use std::fmt;

use k256::elliptic_curve::sec1::ToSec1Point as _;
use rand_core::CryptoRng;
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{PayloadKeyError, SealError};

#[cfg(test)]
#[path = "tests/keys.rs"]
mod tests;

/// Length of a symmetric key and of a secret key, in bytes.
const SECRET_BYTES: usize = 32;

/// Iterations of PBKDF2 that Waku clients use for a key from a passphrase.
const PASSPHRASE_ITERATIONS: u32 = 65_356;

/// Maximum number of attempts to draw a secret key; with random numbers, one in 2^128 fails.
const ATTEMPTS_MAX: usize = 8;

/// Key shared by a group: whoever knows it can read and write.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct SymmetricKey([u8; SECRET_BYTES]);

impl SymmetricKey {
    /// Creates a key from 32 bytes.
    pub fn from_bytes(bytes: [u8; SECRET_BYTES]) -> Self {
        Self(bytes)
    }

    /// Creates a key from a slice.
    ///
    /// # Errors
    /// [`PayloadKeyError::Length`] unless there are 32 bytes.
    pub fn from_slice(bytes: &[u8]) -> Result<Self, PayloadKeyError> {
        let found = bytes.len();
        let expected = SECRET_BYTES;
        let bytes = bytes.try_into();
        bytes
            .map(Self)
            .map_err(|_| PayloadKeyError::Length { found, expected })
    }

    /// Generates a new key.
    pub fn generate(rng: &mut impl CryptoRng) -> Self {
        let mut key = Self([0; SECRET_BYTES]);
        rng.fill_bytes(&mut key.0);
        key
    }

    /// Derives the key that Waku clients use for a passphrase: PBKDF2 with HMAC-SHA-256, no salt and 65,356 iterations.
    ///
    /// Without a salt, one table of guesses works against all groups, so the passphrase must be unguessable, such as
    /// six random words.
    pub fn from_passphrase(passphrase: &[u8]) -> Self {
        let mut key = Self([0; SECRET_BYTES]);
        pbkdf2::pbkdf2_hmac::<Sha256>(passphrase, &[], PASSPHRASE_ITERATIONS, &mut key.0);
        key
    }

    /// Returns the bytes of the key.
    pub fn as_bytes(&self) -> &[u8; SECRET_BYTES] {
        &self.0
    }
}

impl fmt::Debug for SymmetricKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SymmetricKey(..)")
    }
}

/// Secret key of a reader or of an author: a scalar of secp256k1, wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey(pub(crate) k256::SecretKey);

impl SecretKey {
    /// Reads a secret key of 32 bytes, big-endian.
    ///
    /// # Errors
    /// [`PayloadKeyError`] unless it is a number from 1 to the order of the curve minus 1.
    pub fn from_slice(bytes: &[u8]) -> Result<Self, PayloadKeyError> {
        if bytes.len() != SECRET_BYTES {
            return Err(PayloadKeyError::Length {
                found: bytes.len(),
                expected: SECRET_BYTES,
            });
        }
        let key = k256::SecretKey::from_slice(bytes);
        key.map(Self).map_err(|_| PayloadKeyError::NotAScalar)
    }

    /// Generates a new secret key.
    ///
    /// # Errors
    /// [`SealError::Generator`] when the generator's numbers are not random.
    pub fn generate(rng: &mut impl CryptoRng) -> Result<Self, SealError> {
        let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
        for _ in 0..ATTEMPTS_MAX {
            rng.fill_bytes(&mut *bytes);
            if let Ok(key) = Self::from_slice(&*bytes) {
                return Ok(key);
            }
        }
        Err(SealError::Generator)
    }

    /// Returns the 32 bytes of the key, big-endian, wiped when dropped.
    pub fn to_bytes(&self) -> Zeroizing<[u8; SECRET_BYTES]> {
        Zeroizing::new(self.0.to_bytes().into())
    }

    /// Returns the public key.
    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.0.public_key())
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// Public key of a reader or of an author: a point of secp256k1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(pub(crate) k256::PublicKey);

impl PublicKey {
    /// Length of an uncompressed public key, in bytes.
    pub const BYTES: usize = 65;

    /// Reads a public key in SEC 1 form, uncompressed (65 bytes) or compressed (33 bytes).
    ///
    /// # Errors
    /// [`PayloadKeyError`] unless it is a point of the curve.
    pub fn from_slice(bytes: &[u8]) -> Result<Self, PayloadKeyError> {
        if !matches!(bytes.len(), 33 | Self::BYTES) {
            return Err(PayloadKeyError::Length {
                found: bytes.len(),
                expected: Self::BYTES,
            });
        }
        let key = k256::PublicKey::from_sec1_bytes(bytes);
        key.map(Self).map_err(|_| PayloadKeyError::NotAPoint)
    }

    /// Returns the key in uncompressed SEC 1 form: 4, x, y.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let point = self.0.to_sec1_point(false);
        let mut bytes = [0; Self::BYTES];
        bytes.copy_from_slice(point.as_bytes());
        bytes
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PublicKey(")?;
        let bytes = self.to_bytes();
        bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}
