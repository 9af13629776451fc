//! Configuration of a follower of a contract.

use std::path::PathBuf;
use std::time::Duration;

use super::chain::Contract;
use super::error::EvmError;
use super::rpc::{Endpoints, RpcLimits};

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
    /// Interval at which an endpoint that does not announce blocks is polled for the newest block.
    pub poll: Duration,
    /// Minimum time from one poll to a poll requested by [`super::ChainHandle::request_refresh`].
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
            ..Self::new(contract, urls, store, window)
        }
    }

    /// Creates the endpoints; with `announced` they are asked to announce new blocks.
    pub(super) fn endpoints(&self, announced: bool) -> Result<Endpoints, EvmError> {
        if self.urls.is_empty() {
            return Err(EvmError::NoEndpoint);
        }
        let endpoints = Endpoints::new(&self.urls, self.contract, self.limits, announced);
        endpoints.map_err(|error| EvmError::Endpoint { error })
    }
}

/// How much of a contract's state is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The newest roots and one member's path, as the contract reports them:
    /// [`super::LightRegistry`].
    Light,
    /// All members, built from the contract's events: [`super::EvmRegistry`].
    Full,
}
