//! Registries of RLN members: the identities that may publish.
//!
//! A [`Registry`] is a log of registrations and removals. [`SqliteRegistry`] keeps it in one file
//! that several processes of one machine share. A [`MembershipView`] follows any registry and holds
//! what a relay needs: the membership tree and the window of accepted roots.
//!
//! [`evm::EvmRegistry`] is the registry of the Waku networks: a contract on a chain.

pub mod evm;
mod registry;
mod sqlite;
mod view;

pub use registry::{
    Change, ChangeKind, MAX_LIMIT, Member, MemberIndex, Registry, RegistryError, RegistryId,
    Version,
};
pub use sqlite::{Damage, SqliteRegistry, StorageError};
pub use view::{LoadError, MembershipView, View};
