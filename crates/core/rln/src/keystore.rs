//! Encrypted storage of memberships in one file: the keystore format of nwaku, version 0.2.
//!
//! One line of JSON holds any number of credentials, each encrypted separately: PBKDF2-HMAC-SHA256 derives the key,
//! AES-128-CTR encrypts the text, and Keccak-256 over half of the key and the ciphertext detects a wrong password (Web3
//! secret storage; Waku's `rln-keystore` specification). The number and names of the credentials are not encrypted.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::durable;

mod credential;
mod error;
mod sealed;

pub use credential::{CredentialDefect, CredentialKey, KeystoreCredential};
pub use error::KeystoreError;
pub use sealed::{MAX_ROUNDS, ROUNDS, SealDefect, Sealed};

/// Largest keystore file that is read, bytes: about a thousand credentials.
pub const MAX_FILE_BYTES: u64 = 2 << 20;

/// Maximum number of credentials in a keystore.
pub const MAX_CREDENTIALS: usize = 1000;

/// Maximum total number of PBKDF2 rounds of a keystore's credentials: a hundred times [`ROUNDS`], about a minute of
/// work.
pub const MAX_TOTAL_ROUNDS: u64 = 100 * ROUNDS as u64;

/// Application name that nwaku writes; a file with another name is refused.
const APPLICATION: &str = "waku-rln-relay";
const APP_IDENTIFIER: &str = "01234567890abcdef";
const VERSION: &str = "0.2";

/// A keystore in memory. The credentials stay encrypted.
#[derive(Clone, Debug)]
pub struct Keystore {
    credentials: BTreeMap<CredentialKey, Sealed>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeystoreFile {
    application: String,
    app_identifier: String,
    version: String,
    credentials: BTreeMap<CredentialKey, KeystoreEntry>,
}

#[derive(Serialize, Deserialize)]
struct KeystoreEntry {
    crypto: Sealed,
}

impl Keystore {
    /// Creates a keystore without credentials.
    pub fn new() -> Self {
        Self {
            credentials: BTreeMap::new(),
        }
    }

    /// Reads a keystore without decrypting it.
    ///
    /// The work of decrypting is bounded by limits on the file's length, the number of credentials, and
    /// the PBKDF2 rounds of each and of all together.
    ///
    /// # Errors
    /// [`KeystoreError::Io`] when the file cannot be read; [`KeystoreError::TooLarge`] and
    /// [`KeystoreError::TooMany`] and [`KeystoreError::TooMuchWork`] beyond the limits; [`KeystoreError::NotAKeystore`] and
    /// [`KeystoreError::OtherApplication`] for other files; [`KeystoreError::Sealed`] when a credential
    /// is not encrypted as the format requires.
    pub fn read(path: &Path) -> Result<Self, KeystoreError> {
        let io_error = |source| KeystoreError::io(path, source);
        let json = durable::read_bounded(path, MAX_FILE_BYTES);
        let json = json.map_err(|source| match source.kind() {
            io::ErrorKind::FileTooLarge => KeystoreError::TooLarge(path.to_owned()),
            _ => io_error(source),
        })?;
        let file: KeystoreFile =
            serde_json::from_slice(&json).map_err(|source| KeystoreError::NotAKeystore {
                path: path.to_owned(),
                source,
            })?;
        let expected = [
            ("application", &file.application, APPLICATION),
            ("appIdentifier", &file.app_identifier, APP_IDENTIFIER),
            ("version", &file.version, VERSION),
        ];
        for (field, found, expected) in expected {
            if found != expected {
                return Err(KeystoreError::OtherApplication {
                    path: path.to_owned(),
                    field,
                    found: found.clone(),
                    expected,
                });
            }
        }
        if file.credentials.len() > MAX_CREDENTIALS {
            return Err(KeystoreError::TooMany);
        }
        let credentials: BTreeMap<_, _> = file
            .credentials
            .into_iter()
            .map(|(key, entry)| (key, entry.crypto))
            .collect();
        for (key, sealed) in &credentials {
            sealed.check().map_err(|what| sealed_error(key, what))?;
        }
        let keystore = Self { credentials };
        keystore.check_work(0)?;
        Ok(keystore)
    }

    /// Checks the total rounds of all credentials plus `more`.
    fn check_work(&self, more: u32) -> Result<(), KeystoreError> {
        let rounds = self
            .credentials
            .values()
            .map(|sealed| u64::from(sealed.rounds()));
        let rounds = rounds.sum::<u64>() + u64::from(more);
        match rounds <= MAX_TOTAL_ROUNDS {
            true => Ok(()),
            false => Err(KeystoreError::TooMuchWork { rounds }),
        }
    }

