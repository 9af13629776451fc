//! Why a keystore was not read, written or opened.

use std::io;
use std::path::PathBuf;

use super::{CredentialDefect, CredentialKey, MAX_CREDENTIALS, MAX_FILE_BYTES, SealDefect};

/// Trouble with a keystore.
#[derive(Debug, thiserror::Error)]
pub enum KeystoreError {
    /// There is a file already; overwriting it could lose a paid membership.
    #[error("{0}: exists already; choose another path or move the old keystore away")]
    Exists(PathBuf),
    /// The operating system refused.
    #[error("{path}: {source}; check the path, and that the folder is writable")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file is far larger than a keystore.
    #[error("{0}: longer than {MAX_FILE_BYTES} bytes, so not a keystore")]
    TooLarge(PathBuf),
    /// The file is not the JSON of a keystore.
    #[error("{path}: not a keystore ({source}); restore it from a backup")]
    NotAKeystore {
        /// The file.
        path: PathBuf,
        /// Where the reader stopped.
        source: serde_json::Error,
    },
    /// A keystore, but another application's or of another version.
    #[error("{path}: {field} is {found:?}, {expected:?} is expected; use a keystore of Waku's RLN")]
    OtherApplication {
        /// The file.
        path: PathBuf,
        /// Which field differs.
        field: &'static str,
        /// What it says.
        found: String,
        /// What it should say.
        expected: &'static str,
    },
    /// There is no room for more.
    #[error("a keystore holds {MAX_CREDENTIALS} credentials at most; start another one")]
    TooMany,
    /// The credential is there already.
    #[error("credential {key} is in the keystore already; nothing was changed")]
    Present {
        /// The credential.
        key: CredentialKey,
    },
    /// There is no such credential.
    #[error("the keystore has no credential {key}; list them to see which it has")]
    Unknown {
        /// The name asked for.
        key: CredentialKey,
    },
    /// How the credential is encrypted is not how keystores do it.
    #[error("credential {key}: {what}; restore the keystore from a backup")]
    Sealed {
        /// The credential.
        key: CredentialKey,
        /// What does not fit.
        what: SealDefect,
    },
    /// The authentication code differs. A damaged ciphertext looks the same.
    #[error("credential {key}: wrong password, or the file is damaged; try another password")]
    WrongPassword {
        /// The credential.
        key: CredentialKey,
    },
    /// The password is right, but what it protects is no credential.
    #[error("credential {key}: {what}; it was made by a faulty program, restore a backup")]
    Credential {
        /// The credential.
        key: CredentialKey,
        /// What does not fit.
        what: CredentialDefect,
    },
}
