//! Encryption of one text: key derivation, cipher, authentication code.

use aes::Aes128;
use aes::cipher::{KeyIvInit, StreamCipher};
use ctr::Ctr128BE;
use hmac::Hmac;
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use sha3::{Digest, Keccak256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Number of PBKDF2 rounds for a new credential.
pub const ROUNDS: u32 = 1_000_000;

/// Maximum number of PBKDF2 rounds accepted in a file; they take a few seconds.
pub const MAX_ROUNDS: u32 = 10_000_000;

/// Longest accepted ciphertext, bytes. Those written here have about 700.
const MAX_CIPHERTEXT_BYTES: usize = 8192;
/// Longest accepted salt, bytes. Those written here have 16.
const MAX_SALT_BYTES: usize = 128;

const CIPHER: &str = "aes-128-ctr";
const KDF: &str = "pbkdf2";
const PRF: &str = "hmac-sha256";
const KEY_BYTES: usize = 32;
const SALT_BYTES: usize = 16;

/// Defect that makes a credential impossible to decrypt, whatever the password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealDefect {
    /// The file names another method than the format requires.
    #[error("{field} is {found:?}, {expected:?} is expected")]
    Method {
        /// Name of the field in the file.
        field: &'static str,
        /// Value in the file.
        found: String,
        /// Value that the format requires.
        expected: &'static str,
    },
    /// The derived key's length is not the one that the format requires.
    #[error("dklen is {found}, {KEY_BYTES} is expected")]
    KeyLength {
        /// Key length in the file, bytes.
        found: u32,
    },
    /// The number of PBKDF2 rounds is 0 or above the limit.
    #[error("{found} rounds of PBKDF2, 1 to {MAX_ROUNDS} are done")]
    Rounds {
        /// Number of rounds in the file.
        found: u32,
    },
    /// A field is not hexadecimal or does not have the right length.
    #[error("{field} is not hexadecimal of the right length")]
    Hex {
        /// Name of the field in the file.
        field: &'static str,
    },
}

