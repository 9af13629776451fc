//! Storage of an identity in a JSON file.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::Identity;
use crate::durable;
use crate::field::{Fr, fr_from_le, fr_to_le};

/// Largest identity file that is read, bytes; real ones are far smaller.
const MAX_FILE_BYTES: u64 = 4096;

/// The content of an identity file: four field elements as 64 hex digits each, little-endian.
///
/// The file holds the secret in clear: anyone who can read the file can publish as the member.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
#[serde(deny_unknown_fields)]
pub struct IdentityFile {
    trapdoor: String,
    nullifier: String,
    secret: String,
    commitment: String,
}

/// Error of writing or reading an identity file.
#[derive(Debug, thiserror::Error)]
pub enum IdentityFileError {
    /// A file exists at the path; overwriting it could lose a paid membership.
    #[error("{0}: exists already; choose another path or move the old identity away")]
    Exists(PathBuf),
    /// The operating system refused a file operation.
    #[error("{path}: {source}; check that the folder exists and is writable")]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file is not a JSON object of the four fields.
    #[error("{path}: not an identity file ({source}); restore it from a backup")]
    NotAnIdentity {
        /// Path of the file.
        path: PathBuf,
        /// Error of the JSON reader, with its position.
        source: serde_json::Error,
    },
    /// The file is far larger than an identity.
    #[error("{0}: longer than {MAX_FILE_BYTES} bytes, so not an identity file")]
    TooLarge(PathBuf),
    /// A field is not a field element.
    #[error(
        "{path}: {field} is not 64 hex digits of a canonical field element; restore the file \
         from a backup"
    )]
    BadElement {
        /// Path of the file.
        path: PathBuf,
        /// Name of the field in the file.
        field: &'static str,
    },
    /// Secret or commitment do not follow from trapdoor and nullifier.
    #[error(
        "{path}: {field} does not belong to the trapdoor and nullifier next to it; restore the \
         file from a backup"
    )]
    Inconsistent {
        /// Path of the file.
        path: PathBuf,
        /// Name of the field in the file.
        field: &'static str,
    },
}

impl IdentityFile {
    /// Writes an identity to a new file with mode 0600. After a crash the file is complete or absent.
    ///
    /// # Errors
    /// [`IdentityFileError::Exists`] when there is a file at `path`, [`IdentityFileError::Io`] when the
    /// operating system refuses.
    pub fn write(path: &Path, identity: &Identity) -> Result<(), IdentityFileError> {
        let io_error = |source| IdentityFileError::Io {
            path: path.to_owned(),
            source,
        };
        if path.try_exists().map_err(io_error)? {
            return Err(IdentityFileError::Exists(path.to_owned()));
        }
        let json = serde_json::to_vec_pretty(&Self::from(identity))
            .expect("a struct of four strings has a JSON form");
        durable::replace(path, &Zeroizing::new(json)).map_err(io_error)
    }

    /// Reads an identity and checks that its four numbers belong together.
    ///
    /// # Errors
    /// All variants of [`IdentityFileError`] except `Exists`.
    pub fn read(path: &Path) -> Result<Identity, IdentityFileError> {
        let io_error = |source| IdentityFileError::Io {
            path: path.to_owned(),
            source,
        };
        let json = durable::read_bounded(path, MAX_FILE_BYTES);
        let json = json.map_err(|source| match source.kind() {
            io::ErrorKind::FileTooLarge => IdentityFileError::TooLarge(path.to_owned()),
            _ => io_error(source),
        })?;
        let json = Zeroizing::new(json);
        let content: Self =
            serde_json::from_slice(&json).map_err(|source| IdentityFileError::NotAnIdentity {
                path: path.to_owned(),
                source,
            })?;
        content.identity(path)
    }

    fn identity(&self, path: &Path) -> Result<Identity, IdentityFileError> {
        let read = |field, digits: &str| {
            element(digits).ok_or(IdentityFileError::BadElement {
                path: path.to_owned(),
                field,
            })
        };
        let trapdoor = read("trapdoor", &self.trapdoor)?;
        let nullifier = read("nullifier", &self.nullifier)?;
        let identity = Identity::from_parts(trapdoor, nullifier);
        let derived = [
            ("secret", &self.secret, *identity.secret()),
            ("commitment", &self.commitment, identity.commitment()),
        ];
        for (field, digits, expected) in derived {
            if read(field, digits)? != expected {
                return Err(IdentityFileError::Inconsistent {
                    path: path.to_owned(),
                    field,
                });
            }
        }
        Ok(identity)
    }
}

impl From<&Identity> for IdentityFile {
    fn from(identity: &Identity) -> Self {
        let digits = |element: &Fr| hex::encode(Zeroizing::new(fr_to_le(element)));
        Self {
            trapdoor: digits(identity.trapdoor()),
            nullifier: digits(identity.nullifier()),
            secret: digits(identity.secret()),
            commitment: digits(&identity.commitment()),
        }
    }
}

fn element(digits: &str) -> Option<Fr> {
    let mut bytes = Zeroizing::new([0; 32]);
    hex::decode_to_slice(digits, bytes.as_mut_slice()).ok()?;
    fr_from_le(&bytes).ok()
}
