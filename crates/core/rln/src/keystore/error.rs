//! Errors of reading, writing and opening a keystore.

use std::io;
use std::path::PathBuf;

use super::{
    CredentialDefect, CredentialKey, MAX_CREDENTIALS, MAX_FILE_BYTES, MAX_TOTAL_ROUNDS, SealDefect,
};

/// Error of a keystore operation.
#[derive(Debug, thiserror::Error)]
pub enum KeystoreError {
    /// A file exists at the path; overwriting it could lose a paid membership.
    #[error("{0}: exists already; choose another path or move the old keystore away")]
    Exists(PathBuf),
    /// The operating system refused a file operation.
    #[error("{path}: {source}; check the path, and that the folder is writable")]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file is far larger than a keystore.
    #[error("{0}: longer than {MAX_FILE_BYTES} bytes, so not a keystore")]
    TooLarge(PathBuf),
    /// The file is not the JSON of a keystore.
    #[error("{path}: not a keystore ({source}); restore it from a backup")]
    NotAKeystore {
        /// Path of the file.
        path: PathBuf,
        /// Error of the JSON reader, with its position.
        source: serde_json::Error,
    },
    /// The file is a keystore of another application or version.
    #[error("{path}: {field} is {found:?}, {expected:?} is expected; use a keystore of Waku's RLN")]
    OtherApplication {
        /// Path of the file.
        path: PathBuf,
        /// Name of the field that differs.
        field: &'static str,
        /// Value in the file.
        found: String,
        /// Value that the format requires.
        expected: &'static str,
    },
    /// The keystore has more credentials than allowed, or has no room for another.
    #[error("a keystore holds {MAX_CREDENTIALS} credentials at most; start another one")]
    TooMany,
    /// Decrypting all credentials would take more PBKDF2 rounds than allowed.
    #[error(
        "the keystore's credentials need {rounds} rounds of PBKDF2 together, {MAX_TOTAL_ROUNDS} are \
         done at most; start another one"
    )]
    TooMuchWork {
        /// Rounds of all credentials together.
        rounds: u64,
    },
    /// The credential is already in the keystore.
    #[error("credential {key} is in the keystore already; nothing was changed")]
    Present {
        /// Name of the credential.
        key: CredentialKey,
    },
    /// The keystore has no credential of this name.
    #[error("the keystore has no credential {key}; list them to see which it has")]
    Unknown {
        /// Name that was requested.
        key: CredentialKey,
    },
    /// The credential is not encrypted as the format requires.
    #[error("credential {key}: {what}; restore the keystore from a backup")]
    Sealed {
        /// Name of the credential.
        key: CredentialKey,
        /// Defect that was found.
        what: SealDefect,
    },
    /// The authentication code differs: the password is wrong or the ciphertext is damaged.
    #[error("credential {key}: wrong password, or the file is damaged; try another password")]
    WrongPassword {
        /// Name of the credential.
        key: CredentialKey,
    },
    /// The password is right, but the decrypted text is not a valid credential.
    #[error("credential {key}: {what}; it was made by a faulty program, restore a backup")]
    Credential {
        /// Name of the credential.
        key: CredentialKey,
        /// Defect that was found.
        what: CredentialDefect,
    },
}
