//! A certificate for this host that signs itself.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// Files of a certificate and its key, and the hash by which a browser can trust it.
pub(crate) struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    /// SHA-256 of the public key (SubjectPublicKeyInfo), base64.
    pub(crate) key_hash: String,
}

impl Certificate {
    /// Makes a certificate with its files in a folder.
    pub(crate) fn write(folder: &Path) -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (chain, key) = (folder.join("chain.pem"), folder.join("key.pem"));
        std::fs::write(&chain, made.cert.pem()).unwrap();
        std::fs::write(&key, made.key_pair.serialize_pem()).unwrap();
        let key_hash = STANDARD.encode(Sha256::digest(made.key_pair.public_key_der()));
        Self {
            chain,
            key,
            key_hash,
        }
    }

    /// Flags of a node that uses it.
    pub(crate) fn flags(&self) -> [String; 3] {
        [
            "--websocket-secure-support=true".to_owned(),
            format!("--websocket-secure-cert-path={}", self.chain.display()),
            format!("--websocket-secure-key-path={}", self.key.display()),
        ]
    }
}
