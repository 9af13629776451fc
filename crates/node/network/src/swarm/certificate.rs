//! Certificate of the WebSocket port: reading its files, and replacing it while the node listens.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use libp2p::websocket::tls;
use parking_lot::Mutex;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use thiserror::Error;
use undertone_rln::durable::read_bounded;

/// Maximum length of a file that is read, bytes; a chain of a few certificates has some kilobytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Time before expiry by which a certificate should have been renewed, as authorities that issue 90-day certificates
/// advise.
pub const RENEWAL: Duration = Duration::from_secs(14 * 86_400);

/// Files with a server's certificate and its key, both in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// Certificate of the server, followed by its intermediate certificates.
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
    /// A file contains no certificate, or a damaged one.
    #[error(
        "websocket-secure-cert-path {path}: no certificate in PEM ({reason}); name the file with the whole \
         chain, such as fullchain.pem"
    )]
    NoCertificate {
        /// Path of the file.
        path: PathBuf,
        /// The first defect found.
        reason: String,
    },
    /// A file contains no secret key, or a damaged one.
    #[error(
        "websocket-secure-key-path {path}: no secret key in PEM ({reason}); name the file that belongs to the \
         certificate, such as privkey.pem, without a passphrase"
    )]
    NoKey {
        /// Path of the file.
        path: PathBuf,
        /// The first defect found.
        reason: String,
    },
    /// The key belongs to another certificate, or its type is not supported by TLS.
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

/// Certificate and key as read from the files.
pub struct ReadCertificate {
    /// Both, as TLS configuration.
    config: tls::Config,
    /// Time at which the certificate expires, Unix seconds.
    pub(crate) expires_unix_s: i64,
}

impl ReadCertificate {
    /// Returns the remaining validity of the certificate; `None` if it has expired.
    pub fn remaining(&self) -> Option<Duration> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_s = now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
        let remaining_s = self.expires_unix_s.saturating_sub(now_s);
        let remaining_s = u64::try_from(remaining_s).ok().filter(|s| *s > 0);
        remaining_s.map(Duration::from_secs)
    }

    /// Logs if clients refuse the certificate, or soon will.
    fn warn_of_expiry(&self, path: &Path) {
        let path = path.display();
        match self.remaining() {
            None => tracing::warn!(
                %path,
                "the certificate has expired: clients refuse it; renew it, the node takes the new one by itself"
            ),
            Some(left) if left < RENEWAL => tracing::warn!(
                %path,
                days = left.as_secs() / 86_400,
                "the certificate expires soon; renew it, the node takes the new one by itself"
            ),
            Some(_) => {}
        }
    }
}

impl CertificateFiles {
    /// Reads both files.
    ///
    /// # Errors
    /// [`CertificateError`] names the file and the remedy.
    pub fn read(&self) -> Result<ReadCertificate, CertificateError> {
        let pem = bounded("websocket-secure-cert-path", &self.chain)?;
        let no_certificate = |reason: String| CertificateError::NoCertificate {
            path: self.chain.clone(),
            reason,
        };
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
        let chain = chain.map_err(|error| no_certificate(error.to_string()))?;
        let Some(own) = chain.first() else {
            return Err(no_certificate("the file has none".to_owned()));
        };
        let (_, own) = x509_parser::parse_x509_certificate(own)
            .map_err(|error| no_certificate(error.to_string()))?;
        let expires_unix_s = own.validity().not_after.timestamp();
        let pem = bounded("websocket-secure-key-path", &self.key)?;
        let key = PrivateKeyDer::from_pem_slice(&pem);
        let key = key.map_err(|error| CertificateError::NoKey {
            path: self.key.clone(),
            reason: error.to_string(),
        })?;
        // The bytes came from such a key a line above, so this does not panic.
        let key = tls::PrivateKey::new(key.secret_der().to_vec());
        let chain = chain.iter().map(|der| tls::Certificate::new(der.to_vec()));
        let config = tls::Config::new(key, chain);
        let config = config.map_err(|reason| CertificateError::Mismatch {
            chain: self.chain.clone(),
            key: self.key.clone(),
            reason,
        })?;
        Ok(ReadCertificate {
            config,
            expires_unix_s,
        })
    }

    /// Returns the modification time and length of each file, which reveal a change; `None` for a missing file.
    fn stamps(&self) -> [Option<(SystemTime, u64)>; 2] {
        [&self.chain, &self.key].map(|path| {
            let known = fs::metadata(path).ok()?;
            Some((known.modified().ok()?, known.len()))
        })
    }
}

fn bounded(key: &'static str, path: &Path) -> Result<Vec<u8>, CertificateError> {
    read_bounded(path, FILE_BYTES_MAX).map_err(|error| CertificateError::Unreadable {
        key,
        path: path.to_owned(),
        error,
    })
}

/// Slot that passes a new certificate to the transport, which takes it before its next connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct RenewedCertificate(Arc<Mutex<Option<tls::Config>>>);

impl RenewedCertificate {
    pub(super) fn take(&self) -> Option<tls::Config> {
        self.0.lock().take()
    }
}

/// Watches the files of a certificate for changes.
#[derive(Debug)]
pub(crate) struct CertificateWatch {
    files: CertificateFiles,
    seen: [Option<(SystemTime, u64)>; 2],
    renewed: RenewedCertificate,
    expires_unix_s: i64,
}

impl CertificateWatch {
    /// Reads the files for the first time.
    ///
    /// # Errors
    /// [`CertificateError`] names the file and the remedy.
    pub(crate) fn open(files: CertificateFiles) -> Result<Self, CertificateError> {
        let seen = files.stamps();
        let renewed = RenewedCertificate::default();
        let read = files.read()?;
        read.warn_of_expiry(&files.chain);
        *renewed.0.lock() = Some(read.config);
        Ok(Self {
            files,
            seen,
            renewed,
            expires_unix_s: read.expires_unix_s,
        })
    }

    /// Returns the slot from which the transport takes the certificate.
    pub(crate) fn renewed(&self) -> RenewedCertificate {
        self.renewed.clone()
    }

    /// Returns the time at which the certificate expires, Unix seconds.
    pub(crate) fn expires_unix_s(&self) -> i64 {
        self.expires_unix_s
    }

    /// Rereads the files if one of them has changed, or in any case if `is_asked`. An unusable certificate is logged
    /// once, and the former one stays.
    pub(crate) fn check(&mut self, is_asked: bool) {
        let stamps = self.files.stamps();
        if stamps == self.seen && !is_asked {
            return;
        }
        self.seen = stamps;
        let path = self.files.chain.display();
        match self.files.read() {
            Ok(read) => {
                read.warn_of_expiry(&self.files.chain);
                self.expires_unix_s = read.expires_unix_s;
                *self.renewed.0.lock() = Some(read.config);
                tracing::info!(%path, "new connections get the certificate that is in the file now");
            }
            Err(error) => {
                tracing::error!(%error, "the certificate is not renewed, the former one stays");
            }
        }
    }
}

#[cfg(test)]
#[path = "tests/certificate.rs"]
mod tests;
