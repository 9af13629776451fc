//! RLN module: memberships, proofs and verification behind one interface, over registries chosen by name.
//!
//! This is the interface of the published specification `rln-api`. [`RlnModule`] registers and stores
//! memberships, makes proofs and verifies them; its caller passes only a [`MembershipScope`], a signal or a
//! proof. A registry is named by CAIP-10 ([`RegistryName`]) and opened by a [`RegistryTable`] according to its
//! namespace; below the module all are a [`ModuleRegistry`].
//!
//! The module has no clock and no thread: time is an argument in Unix nanoseconds, and [`RlnModule::maintain`] must
//! be called every few seconds. All calls take `&self`, from any thread.

mod chain;
mod config;
mod error;
mod file;
mod instance;
mod name;
mod proof;
mod registry;
mod running;
mod scope;
mod state;
mod store;

pub use chain::{ChainRegistries, ChainRegistry, NoAccount};
pub use config::ModuleConfig;
pub use error::{ModuleError, NotReadyReason, PermanentFault, TransientFault};
pub use file::FileRegistry;
pub use instance::RlnModule;
pub use name::{RegistryName, RegistryNameError};
pub use proof::{ModuleProof, ProofDefect};
pub use registry::{
    FoundMember, Lifecycle, ModuleRegistry, Observation, RegistrationAccount, RegistrationOptions,
    RegistryOpenError, RegistryTable, SubmitError, UnknownOption,
};
pub use scope::{MembershipScope, membership_hash};
pub use state::{MembershipReport, MembershipStatus, ModuleMembership, ScopeQuota};
pub use store::{CredentialFault, ModuleStoreError};

#[cfg(test)]
mod tests;