/// Text encrypted under a password: the `crypto` object of a keystore's credential.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sealed {
    cipher: String,
    cipherparams: CipherParams,
    ciphertext: String,
    kdf: String,
    kdfparams: KdfParams,
    mac: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct CipherParams {
    iv: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct KdfParams {
    dklen: u32,
    c: u32,
    prf: String,
    salt: String,
}

/// [`Sealed`] with its fields decoded and within bounds.
struct DecodedKeystore {
    iv: [u8; 16],
    ciphertext: Vec<u8>,
    salt: Vec<u8>,
    mac: [u8; 32],
}

impl Sealed {
    /// Encrypts `text` under a new key, derived from the password and a random salt.
    ///
    /// Use [`ROUNDS`] rounds, except in tests.
    pub fn new<R: CryptoRng + ?Sized>(
        text: &[u8],
        password: &[u8],
        rounds: u32,
        rng: &mut R,
    ) -> Self {
        let (mut iv, mut salt) = ([0; 16], [0; SALT_BYTES]);
        rng.fill_bytes(&mut iv);
        rng.fill_bytes(&mut salt);
        let key = derive(password, &salt, rounds);
        let mut ciphertext = text.to_vec();
        apply_cipher(&key, &iv, &mut ciphertext);
        Self {
            cipher: CIPHER.into(),
            cipherparams: CipherParams {
                iv: hex::encode(iv),
            },
            mac: hex::encode(mac(&key, &ciphertext)),
            ciphertext: hex::encode(ciphertext),
            kdf: KDF.into(),
            kdfparams: KdfParams {
                dklen: KEY_BYTES as u32,
                c: rounds,
                prf: PRF.into(),
                salt: hex::encode(salt),
            },
        }
    }

    /// Number of PBKDF2 rounds of this text.
    pub(super) fn rounds(&self) -> u32 {
        self.kdfparams.c
    }

    /// Checks everything that can be checked without the password.
    ///
    /// # Errors
    /// The first [`SealDefect`] found.
    pub fn check(&self) -> Result<(), SealDefect> {
        self.decode().map(|_| ())
    }

    /// Decrypts the text; `None` when the password is wrong or the ciphertext was changed.
    ///
    /// The code does not cover the initialisation vector: a changed vector garbles the text, so the caller must
    /// be able to recognise a valid one.
    ///
    /// # Errors
    /// [`SealDefect`] when no password could open it.
    pub fn open(&self, password: &[u8]) -> Result<Option<Zeroizing<Vec<u8>>>, SealDefect> {
        let DecodedKeystore {
            iv,
            ciphertext,
            salt,
            mac: expected,
        } = self.decode()?;
        let key = derive(password, &salt, self.kdfparams.c);
        // Constant-time comparison: its duration must not reveal where the codes first differ.
        if !bool::from(mac(&key, &ciphertext).ct_eq(&expected)) {
            return Ok(None);
        }
        let mut text = Zeroizing::new(ciphertext);
        apply_cipher(&key, &iv, &mut text);
        Ok(Some(text))
    }

    fn decode(&self) -> Result<DecodedKeystore, SealDefect> {
        let methods = [
            ("cipher", &self.cipher, CIPHER),
            ("kdf", &self.kdf, KDF),
            ("prf", &self.kdfparams.prf, PRF),
        ];
        for (field, found, expected) in methods {
            if !found.eq_ignore_ascii_case(expected) {
                return Err(SealDefect::Method {
                    field,
                    found: found.clone(),
                    expected,
                });
            }
        }
        let KdfParams { dklen, c, .. } = self.kdfparams;
        if dklen as usize != KEY_BYTES {
            return Err(SealDefect::KeyLength { found: dklen });
        }
        if !(1..=MAX_ROUNDS).contains(&c) {
            return Err(SealDefect::Rounds { found: c });
        }
        Ok(DecodedKeystore {
            iv: fixed("iv", &self.cipherparams.iv)?,
            ciphertext: bytes("ciphertext", &self.ciphertext, MAX_CIPHERTEXT_BYTES)?,
            salt: bytes("salt", &self.kdfparams.salt, MAX_SALT_BYTES)?,
            mac: fixed("mac", &self.mac)?,
        })
    }
}

/// Derives the key: the first 16 bytes encrypt and the other 16 authenticate.
fn derive(password: &[u8], salt: &[u8], rounds: u32) -> Zeroizing<[u8; KEY_BYTES]> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    pbkdf2::pbkdf2::<Hmac<Sha256>>(password, salt, rounds, key.as_mut_slice())
        .expect("HMAC takes keys of any length");
    key
}

fn apply_cipher(key: &[u8; KEY_BYTES], iv: &[u8; 16], text: &mut [u8]) {
    let mut key_half = Zeroizing::new([0; 16]);
    key_half.copy_from_slice(&key[..16]);
    Ctr128BE::<Aes128>::new((&*key_half).into(), iv.into()).apply_keystream(text);
}

fn mac(key: &[u8; KEY_BYTES], ciphertext: &[u8]) -> [u8; 32] {
    let hasher = Keccak256::new_with_prefix(&key[16..]);
    hasher.chain_update(ciphertext).finalize().into()
}

fn bytes(field: &'static str, digits: &str, max_bytes: usize) -> Result<Vec<u8>, SealDefect> {
    let bytes = (digits.len() <= 2 * max_bytes).then(|| hex::decode(digits).ok());
    bytes
        .flatten()
        .filter(|bytes| !bytes.is_empty())
        .ok_or(SealDefect::Hex { field })
}

fn fixed<const N: usize>(field: &'static str, digits: &str) -> Result<[u8; N], SealDefect> {
    let mut bytes = [0; N];
    hex::decode_to_slice(digits, &mut bytes).map_err(|_| SealDefect::Hex { field })?;
    Ok(bytes)
}
