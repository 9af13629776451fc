//! The registries below the module: one trait, with the implementation chosen by the name's namespace.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use parking_lot::Mutex;
use undertone_rln::Fr;

use super::name::RegistryName;
use undertone_membership::StorageError;
use undertone_membership::View;
use undertone_membership::{Member, RegistryError};

/// Registry as the module uses it. All but [`Self::refresh`], [`Self::observe`] and [`Self::submit`] return at
/// once.
pub trait ModuleRegistry: Send + Sync {
    /// Returns the rate limits that the registry is known to accept, in messages per epoch.
    fn rate_limits(&self) -> RangeInclusive<u32>;

    /// Whether the view has been complete at least once since the registry was opened.
    fn is_ready(&self) -> bool;

    /// Returns the roots and paths as last known. Holding its lock delays verification.
    fn view(&self) -> Arc<Mutex<dyn View>>;

    /// Updates the view, unless a thread of the registry does so.
    ///
    /// # Errors
    /// When the registry cannot be read; the view stays as it was.
    fn refresh(&self) -> Result<(), RegistryError>;

    /// Looks up a member. Absence must have been read from the registry; a registry that does not answer is an error.
    ///
    /// # Errors
    /// When the registry cannot be read.
    fn observe(&self, commitment: Fr) -> Result<Observation, RegistryError>;

    /// Submits a registration, without waiting for the registry to apply it.
    ///
    /// # Errors
    /// [`SubmitError`], which says whether the registration may have reached the registry.
    fn submit(
        &self,
        commitment: Fr,
        rate_limit: u32,
        options: &RegistrationOptions,
    ) -> Result<(), SubmitError>;
}

/// Account that registers members in a registry that requires a payment or a signature.
pub trait RegistrationAccount: Send + Sync {
    /// Submits a registration as [`ModuleRegistry::submit`] does.
    ///
    /// # Errors
    /// [`SubmitError`], which says whether the registration may have reached the registry.
    fn submit(
        &self,
        commitment: Fr,
        rate_limit: u32,
        options: &RegistrationOptions,
    ) -> Result<(), SubmitError>;
}

/// Result of reading a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The member, if the registry has it.
    pub found: Option<FoundMember>,
    /// Time as of which the registry was read, Unix nanoseconds; `None` if it was read just now.
    pub as_of_ns: Option<u64>,
}

/// A member that the registry has on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundMember {
    /// Place, commitment and limit of the member.
    pub member: Member,
    /// Stage of the membership's life.
    pub lifecycle: Lifecycle,
}

/// Stage in the life of a membership that the registry has on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// The membership is valid.
    Active,
    /// The membership is valid, and ends soon unless it is extended.
    GracePeriod,
    /// The membership has expired.
    Expired,
    /// The membership was removed, and its deposit can be withdrawn.
    ErasedAwaitsWithdrawal,
}

/// Options of a registration, by keys that each kind of registry defines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistrationOptions {
    /// Values by key.
    pub values: BTreeMap<String, String>,
}

/// Error for an option that the registry does not know. Ignoring it could result in a different registration from the
/// one requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("option {key:?} is not known to this registry; leave it out")]
pub struct UnknownOption {
    /// Key of the option.
    pub key: String,
}

impl RegistrationOptions {
    /// Rejects all keys except these.
    ///
    /// # Errors
    /// [`UnknownOption`] for the first other key.
    pub fn only(&self, known: &[&str]) -> Result<(), UnknownOption> {
        let mut keys = self.values.keys();
        match keys.find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(UnknownOption { key: key.clone() }),
            None => Ok(()),
        }
    }
}

/// Error of submitting a registration, by whether the registration may have reached the registry.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The registration was refused, and would be again.
    #[error("registration refused: {0}")]
    Refused(Box<dyn Error + Send + Sync>),
    /// The registration certainly did not reach the registry; another attempt may succeed.
    #[error("registration not sent: {0}")]
    NotSent(Box<dyn Error + Send + Sync>),
    /// The registration may have reached the registry.
    #[error("not known whether the registration was received: {0}")]
    OutcomeUnknown(Box<dyn Error + Send + Sync>),
}

/// Error of opening a registry by its name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryOpenError {
    /// The table has no opener for the namespace.
    #[error("{name}: no registries of this namespace can be opened; known: {known}")]
    UnsupportedNamespace {
        /// Name of the registry.
        name: RegistryName,
        /// Namespaces in the table, separated by commas.
        known: String,
    },
    /// The configuration does not say where the registry is.
    #[error("{name}: the configuration does not say where it is; add its file or its endpoints")]
    NotConfigured {
        /// Name of the registry.
        name: RegistryName,
    },
    /// The registry's file cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The registry cannot be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The chain cannot be followed.
    #[error(transparent)]
    Chain(#[from] undertone_membership::evm::EvmError),
}

type Opener =
    Box<dyn Fn(&RegistryName) -> Result<Arc<dyn ModuleRegistry>, RegistryOpenError> + Send + Sync>;

/// Table from namespaces to functions that open registries.
#[derive(Default)]
pub struct RegistryTable {
    openers: BTreeMap<String, Opener>,
}

impl RegistryTable {
    /// Creates a table without namespaces.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the opener of a namespace, or replaces it.
    #[must_use]
    pub fn with(
        mut self,
        namespace: &str,
        open: impl Fn(&RegistryName) -> Result<Arc<dyn ModuleRegistry>, RegistryOpenError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.openers.insert(namespace.to_owned(), Box::new(open));
        self
    }

    /// Opens the registry of this name.
    ///
    /// # Errors
    /// [`RegistryOpenError::UnsupportedNamespace`], and any error of the opener.
    pub fn open(&self, name: &RegistryName) -> Result<Arc<dyn ModuleRegistry>, RegistryOpenError> {
        match self.openers.get(name.namespace()) {
            Some(open) => open(name),
            None => Err(RegistryOpenError::UnsupportedNamespace {
                name: name.clone(),
                known: Vec::from_iter(self.openers.keys().map(String::as_str)).join(", "),
            }),
        }
    }
}

impl fmt::Debug for RegistryTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.openers.keys()).finish()
    }
}
