//! A contract as a [`Registry`], followed by a thread.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alloy::primitives::keccak256;
use alloy::sol_types::SolCall;
use undertone_rln::Fr;

use super::abi;
use super::background::Background;
use super::chain::Contract;
use super::follow::{Follower, Range};
use super::health::Status;
use super::rpc::{Endpoints, RpcError, RpcLimits};
use super::signals::Signals;
use super::store::Store;
use super::worker::Worker;
use crate::registry::{Change, Member, MemberIndex, Registry, RegistryError, RegistryId, Version};
use crate::sqlite::StorageError;
use crate::view::MembershipView;

/// What to follow, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvmConfig {
    /// The contract.
    pub contract: Contract,
    /// Endpoints, in order of preference.
    pub urls: Vec<String>,
    /// Where what is known is kept.
    pub store: PathBuf,
    /// How many of the newest roots are accepted.
    pub window: usize,
    /// The first block that can have an event; `None` asks the contract.
    pub first_block: Option<u64>,
    /// How often an endpoint that does not announce blocks is asked for the newest.
    pub poll: Duration,
    /// How soon after a look for news the next may be demanded.
    pub throttle: Duration,
    /// Blocks asked for at once at first, and at most.
    pub range_blocks: (u64, u64),
    /// How endpoints are asked.
    pub limits: RpcLimits,
}

impl EvmConfig {
    /// The usual settings.
    pub fn new(contract: Contract, urls: Vec<String>, store: PathBuf, window: usize) -> Self {
        Self {
            contract,
            urls,
            store,
            window,
            first_block: None,
            poll: Duration::from_secs(4),
            throttle: Duration::from_millis(500),
            range_blocks: (5_000, 100_000),
            limits: RpcLimits::default(),
        }
    }

    /// The usual settings of light mode: fewer requests.
    pub fn light(contract: Contract, urls: Vec<String>, store: PathBuf, window: usize) -> Self {
        Self {
            poll: Duration::from_secs(30),
            throttle: Duration::from_secs(2),
            limits: RpcLimits {
                // The longest is a block with the hashes of its transactions.
                max_answer_bytes: 1 << 20,
                ..RpcLimits::default()
            },
            ..Self::new(contract, urls, store, window)
        }
    }
}

/// How much of a contract is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The newest roots and one member's path, as the contract tells them: [`super::LightRegistry`].
    Light,
    /// All members, from the contract's events: [`EvmRegistry`].
    Full,
}

/// Why a contract cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum EvmError {
    /// An endpoint, where one is needed before anything is known.
    #[error("endpoint {endpoint}: {error}")]
    Endpoint {
        /// Its name, without what may be a key.
        endpoint: String,
        /// What happened.
        error: RpcError,
    },
    /// There is no endpoint.
    #[error("no endpoint; give the URL of at least one")]
    NoEndpoint,
    /// The file of what is known.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The operating system gives no thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

/// A contract that is followed, until this is dropped.
#[derive(Debug)]
pub struct EvmRegistry {
    contract: Contract,
    shared: Arc<Shared>,
    /// Ends with this.
    _worker: Background,
}

/// What the thread and its owner share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Arc<Store>,
    pub(super) view: Arc<Mutex<MembershipView>>,
    pub(super) signals: Signals,
}

impl EvmRegistry {
    /// Starts to follow. What the store knows is there at once; everything else comes as endpoints
    /// answer, for which this does not wait.
    ///
    /// # Errors
    /// [`EvmError`]: the store, or URLs that are none. An endpoint that is out of order is no error.
    pub fn start(config: EvmConfig) -> Result<Self, EvmError> {
        let endpoints = endpoints(&config, true)?;
        let before_first = config.first_block.unwrap_or(1).saturating_sub(1);
        let store = Arc::new(Store::open(&config.store, &config.contract, before_first)?);
        let view = Arc::new(Mutex::new(MembershipView::new(config.window)));
        let (start, most) = config.range_blocks;
        let range = Range::new(start, most);
        let follower = Follower::new(Arc::clone(&store), Arc::clone(&view), range)?;
        let shared = Arc::new(Shared {
            store,
            view,
            signals: Signals::new(),
        });
        let known = Arc::clone(&shared);
        let worker = Background::start(move |stop| {
            Worker {
                shared: known,
                follower,
                endpoints,
                poll: config.poll,
                throttle: config.throttle,
                stop,
            }
            .run();
        })?;
        Ok(Self {
            contract: config.contract,
            shared,
            _worker: worker,
        })
    }

