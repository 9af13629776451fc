//! A contract on a chain as a registry of the module.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use undertone_rln::Fr;

use super::name::{EIP155, RegistryName};
use super::registry::{
    FoundMember, Lifecycle, ModuleRegistry, Observation, RegistrationAccount, RegistrationOptions,
    RegistryOpenError, RegistryTable, SubmitError,
};
use undertone_membership::View;
use undertone_membership::evm::{
    ChainHandle, Contract, ContractName, EvmConfig, EvmError, EvmRegistry, LightRegistry, Mode,
};
use undertone_membership::{MAX_LIMIT, MemberLookup, RegistryError};

/// Contract followed by a thread, in full or light mode, with an account for registrations if there is one.
///
/// The followers keep the tree, not the terms of memberships. A member whose leaf is in the tree counts as
/// active, as it does for verifiers.
pub struct ChainRegistry {
    follower: FollowedContract,
    account: Option<Arc<dyn RegistrationAccount>>,
}

enum FollowedContract {
    Full(EvmRegistry),
    Light(LightRegistry),
}

/// Error for a registration without an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no account is configured from which members of this contract could be registered")]
pub struct NoAccount;

/// How to follow contracts: endpoints, files, mode and account.
#[derive(Clone)]
pub struct ChainRegistries {
    /// URLs of the endpoints of each chain, by chain id, in order of preference.
    pub endpoints: BTreeMap<u64, Vec<String>>,
    /// Folder of the files that keep the followers' states.
    pub folder: PathBuf,
    /// Number of the newest roots that are accepted.
    pub window: usize,
    /// How much of each contract's state is followed.
    pub mode: Mode,
    /// Account that registers members; without one, registrations are refused.
    pub account: Option<Arc<dyn RegistrationAccount>>,
}

impl ChainRegistry {
    /// Starts to follow a contract. The state in the store is available at once, and used once an endpoint has
    /// confirmed it.
    ///
    /// # Errors
    /// [`EvmError`], when the store cannot be opened, a URL is invalid or missing, or no thread can be started.
    pub fn start(
        config: EvmConfig,
        mode: Mode,
        account: Option<Arc<dyn RegistrationAccount>>,
    ) -> Result<Self, EvmError> {
        let follower = match mode {
            Mode::Full => FollowedContract::Full(EvmRegistry::start(config)?),
            Mode::Light => FollowedContract::Light(LightRegistry::start(config)?),
        };
        Ok(Self { follower, account })
    }

    /// Returns the handle of the thread that follows the chain.
    pub fn chain(&self) -> &ChainHandle {
        match &self.follower {
            FollowedContract::Full(registry) => registry.chain(),
            FollowedContract::Light(registry) => registry.chain(),
        }
    }
}

impl RegistryTable {
    /// Adds the contracts on these chains.
    #[must_use]
    pub fn with_chains(self, chains: ChainRegistries) -> Self {
        self.with(EIP155, move |name| chains.open(name))
    }
}

impl ChainRegistries {
    fn open(&self, name: &RegistryName) -> Result<Arc<dyn ModuleRegistry>, RegistryOpenError> {
        let not_configured = || RegistryOpenError::NotConfigured { name: name.clone() };
        let contract = contract(name).ok_or_else(not_configured)?;
        let urls = self.endpoints.get(&contract.chain_id);
        let urls = urls.ok_or_else(not_configured)?.clone();
        let (mode, suffix) = match self.mode {
            Mode::Full => (Mode::Full, ""),
            Mode::Light => (Mode::Light, "-light"),
        };
        let file = format!("{}-{}{suffix}.sqlite", name.reference(), name.account());
        let store = self.folder.join(file);
        let config = match mode {
            Mode::Full => EvmConfig::new(contract, urls, store, self.window),
            Mode::Light => EvmConfig::light(contract, urls, store, self.window),
        };
        let registry = ChainRegistry::start(config, mode, self.account.clone())?;
        Ok(Arc::new(registry))
    }
}

/// Returns the contract for a name in the namespace `eip155`.
fn contract(name: &RegistryName) -> Option<Contract> {
    let parsed: ContractName = name.as_str().parse().ok()?;
    parsed.on_chain(None).ok()?
}

impl ModuleRegistry for ChainRegistry {
    /// The contract's own bounds are not read: it rejects limits outside them itself.
    fn rate_limits(&self) -> RangeInclusive<u32> {
        1..=MAX_LIMIT
    }

    fn is_ready(&self) -> bool {
        self.chain().status().compared.is_some()
    }

    fn view(&self) -> Arc<Mutex<dyn View>> {
        match &self.follower {
            FollowedContract::Full(registry) => registry.view(),
            FollowedContract::Light(registry) => registry.view(),
        }
    }

    /// The follower's thread updates the view.
    fn refresh(&self) -> Result<(), RegistryError> {
        Ok(())
    }

    fn observe(&self, commitment: Fr) -> Result<Observation, RegistryError> {
        // Read before the look-up, so that the result is not older than this time.
        let status = self.chain().status();
        let member = match &self.follower {
            FollowedContract::Full(registry) => registry.find(commitment)?,
            FollowedContract::Light(registry) => registry.find(commitment)?,
        };
        if member.is_none() && !status.is_synced() {
            return Err(RegistryError::NotAnswered);
        }
        Ok(Observation {
            found: member.map(|member| FoundMember {
                member,
                lifecycle: Lifecycle::Active,
            }),
            as_of_ns: Some(status.compared.map_or(0, unix_ns)),
        })
    }

    fn submit(
        &self,
        commitment: Fr,
        rate_limit: u32,
        options: &RegistrationOptions,
    ) -> Result<(), SubmitError> {
        match &self.account {
            Some(account) => account.submit(commitment, rate_limit, options),
            None => Err(SubmitError::Refused(Box::new(NoAccount))),
        }
    }
}

/// Converts a time to Unix nanoseconds; 0 for a time before 1970.
fn unix_ns(time: SystemTime) -> u64 {
    let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}
