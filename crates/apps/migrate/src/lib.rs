//! Deployments of other Waku nodes, read and turned into a folder for a node of Undertone.
//!
//! [`Migration::read`] reads flags, TOML, compose file, node key and archive of the reference node (nwaku, now
//! logos-delivery) and finds everything that can be wrong in them; [`Migration::open_keystore`] adds its membership;
//! [`Migration::write`] makes the folder. Existing files are never overwritten. Nothing is printed or asked here.

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
