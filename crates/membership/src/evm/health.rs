//! How well a chain is followed, told as it is.

use std::time::SystemTime;

use super::rpc::{EndpointCosts, RpcCosts};

/// Where following a contract stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// No answer came yet.
    Starting,
    /// Events are being read; the accepted roots are those of the last time all was known.
    Syncing {
        /// Height of the last block that is in.
        block: u64,
        /// Height of the newest.
        head: u64,
    },
    /// All is known up to the newest block that an endpoint told of.
    Synced {
        /// Its height.
        block: u64,
    },
    /// No endpoint is of use: the accepted roots stay what they were.
    Degraded {
        /// Height of the last block that is in.
        block: u64,
        /// Since when.
        since: SystemTime,
        /// The last failure, with the endpoint's name.
        reason: String,
    },
}

impl Health {
    /// Every name that [`Health::name`] gives.
    pub const NAMES: [&str; 4] = ["starting", "syncing", "synced", "degraded"];

    /// In one word.
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

/// The state of following a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// How well it goes.
    pub health: Health,
    /// The newest block that an endpoint told of.
    pub head: Option<u64>,
    /// What it has cost.
    pub costs: RpcCosts,
    /// What each endpoint had to do with that, in order of preference.
    pub endpoints: Vec<EndpointCosts>,
    /// Reorganisations that were followed.
    pub reorganisations: u64,
    /// When the contract's root was last compared with ours.
    pub compared: Option<SystemTime>,
}

impl Status {
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

    /// Whether everything up to the newest block is known.
    pub fn is_synced(&self) -> bool {
        matches!(self.health, Health::Synced { .. })
    }

    /// What is amiss, for people; `None` when nothing is.
    pub(super) fn trouble(&self) -> Option<String> {
        match &self.health {
            Health::Synced { .. } => None,
            Health::Starting => Some("no endpoint has answered yet".to_owned()),
            Health::Syncing { block, head } => Some(format!("at block {block} of {head}")),
            Health::Degraded { block, reason, .. } => Some(format!("at block {block}; {reason}")),
        }
    }

    /// Height of the last block that is in; `None` before the first answer.
    pub fn block(&self) -> Option<u64> {
        match self.health {
            Health::Starting => None,
            Health::Syncing { block, .. }
            | Health::Synced { block }
            | Health::Degraded { block, .. } => Some(block),
        }
    }

    /// Notes a failure. How long it lasts counts from the first.
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