    /// Writes a new file with mode 0600. After a crash the file is complete or absent.
    ///
    /// # Errors
    /// [`KeystoreError::Exists`] when there is a file at `path`, [`KeystoreError::Io`] when the
    /// operating system refuses.
    pub fn create(&self, path: &Path) -> Result<(), KeystoreError> {
        let exists = path.try_exists();
        if exists.map_err(|source| KeystoreError::io(path, source))? {
            return Err(KeystoreError::Exists(path.to_owned()));
        }
        self.replace(path)
    }

    /// Replaces the file at `path` by this keystore, with mode 0600. A crash leaves the old or the new
    /// file.
    ///
    /// Processes that may change a keystore concurrently must hold a lock from reading it until this function returns.
    ///
    /// # Errors
    /// [`KeystoreError::Io`] when the operating system refuses.
    pub fn replace(&self, path: &Path) -> Result<(), KeystoreError> {
        let file = KeystoreFile {
            application: APPLICATION.into(),
            app_identifier: APP_IDENTIFIER.into(),
            version: VERSION.into(),
            credentials: self
                .credentials
                .iter()
                .map(|(key, sealed)| {
                    let crypto = sealed.clone();
                    (key.clone(), KeystoreEntry { crypto })
                })
                .collect(),
        };
        let mut json = serde_json::to_vec(&file).expect("strings and numbers have a JSON form");
        // nwaku ends the object with a line break and expects one when reading.
        json.push(b'\n');
        durable::replace(path, &json).map_err(|source| KeystoreError::io(path, source))
    }

    /// Returns the names of the credentials, in ascending order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &CredentialKey> {
        self.credentials.keys()
    }

    /// Encrypts a credential, adds it and returns its name.
    ///
    /// # Errors
    /// [`KeystoreError::Present`] when there is a credential of the same chain, contract and index,
    /// [`KeystoreError::TooMany`] and [`KeystoreError::TooMuchWork`] when the keystore is full.
    pub fn add<R: CryptoRng + ?Sized>(
        &mut self,
        credential: &KeystoreCredential,
        password: &[u8],
        rng: &mut R,
    ) -> Result<CredentialKey, KeystoreError> {
        let key = credential.key();
        if self.credentials.contains_key(&key) {
            return Err(KeystoreError::Present { key });
        }
        if self.credentials.len() >= MAX_CREDENTIALS {
            return Err(KeystoreError::TooMany);
        }
        self.check_work(ROUNDS)?;
        let sealed = Sealed::new(&credential.to_json(), password, ROUNDS, rng);
        self.credentials.insert(key.clone(), sealed);
        Ok(key)
    }

    /// Decrypts a credential. With [`ROUNDS`] rounds of two hashes each, this takes about half a second.
    ///
    /// # Errors
    /// [`KeystoreError::Unknown`] when there is no credential of that name,
    /// [`KeystoreError::WrongPassword`] when the authentication code differs,
    /// [`KeystoreError::Credential`] when the decrypted text is not a credential of that name.
    pub fn open(
        &self,
        key: &CredentialKey,
        password: &[u8],
    ) -> Result<KeystoreCredential, KeystoreError> {
        let sealed = self.credentials.get(key);
        let sealed = sealed.ok_or_else(|| KeystoreError::Unknown { key: key.clone() })?;
        let opened = sealed.open(password);
        let json = opened
            .map_err(|what| sealed_error(key, what))?
            .ok_or_else(|| KeystoreError::WrongPassword { key: key.clone() })?;
        let defect = |what| KeystoreError::Credential {
            key: key.clone(),
            what,
        };
        let credential = KeystoreCredential::from_json(&json).map_err(defect)?;
        if credential.key() != *key {
            return Err(defect(CredentialDefect::Name));
        }
        Ok(credential)
    }

    /// Re-encrypts all credentials under a new password. On an error nothing has changed.
    ///
    /// # Errors
    /// As [`Keystore::open`] for any credential: all must have the same password.
    pub fn change_password<R: CryptoRng + ?Sized>(
        &mut self,
        old: &[u8],
        new: &[u8],
        rng: &mut R,
    ) -> Result<(), KeystoreError> {
        let mut changed = BTreeMap::new();
        for key in self.credentials.keys() {
            let credential = self.open(key, old)?;
            let sealed = Sealed::new(&credential.to_json(), new, ROUNDS, rng);
            changed.insert(key.clone(), sealed);
        }
        self.credentials = changed;
        Ok(())
    }
}

impl Default for Keystore {
    fn default() -> Self {
        Self::new()
    }
}

impl KeystoreError {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

fn sealed_error(key: &CredentialKey, what: SealDefect) -> KeystoreError {
    KeystoreError::Sealed {
        key: key.clone(),
        what,
    }
}

#[cfg(test)]
#[path = "tests/keystore.rs"]
mod tests;
