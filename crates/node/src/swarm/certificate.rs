//! Certificate of the WebSocket port: reading its files, and taking new ones while the node listens.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use libp2p::websocket::tls;
use parking_lot::Mutex;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use thiserror::Error;

/// Longest file that is read, bytes: a chain of a few certificates has some kilobytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Files with the certificate of a server and its key, both in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// Certificate of the server, followed by those that vouch for it.
    pub chain: PathBuf,
    /// Secret key of the certificate: PKCS#8, PKCS#1 or SEC1.
    pub key: PathBuf,
}

/// Reason why a certificate cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A file cannot be read.
    #[error("{key} {path}: {error}; check the path, and that the node's user may read the file")]
    Unreadable {
        /// Configuration key that names the file.
        key: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
    /// A file has no certificate in it, or something damaged.
    #[error(
        "websocket-secure-cert-path {path}: no certificate in PEM ({reason}); name the file with the whole \
         chain, such as fullchain.pem"
    )]
    NoCertificate {
        /// Path of the file.
        path: PathBuf,
        /// Defect that was found first.
        reason: String,
    },
    /// A file has no secret key in it, or something damaged.
    #[error(
        "websocket-secure-key-path {path}: no secret key in PEM ({reason}); name the file that belongs to the \
         certificate, such as privkey.pem, without a passphrase"
    )]
    NoKey {
        /// Path of the file.
        path: PathBuf,
        /// Defect that was found first.
        reason: String,
    },
    /// The key belongs to another certificate, or is of a kind that TLS does not know.
    #[error(
        "{chain} and {key} cannot be used together: {reason}; name a certificate and its own key"
    )]
    Mismatch {
        /// File of the certificate.
        chain: PathBuf,
        /// File of the key.
        key: PathBuf,
        /// Error of the TLS library.
        reason: tls::Error,
    },
}

impl CertificateFiles {
    /// Reads both files.
    ///
    /// # Errors
    /// [`CertificateError`] names the file and the remedy.
    pub(crate) fn read(&self) -> Result<tls::Config, CertificateError> {
        let pem = bounded("websocket-secure-cert-path", &self.chain)?;
        let no_certificate = |reason: String| CertificateError::NoCertificate {
            path: self.chain.clone(),
            reason,
        };
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
        let chain = chain.map_err(|error| no_certificate(error.to_string()))?;
        if chain.is_empty() {
            return Err(no_certificate("the file has none".to_owned()));
        }
        let pem = bounded("websocket-secure-key-path", &self.key)?;
        let key = PrivateKeyDer::from_pem_slice(&pem);
        let key = key.map_err(|error| CertificateError::NoKey {
            path: self.key.clone(),
            reason: error.to_string(),
        })?;
        // The bytes were of such a key a line above, so this does not panic.
        let key = tls::PrivateKey::new(key.secret_der().to_vec());
        let chain = chain.iter().map(|der| tls::Certificate::new(der.to_vec()));
        tls::Config::new(key, chain).map_err(|reason| CertificateError::Mismatch {
            chain: self.chain.clone(),
            key: self.key.clone(),
            reason,
        })
    }

    /// Time and length of each file, by which a change shows; `None` for one that is missing at the moment.
    fn stamps(&self) -> [Option<(SystemTime, u64)>; 2] {
        [&self.chain, &self.key].map(|path| {
            let known = fs::metadata(path).ok()?;
            Some((known.modified().ok()?, known.len()))
        })
    }
}

fn bounded(key: &'static str, path: &Path) -> Result<Vec<u8>, CertificateError> {
    let read = || {
        let length = fs::metadata(path)?.len();
        if length > FILE_BYTES_MAX {
            return Err(io::Error::other(format!("{length} bytes are too many")));
        }
        fs::read(path)
    };
    read().map_err(|error| CertificateError::Unreadable {
        key,
        path: path.to_owned(),
        error,
    })
}

/// Certificate on its way from the files to the transport, which takes it before its next connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct RenewedCertificate(Arc<Mutex<Option<tls::Config>>>);

impl RenewedCertificate {
    pub(super) fn take(&self) -> Option<tls::Config> {
        self.0.lock().take()
    }
}

/// Watch over the files of a certificate.
#[derive(Debug)]
pub(crate) struct CertificateWatch {
    files: CertificateFiles,
    seen: [Option<(SystemTime, u64)>; 2],
    renewed: RenewedCertificate,
}

impl CertificateWatch {
    /// Reads the files for the first time.
    ///
    /// # Errors
    /// [`CertificateError`] names the file and the remedy.
    pub(crate) fn open(files: CertificateFiles) -> Result<Self, CertificateError> {
        let seen = files.stamps();
        let renewed = RenewedCertificate::default();
        *renewed.0.lock() = Some(files.read()?);
        Ok(Self {
            files,
            seen,
            renewed,
        })
    }

    /// Place in which the transport finds the certificate.
    pub(crate) fn renewed(&self) -> RenewedCertificate {
        self.renewed.clone()
    }

    /// Reads the files again if one of them has changed, or in any case if `is_asked`. What cannot be used is logged
    /// once, and the former certificate stays.
    pub(crate) fn check(&mut self, is_asked: bool) {
        let stamps = self.files.stamps();
        if stamps == self.seen && !is_asked {
            return;
        }
        self.seen = stamps;
        let path = self.files.chain.display();
        match self.files.read() {
            Ok(config) => {
                *self.renewed.0.lock() = Some(config);
                tracing::info!(%path, "new connections get the certificate that is in the file now");
            }
            Err(error) => {
                tracing::error!(%error, "the certificate is not renewed, the former one stays");
            }
        }
    }
}

#[cfg(test)]
mod tests;