    /// The membership as of the last block that is known. It moves by itself.
    pub fn view(&self) -> Arc<Mutex<MembershipView>> {
        Arc::clone(&self.shared.view)
    }

    /// How it goes.
    pub fn status(&self) -> Status {
        self.shared.signals.status()
    }

    /// Waits until all is known up to the newest block, or nothing more can be; gives the state then
    /// or after `timeout`.
    pub fn wait_until(&self, timeout: Duration, done: impl Fn(&Status) -> bool) -> Status {
        self.shared.signals.wait_until(timeout, done)
    }

    /// Whether everything up to the newest block is known.
    pub fn is_synced(&self) -> bool {
        self.status().is_synced()
    }
}

impl Registry for EvmRegistry {
    /// From the chain and the contract's address. The log of a chain may be taken back: a view of it
    /// is kept in the store, not in a snapshot.
    fn id(&self) -> RegistryId {
        id(&self.contract)
    }

    fn trouble(&self) -> Option<String> {
        self.status().trouble()
    }

    fn chain(&self) -> Option<Status> {
        Some(self.status())
    }

    fn register(&self, _: Fr, _: u32) -> Result<MemberIndex, RegistryError> {
        Err(RegistryError::ReadOnly)
    }

    fn remove(&self, _: MemberIndex) -> Result<(), RegistryError> {
        Err(RegistryError::ReadOnly)
    }

    fn find(&self, commitment: Fr) -> Result<Option<Member>, RegistryError> {
        Ok(self.shared.store.find(commitment)?)
    }

    fn members(&self) -> Result<Vec<Member>, RegistryError> {
        Ok(self.shared.store.members()?)
    }

    fn version(&self) -> Result<Version, RegistryError> {
        Ok(self.shared.store.version()?)
    }

    fn changes_since(&self, known: Version, most: usize) -> Result<Vec<Change>, RegistryError> {
        Ok(self.shared.store.changes(known, most)?)
    }

    /// Asks for news soon, if it was not asked just now.
    fn hurry(&self) {
        self.shared.signals.want();
    }
}

/// The block of a contract's deployment, as it says; `None` where no endpoint can tell.
pub(super) fn deployed_block(endpoints: &mut Endpoints, at: usize) -> Result<u64, RpcError> {
    let answer = endpoints.view(at, abi::deployedBlockNumberCall {}.abi_encode())?;
    let block = abi::deployedBlockNumberCall::abi_decode_returns(&answer);
    Ok(block.map_or(1, u64::from))
}

/// The configured endpoints; `announced`: whether they are asked to tell of new blocks.
pub(super) fn endpoints(config: &EvmConfig, announced: bool) -> Result<Endpoints, EvmError> {
    if config.urls.is_empty() {
        return Err(EvmError::NoEndpoint);
    }
    let endpoints = Endpoints::new(&config.urls, config.contract, config.limits, announced);
    endpoints.map_err(|error| EvmError::Endpoint {
        endpoint: String::from("list"),
        error,
    })
}

/// What tells a contract's members from those of others.
pub(super) fn id(contract: &Contract) -> RegistryId {
    let place = [
        &contract.chain_id.to_be_bytes()[..],
        contract.address.as_slice(),
    ]
    .concat();
    let mut id = [0; 16];
    id.copy_from_slice(&keccak256(place)[..16]);
    RegistryId(id)
}
