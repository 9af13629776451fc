//! Encrypted store of the module's memberships: one folder, held by one module at a time.
//!
//! ```text
//! memberships.json              the memberships; credentials are encrypted, the rest is not
//! memberships.lock              held exclusively while a module runs
//! HASH-IDENTIFIER.ids           message-id counter of a membership in one application
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use undertone_rln::keystore::{SealDefect, Sealed};
use undertone_rln::{Fr, Identity, RlnIdentifier, durable, fr_from_le, fr_to_le, prover};
use zeroize::Zeroizing;

use super::name::RegistryName;
use super::scope::membership_hash;
use super::state::Milestone;

/// Maximum file size, bytes: about a thousand memberships.
const MAX_FILE_BYTES: u64 = 2 << 20;
/// Maximum number of memberships, including ended ones: their deposits may still have value.
const MAX_MEMBERSHIPS: usize = 1000;
/// Version of the file's format.
const VERSION: u32 = 1;
/// Length of an identity's two random numbers, bytes.
const IDENTITY_BYTES: usize = 64;

/// Error of the store of memberships.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleStoreError {
    /// Another module holds the store.
    #[error("{0}: in use by another module; a membership may be used by one module only")]
    Locked(PathBuf),
    /// The operating system refused a file operation.
    #[error("{path}: {source}; check that the folder is writable and has space")]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file is far larger than a store.
    #[error("{0}: longer than {MAX_FILE_BYTES} bytes, so not a store of memberships")]
    TooLarge(PathBuf),
    /// The file is not the JSON of a store.
    #[error("{path}: not a store of memberships ({source}); restore it from a backup")]
    NotAStore {
        /// Path of the file.
        path: PathBuf,
        /// Error of the JSON reader, with its position.
        source: serde_json::Error,
    },
    /// The file was made by another version of this program.
    #[error("{path}: of version {found}, this program reads {VERSION}; use the other program")]
    OtherVersion {
        /// Path of the file.
        path: PathBuf,
        /// Version of the file.
        found: u32,
    },
    /// The store has no room for another membership.
    #[error("a store holds {MAX_MEMBERSHIPS} memberships at most; start another one")]
    Full,
    /// A credential cannot be used: the password is wrong, or the file was modified.
    #[error("{path}: credential of {registry}: {what}")]
    Credential {
        /// Path of the file.
        path: PathBuf,
        /// Registry that the file names for it.
        registry: String,
        /// Defect that was found.
        what: CredentialFault,
    },
}

/// Defect of a stored credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialFault {
    /// The credential cannot be opened with any password.
    #[error("{0}; restore the store from a backup")]
    Sealed(#[from] SealDefect),
    /// The authentication code differs.
    #[error("wrong password, or the file was changed; try another password")]
    WrongPassword,
    /// The decrypted content is not a credential.
    #[error("the file was changed; restore it from a backup")]
    Garbled,
    /// The credential belongs to another registry or commitment than the file says.
    #[error("it belongs to another registry or member; restore the store from a backup")]
    Misplaced,
}

/// One membership in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StoredMembership {
    /// Canonical name of the registry.
    registry: String,
    /// Identity commitment, hexadecimal, little-endian.
    commitment: String,
    /// Limit in messages per epoch: as requested, then as the registry says.
    pub(super) rate_limit: u32,
    /// Index of the leaf, once known from the registry.
    pub(super) leaf_index: Option<u32>,
    /// Time of the submission, Unix nanoseconds.
    pub(super) submitted_unix_ns: u64,
    /// Progress of the membership.
    pub(super) milestone: Milestone,
    credential: Sealed,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoreFile {
    version: u32,
    memberships: Vec<StoredMembership>,
}

/// The parts of a store's file that are not secret, with the lock.
#[derive(Debug)]
pub(super) struct MembershipStore {
    folder: PathBuf,
    /// All memberships; those of one registry in the order in which they were added.
    memberships: Vec<StoredMembership>,
    /// Lock of the folder, released when the store is dropped.
    _lock: File,
}

impl StoredMembership {
    /// Encrypts a new membership.
    pub(super) fn seal(
        registry: &RegistryName,
        identity: &Identity,
        rate_limit: u32,
        submitted_unix_ns: u64,
        password: &[u8],
        rounds: u32,
    ) -> Result<Self, undertone_rln::ProveError> {
        let name = registry.as_str().as_bytes();
        // Allocated at full size: a text that grew would leave copies in memory that are not wiped.
        let mut text = Zeroizing::new(Vec::with_capacity(IDENTITY_BYTES + name.len()));
        for number in [identity.trapdoor(), identity.nullifier()] {
            text.extend_from_slice(&*Zeroizing::new(fr_to_le(number)));
        }
        text.extend_from_slice(name);
        Ok(Self {
            registry: registry.to_string(),
            commitment: hex::encode(fr_to_le(&identity.commitment())),
            rate_limit,
            leaf_index: None,
            submitted_unix_ns,
            milestone: Milestone::Submitted,
            credential: Sealed::new(&text, password, rounds, &mut prover::os_rng()?),
        })
    }

