//! Contract as a [`Registry`], followed by a background thread.

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

/// Configuration of a follower of a membership contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvmConfig {
    /// The membership contract to follow.
    pub contract: Contract,
    /// URLs of the RPC endpoints, in order of preference.
    pub urls: Vec<String>,
    /// Path of the file that keeps the follower's state.
    pub store: PathBuf,
    /// Number of the newest roots that are accepted.
    pub window: usize,
    /// First block that can have an event; `None` asks the contract.
    pub first_block: Option<u64>,
    /// Interval at which an endpoint that does not announce blocks is asked for the newest block.
    pub poll: Duration,
    /// Minimum time between one poll and the next that [`Registry::hurry`] requests.
    pub throttle: Duration,
    /// Number of blocks per request for events: the initial and the maximum value.
    pub range_blocks: (u64, u64),
    /// Limits and timeouts of RPC requests.
    pub limits: RpcLimits,
}

impl EvmConfig {
    /// Returns the default configuration of full mode.
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

    /// Returns the default configuration of light mode, which sends fewer requests.
    pub fn light(contract: Contract, urls: Vec<String>, store: PathBuf, window: usize) -> Self {
        Self {
            poll: Duration::from_secs(30),
            throttle: Duration::from_secs(2),
            limits: RpcLimits {
                // The longest answer is a block with the hashes of its transactions.
                max_answer_bytes: 1 << 20,
                ..RpcLimits::default()
            },
            ..Self::new(contract, urls, store, window)
        }
    }
}

/// Amount of a contract's state that is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The newest roots and one member's path, as the contract reports them:
    /// [`super::LightRegistry`].
    Light,
    /// All members, built from the contract's events: [`EvmRegistry`].
    Full,
}

/// Error of starting to follow a contract.
#[derive(Debug, thiserror::Error)]
pub enum EvmError {
    /// The URL of an endpoint cannot be used.
    #[error("endpoint {endpoint}: {error}")]
    Endpoint {
        /// Always `list`, for the configured list of URLs. The error names the URL.
        endpoint: String,
        /// The reason why the URL cannot be used.
        error: RpcError,
    },
    /// The configuration names no endpoint.
    #[error("no endpoint; give the URL of at least one")]
    NoEndpoint,
    /// The file with the follower's state cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The operating system refused to start a thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

/// Registry that follows a contract in full, in a background thread, until it is dropped.
#[derive(Debug)]
pub struct EvmRegistry {
    contract: Contract,
    shared: Arc<Shared>,
    /// Background thread, stopped when the registry is dropped.
    _worker: Background,
}

/// State shared between the background thread and its owner.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Arc<Store>,
    pub(super) view: Arc<Mutex<MembershipView>>,
    pub(super) signals: Signals,
}

impl EvmRegistry {
    /// Starts to follow the contract. The state in the store is available at once; newer state
    /// arrives as endpoints answer, which this call does not wait for.
    ///
    /// # Errors
    /// [`EvmError`], when the store cannot be opened, a URL is invalid or missing, or no thread can
    /// be started. An endpoint that does not work is not an error.
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

    /// Returns the membership as of the last known block; the background thread keeps updating it.
    pub fn view(&self) -> Arc<Mutex<MembershipView>> {
        Arc::clone(&self.shared.view)
    }

    /// Returns the status of the follower.
    pub fn status(&self) -> Status {
        self.shared.signals.status()
    }

    /// Waits until the status satisfies `done` or `timeout` has passed; returns the status then.
    pub fn wait_until(&self, timeout: Duration, done: impl Fn(&Status) -> bool) -> Status {
        self.shared.signals.wait_until(timeout, done)
    }

    /// Whether the follower is synced up to the newest block.
    pub fn is_synced(&self) -> bool {
        self.status().is_synced()
    }
}

impl Registry for EvmRegistry {
    /// Derived from the chain id and the contract's address. A reorganisation may undo part of the
    /// log: a view of it is kept in the store, not in a snapshot.
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

    /// Requests an early poll for a new block, subject to [`EvmConfig::throttle`].
    fn hurry(&self) {
        self.shared.signals.want();
    }
}

/// Asks a contract for the block of its deployment; 1 when its answer cannot be read.
pub(super) fn deployed_block(endpoints: &mut Endpoints, at: usize) -> Result<u64, RpcError> {
    let answer = endpoints.view(at, abi::deployedBlockNumberCall {}.abi_encode())?;
    let block = abi::deployedBlockNumberCall::abi_decode_returns(&answer);
    Ok(block.map_or(1, u64::from))
}

/// Creates the configured endpoints; with `announced` they are asked to announce new blocks.
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

/// Derives the identifier of a contract's registry from its chain id and address.
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
