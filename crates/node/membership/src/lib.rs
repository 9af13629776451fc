//! Registries of RLN members: the identities that may publish.
//!
//! A registry is a log of registrations and removals ([`MembershipLog`]) in which members can be looked up
//! ([`MemberLookup`]). [`SqliteRegistry`] keeps it in one file that several processes of one machine share,
//! and registers members. A [`MembershipView`] follows any log and holds what a relay needs: the membership
//! tree and the window of accepted roots. [`root_timeline`] computes past roots, which are needed to verify
//! old messages.
//!
//! [`evm::EvmRegistry`] is the registry of the Waku networks: a contract on a chain.
//! [`evm::LightRegistry`] reads only recent roots of it, so it has no log.
//!
//! # Features
//! - `sqlite` (default): [`SqliteRegistry`].
//! - `evm` (default): the module [`evm`], with an RPC client and a file of its own.

#[cfg(feature = "evm")]
pub mod evm;
mod registry;
#[cfg(feature = "sqlite")]
mod sqlite;
mod storage;
mod timeline;
mod view;

pub use registry::{
    Change, ChangeKind, DatedChange, DatedLog, MAX_LIMIT, Member, MemberIndex, MemberLookup,
    MembershipLog, RegistryError, RegistryId, Version, tree_of,
};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteRegistry;
pub use storage::{StorageDamage, StorageError};
pub use timeline::{MAX_TIMELINE_CHANGES, TimelineError, root_timeline};
pub use view::{LoadError, MembershipView, View};