    /// Decrypts the identity, and checks that it belongs to this registry and commitment.
    fn open(&self, password: &[u8]) -> Result<Identity, CredentialFault> {
        let text = self.credential.open(password)?;
        let text = text.ok_or(CredentialFault::WrongPassword)?;
        let (numbers, registry) = text
            .split_first_chunk::<IDENTITY_BYTES>()
            .ok_or(CredentialFault::Garbled)?;
        let number = |at: usize| -> Result<Fr, CredentialFault> {
            let mut bytes = Zeroizing::new([0; 32]);
            bytes.copy_from_slice(&numbers[at..at + 32]);
            fr_from_le(&bytes).map_err(|_| CredentialFault::Garbled)
        };
        let identity = Identity::from_parts(number(0)?, number(32)?);
        let commitment = hex::encode(fr_to_le(&identity.commitment()));
        if registry != self.registry.as_bytes() || commitment != self.commitment {
            return Err(CredentialFault::Misplaced);
        }
        Ok(identity)
    }
}

impl MembershipStore {
    /// Opens the store in `folder`, or creates it, and locks it.
    pub(super) fn open(folder: &Path) -> Result<Self, ModuleStoreError> {
        fs::create_dir_all(folder).map_err(io_error(folder))?;
        let lock_path = folder.join("memberships.lock");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let lock = options.open(&lock_path).map_err(io_error(&lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(ModuleStoreError::Locked(lock_path)),
            Err(TryLockError::Error(source)) => return Err(io_error(&lock_path)(source)),
        }
        Ok(Self {
            folder: folder.to_owned(),
            memberships: read(&file_path(folder))?,
            _lock: lock,
        })
    }

    /// Returns the identity and record of a registry's newest membership.
    pub(super) fn newest(
        &self,
        registry: &RegistryName,
        password: &[u8],
    ) -> Result<Option<(Identity, StoredMembership)>, ModuleStoreError> {
        let mut newest_first = self.memberships.iter().rev();
        let Some(record) = newest_first.find(|known| known.registry == registry.as_str()) else {
            return Ok(None);
        };
        let opened = record.open(password);
        let identity = opened.map_err(|what| ModuleStoreError::Credential {
            path: file_path(&self.folder),
            registry: record.registry.clone(),
            what,
        })?;
        Ok(Some((identity, record.clone())))
    }

    /// Adds a membership, which becomes the newest of its registry. Returns once it is on disk.
    pub(super) fn add(&mut self, added: StoredMembership) -> Result<(), ModuleStoreError> {
        if self.memberships.len() >= MAX_MEMBERSHIPS {
            return Err(ModuleStoreError::Full);
        }
        self.change(|memberships| memberships.push(added))
    }

    /// Replaces the record of a membership.
    pub(super) fn update(&mut self, changed: &StoredMembership) -> Result<(), ModuleStoreError> {
        self.change(|memberships| {
            let mut known = memberships.iter_mut();
            if let Some(known) = known.find(|known| known.commitment == changed.commitment) {
                *known = changed.clone();
            }
        })
    }

    /// Removes a membership that was never submitted.
    pub(super) fn remove(&mut self, refused: &StoredMembership) -> Result<(), ModuleStoreError> {
        self.change(|memberships| {
            memberships.retain(|known| known.commitment != refused.commitment);
        })
    }

    /// Returns the path of the message-id counter of a membership in one application.
    pub(super) fn counter(
        &self,
        registry: &RegistryName,
        commitment: Fr,
        identifier: &RlnIdentifier,
    ) -> PathBuf {
        let hash = membership_hash(registry, commitment);
        let application = hex::encode(identifier.0);
        self.folder.join(format!("{hash}-{application}.ids"))
    }

    fn change(
        &mut self,
        change: impl FnOnce(&mut Vec<StoredMembership>),
    ) -> Result<(), ModuleStoreError> {
        let mut memberships = self.memberships.clone();
        change(&mut memberships);
        let file = StoreFile {
            version: VERSION,
            memberships,
        };
        let json = serde_json::to_vec_pretty(&file).expect("texts and numbers have a JSON form");
        let path = file_path(&self.folder);
        durable::replace(&path, &json).map_err(io_error(&path))?;
        self.memberships = file.memberships;
        Ok(())
    }
}

fn file_path(folder: &Path) -> PathBuf {
    folder.join("memberships.json")
}

/// Reads the memberships; empty if there is no file.
fn read(path: &Path) -> Result<Vec<StoredMembership>, ModuleStoreError> {
    let json = match durable::read_bounded(path, MAX_FILE_BYTES) {
        Ok(json) => json,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Err(ModuleStoreError::TooLarge(path.to_owned()));
        }
        Err(source) => return Err(io_error(path)(source)),
    };
    let content: StoreFile =
        serde_json::from_slice(&json).map_err(|source| ModuleStoreError::NotAStore {
            path: path.to_owned(),
            source,
        })?;
    if content.version != VERSION {
        return Err(ModuleStoreError::OtherVersion {
            path: path.to_owned(),
            found: content.version,
        });
    }
    Ok(content.memberships)
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> ModuleStoreError {
    let path = path.to_owned();
    move |source| ModuleStoreError::Io {
        path: path.clone(),
        source,
    }
}
