//! Status of following a chain, as reported to the owner.

use std::time::SystemTime;

use super::rpc::{EndpointCosts, RpcCosts};

/// Health of following a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// No endpoint has answered yet.
    Starting,
    /// Events are being read; the accepted roots are those of the last synced state.
    Syncing {
        /// Height of the last processed block.
        block: u64,
        /// Height of the newest block.
        head: u64,
    },
    /// The state is known up to the newest block that an endpoint reported.
    Synced {
        /// Height of the newest block.
        block: u64,
    },
    /// No endpoint is usable, or the store failed: the accepted roots do not change.
    Degraded {
        /// Height of the last processed block.
        block: u64,
        /// Time of the first of the failures.
        since: SystemTime,
        /// The last failure, with the endpoint's name if an endpoint failed.
        reason: String,
    },
}

impl Health {
    /// All names that [`Health::name`] returns.
    pub const NAMES: [&str; 4] = ["starting", "syncing", "synced", "degraded"];

    /// Returns a one-word name of the state.
    pub fn name(&self) -> &'static str {
        let at = match self {
            Self::Starting => 0,
            Self::Syncing { .. } => 1,
            Self::Synced { .. } => 2,
            Self::Degraded { .. } => 3,
        };
        Self::NAMES[at]
    }
}

/// Status of following a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainStatus {
    /// Health of the follower.
    pub health: Health,
    /// Height of the newest block that an endpoint reported.
    pub head: Option<u64>,
    /// Number of requests and bytes so far.
    pub costs: RpcCosts,
    /// Requests and failures of each endpoint, in order of preference.
    pub endpoints: Vec<EndpointCosts>,
    /// Number of chain reorganisations that were followed.
    pub reorganisations: u64,
    /// Time at which the state was last confirmed to be synced with the newest block.
    pub compared: Option<SystemTime>,
}

impl ChainStatus {
    pub(super) fn new() -> Self {
        Self {
            health: Health::Starting,
            head: None,
            costs: RpcCosts::default(),
            endpoints: Vec::new(),
            reorganisations: 0,
            compared: None,
        }
    }

    /// Whether the state is known up to the newest block.
    pub fn is_synced(&self) -> bool {
        matches!(self.health, Health::Synced { .. })
    }

    /// Returns a description of why the state may be outdated; `None` when it is synced.
    pub fn staleness(&self) -> Option<String> {
        match &self.health {
            Health::Synced { .. } => None,
            Health::Starting => Some("no endpoint has answered yet".to_owned()),
            Health::Syncing { block, head } => Some(format!("at block {block} of {head}")),
            Health::Degraded { block, reason, .. } => Some(format!("at block {block}; {reason}")),
        }
    }

    /// Returns the height of the last processed block; `None` before the first answer.
    pub fn block(&self) -> Option<u64> {
        match self.health {
            Health::Starting => None,
            Health::Syncing { block, .. }
            | Health::Synced { block }
            | Health::Degraded { block, .. } => Some(block),
        }
    }

    /// Records a failure. `since` keeps the time of the first failure in a row.
    pub(super) fn degrade(&mut self, block: u64, reason: String) {
        let since = match self.health {
            Health::Degraded { since, .. } => since,
            _ => SystemTime::now(),
        };
        self.health = Health::Degraded {
            block,
            since,
            reason,
        };
    }
}
