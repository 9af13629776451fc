//! Errors of the module, grouped by what the caller can do.

use std::error::Error;

use undertone_rln::{CounterError, ProveError};

use super::name::RegistryName;
use super::registry::{RegistryOpenError, SubmitError};
use super::state::MembershipStatus;
use super::store::ModuleStoreError;
use undertone_membership::RegistryError;
use undertone_membership::StorageError;

/// Error of a call, classified by what the caller can do: the four kinds that the specification requires.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// The module cannot serve the call yet; try again when it can.
    #[error("not ready: {0}")]
    NotReady(NotReadyReason),
    /// The registry or the disk failed; the same call may succeed later.
    #[error(transparent)]
    Transient(TransientFault),
    /// The scope's messages of the epoch are used up; try again in the next one.
    #[error(transparent)]
    BudgetExhausted(CounterError),
    /// The same call cannot succeed later either.
    #[error(transparent)]
    Permanent(PermanentFault),
}

/// Reason why the module cannot serve a call yet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotReadyReason {
    /// The module is not started, or is stopping.
    #[error("the module is not running")]
    NotRunning,
    /// The registry's view has not been complete since the start.
    #[error("{registry} has not been read yet")]
    ColdView {
        /// Name of the registry.
        registry: RegistryName,
    },
    /// The registration is not confirmed yet.
    #[error("the registration in {registry} is not confirmed yet")]
    Pending {
        /// Name of the registry.
        registry: RegistryName,
    },
    /// The registry has the member, but the locally known tree does not.
    #[error("the tree of {registry} is still being read")]
    ViewBehind {
        /// Name of the registry.
        registry: RegistryName,
    },
}

/// Fault that may pass.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransientFault {
    /// The registry could not be read.
    #[error(transparent)]
    Registry(RegistryError),
    /// The registry could not be opened.
    #[error(transparent)]
    Open(RegistryOpenError),
    /// The registration did not reach the registry; no trace of it remains.
    #[error("registration not sent: {0}")]
    NotSent(Box<dyn Error + Send + Sync>),
    /// The registration may have reached the registry. It is pending, and another call returns it.
    #[error("registration is pending, its submission failed: {0}")]
    OutcomeUnknown(Box<dyn Error + Send + Sync>),
    /// The store of memberships could not be used.
    #[error(transparent)]
    Store(ModuleStoreError),
    /// The counter of message ids could not be used.
    #[error(transparent)]
    Counter(CounterError),
    /// The operating system gave no random numbers.
    #[error(transparent)]
    Entropy(ProveError),
}

/// Fault that another attempt does not remove.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PermanentFault {
    /// The module is running already.
    #[error("the module is running already; stop it first")]
    AlreadyStarted,
    /// The registry is not one of those that the configuration selects.
    #[error("{registry} is not served; add it to the configuration")]
    OtherRegistry {
        /// Name of the registry.
        registry: RegistryName,
    },
    /// The registry cannot be opened.
    #[error(transparent)]
    Open(RegistryOpenError),
    /// The registry cannot be followed.
    #[error(transparent)]
    Registry(RegistryError),
    /// The rate limit is outside the registry's bounds.
    #[error("limit {rate_limit} is outside {least}..={most} messages per epoch")]
    RateLimit {
        /// Requested limit.
        rate_limit: u32,
        /// Smallest limit of the registry.
        least: u32,
        /// Largest limit of the registry.
        most: u32,
    },
    /// The registry refused the registration; no trace of it remains.
    #[error("registration refused: {0}")]
    Refused(Box<dyn Error + Send + Sync>),
    /// The scope has no usable membership.
    #[error("the membership in {registry} is {status}; register")]
    NotUsable {
        /// Name of the registry.
        registry: RegistryName,
        /// Status of the membership.
        status: MembershipStatus,
    },
    /// The store of memberships cannot be used.
    #[error(transparent)]
    Store(ModuleStoreError),
    /// The counter of message ids cannot be used.
    #[error(transparent)]
    Counter(CounterError),
    /// No proof can be made.
    #[error(transparent)]
    Prove(ProveError),
}

impl From<NotReadyReason> for ModuleError {
    fn from(reason: NotReadyReason) -> Self {
        Self::NotReady(reason)
    }
}

impl From<PermanentFault> for ModuleError {
    fn from(fault: PermanentFault) -> Self {
        Self::Permanent(fault)
    }
}

impl From<RegistryError> for ModuleError {
    fn from(error: RegistryError) -> Self {
        match is_passing(&error) {
            true => Self::Transient(TransientFault::Registry(error)),
            false => Self::Permanent(PermanentFault::Registry(error)),
        }
    }
}

impl From<RegistryOpenError> for ModuleError {
    fn from(error: RegistryOpenError) -> Self {
        let is_passing = match &error {
            RegistryOpenError::Storage(error) => is_storage_passing(error),
            RegistryOpenError::Registry(error) => is_passing(error),
            RegistryOpenError::Chain(undertone_membership::evm::EvmError::Thread(_)) => true,
            RegistryOpenError::Chain(undertone_membership::evm::EvmError::Storage(error)) => {
                is_storage_passing(error)
            }
            _ => false,
        };
        match is_passing {
            true => Self::Transient(TransientFault::Open(error)),
            false => Self::Permanent(PermanentFault::Open(error)),
        }
    }
}

impl From<SubmitError> for ModuleError {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Refused(reason) => Self::Permanent(PermanentFault::Refused(reason)),
            SubmitError::NotSent(reason) => Self::Transient(TransientFault::NotSent(reason)),
            SubmitError::OutcomeUnknown(reason) => {
                Self::Transient(TransientFault::OutcomeUnknown(reason))
            }
        }
    }
}

impl From<ModuleStoreError> for ModuleError {
    fn from(error: ModuleStoreError) -> Self {
        match error {
            ModuleStoreError::Locked(_) | ModuleStoreError::Io { .. } => {
                Self::Transient(TransientFault::Store(error))
            }
            _ => Self::Permanent(PermanentFault::Store(error)),
        }
    }
}

impl From<CounterError> for ModuleError {
    fn from(error: CounterError) -> Self {
        match error {
            // `EpochClosed`: the clock was set back; a later epoch has ids again.
            CounterError::Exhausted { .. } | CounterError::EpochClosed { .. } => {
                Self::BudgetExhausted(error)
            }
            CounterError::Locked(_)
            | CounterError::Io { .. }
            | CounterError::AheadOfClock { .. } => Self::Transient(TransientFault::Counter(error)),
            CounterError::Corrupt { .. }
            | CounterError::Missing(_)
            | CounterError::LimitOutOfRange { .. } => {
                Self::Permanent(PermanentFault::Counter(error))
            }
        }
    }
}

impl From<ProveError> for ModuleError {
    fn from(error: ProveError) -> Self {
        match error {
            ProveError::NoEntropy(_) => Self::Transient(TransientFault::Entropy(error)),
            _ => Self::Permanent(PermanentFault::Prove(error)),
        }
    }
}

fn is_passing(error: &RegistryError) -> bool {
    match error {
        RegistryError::NotAnswered => true,
        RegistryError::Storage(error) => is_storage_passing(error),
        _ => false,
    }
}

fn is_storage_passing(error: &StorageError) -> bool {
    matches!(
        error,
        StorageError::Locked { .. }
            | StorageError::DiskFull { .. }
            | StorageError::Io { .. }
            | StorageError::Sqlite { .. }
    )
}
