//! Places of archives: a directory for SQLite, or a PostgreSQL server.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;

#[cfg(test)]
#[path = "tests/url.rs"]
mod tests;

/// Place of an archive. Neither its `Display` nor its `Debug` shows the password.
///
/// It is parsed from `sqlite://path` or a plain path, the directory of an archive in SQLite, or from
/// `postgres://user:password@host:port/database` (or `postgresql://`). Special characters of user and password are
/// percent-encoded. The connection to PostgreSQL is not encrypted: use it on the same machine or network, or through a
/// tunnel.
#[derive(Clone, PartialEq, Eq)]
pub struct ArchiveUrl {
    place: Arc<str>,
    pub(crate) kind: UrlKind,
}

/// Database of a place.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum UrlKind {
    Sqlite(PathBuf),
    #[cfg(feature = "postgres")]
    Postgres(Box<tokio_postgres::Config>),
    #[cfg(not(feature = "postgres"))]
    Postgres,
}

/// Reason why a text is not the place of an archive. The text itself is left out, because it may contain a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArchiveUrlError {
    /// No path is given.
    #[error("the archive's URL names no path: expected `sqlite://path`, or a path")]
    NoPath,
    /// No database is given.
    #[error(
        "the archive's URL names no database: expected `postgres://user:password@host:port/db`"
    )]
    NoDatabase,
    /// The address of a server cannot be read.
    #[error(
        "the archive's URL cannot be read: expected `postgres://user:password@host:port/db` with \
         special characters percent-encoded (`@` is `%40`)"
    )]
    Postgres,
    /// The URL's scheme is unknown.
    #[error("the archive's URL has an unknown scheme: expected `sqlite://` or `postgres://`")]
    Scheme,
    /// The URL requests an encrypted connection.
    #[error(
        "the archive's URL asks for TLS, which is not supported: use a tunnel, or no `sslmode`"
    )]
    Tls,
}

impl ArchiveUrl {
    /// Returns the place of an archive in SQLite.
    pub fn sqlite(directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref();
        Self {
            place: directory.display().to_string().into(),
            kind: UrlKind::Sqlite(directory.into()),
        }
    }

    /// Returns the place as shown in errors.
    pub(crate) fn place(&self) -> Arc<str> {
        Arc::clone(&self.place)
    }
}

impl FromStr for ArchiveUrl {
    type Err = ArchiveUrlError;

    fn from_str(text: &str) -> Result<Self, ArchiveUrlError> {
        let path = match text.split_once("://") {
            Some(("sqlite", path)) => path,
            Some(("postgres" | "postgresql", _)) => return postgres(text),
            Some(_) => return Err(ArchiveUrlError::Scheme),
            None => text,
        };
        if path.is_empty() {
            return Err(ArchiveUrlError::NoPath);
        }
        Ok(Self::sqlite(path))
    }
}

#[cfg(feature = "postgres")]
fn postgres(text: &str) -> Result<ArchiveUrl, ArchiveUrlError> {
    use tokio_postgres::config::{Host, SslMode};

    let config: tokio_postgres::Config = text.parse().map_err(|_| ArchiveUrlError::Postgres)?;
    if config.get_ssl_mode() == SslMode::Require {
        return Err(ArchiveUrlError::Tls);
    }
    let database = config.get_dbname().ok_or(ArchiveUrlError::NoDatabase)?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => return Err(ArchiveUrlError::Postgres),
    };
    // Signs of a password whose special characters were not encoded: the rest of it would be taken for the host.
    if host.contains(['@', ':']) && !host.starts_with('[') {
        return Err(ArchiveUrlError::Postgres);
    }
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let user = config.get_user().unwrap_or("postgres");
    Ok(ArchiveUrl {
        place: format!("postgres://{user}@{host}:{port}/{database}").into(),
        kind: UrlKind::Postgres(Box::new(config)),
    })
}

#[cfg(not(feature = "postgres"))]
fn postgres(_text: &str) -> Result<ArchiveUrl, ArchiveUrlError> {
    Ok(ArchiveUrl {
        place: "postgres://…".into(),
        kind: UrlKind::Postgres,
    })
}

impl fmt::Display for ArchiveUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)
    }
}

impl fmt::Debug for ArchiveUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArchiveUrl({})", self.place)
    }
}
