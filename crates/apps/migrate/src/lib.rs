//! Reads deployments of other Waku nodes and converts them to a folder for an Undertone node.
//!
//! [`Migration::read`] reads flags, TOML, compose file, node key and archive of the reference node (nwaku, now
//! logos-delivery), and detects everything that can be wrong with them. [`Migration::open_keystore`] adds its
//! membership; [`Migration::write`] creates the folder. Existing files are never overwritten. The crate neither
//! prints nor asks anything.

mod archive;
mod error;
mod flags;
mod folder;
mod identity;
mod mapping;
mod migration;
mod read;
mod release;
mod report;
mod values;
pub mod yaml;

pub use archive::ArchiveCopy;
pub use error::MigrateError;
pub use flags::explain_flag;
pub use identity::{FoundKeystore, MovedMember};
pub use mapping::{FlagLine, FlagOutcome};
pub use migration::{Migration, NwakuSources};
pub use read::ReadFault;
pub use report::MigrationReport;
