#![doc = include_str!("../README.md")]
//!
//! # How an archive works
//!
//! An archive keeps messages with their rate-limit proofs, answers the queries of
//! [`undertone_services::history`], and forgets by its [`RetentionPolicy`]. What [`Archive::insert`] has
//! acknowledged is on disk. Ephemeral messages are never kept.
//!
//! Both databases are divided into slots of time. Retention drops whole slots: no row is ever deleted, so an
//! index never holds entries of what is gone, and disk space returns at once. Within a slot, three indexes
//! lead to a message: by time, by topic and time, and by hash. Each page is read by a bounded number of index
//! entries, whatever the query names.
//!
//! # Where to start
//!
//! [`Archive::open`] with an [`ArchiveUrl`] and [`ArchiveOptions`]; [`ArchiveError`] names what is wrong and
//! the remedy.

mod archive;
mod cursors;
mod error;
mod header;
mod health;
mod page;
#[cfg(feature = "postgres")]
mod postgres;
mod retention;
mod slot;
mod sqlite;
mod url;
mod write;

pub use archive::{Archive, ArchiveOptions};
pub use error::{ArchiveError, QueryError};
pub use header::ArchivedHeader;
pub use health::{ArchiveHealth, ArchiveSizes, ArchiveStats};
pub use retention::{MaintainReport, RetentionClock, RetentionError, RetentionPolicy};
pub use url::{ArchiveUrl, ArchiveUrlError};
pub use write::InsertReport;
