//! How well a chain is followed, told as it is.

use std::time::SystemTime;

use super::rpc::RpcCosts;

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

/// The state of following a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// How well it goes.
    pub health: Health,
    /// What it has cost.
    pub costs: RpcCosts,
    /// Reorganisations that were followed.
    pub reorganisations: u64,
    /// When the contract's root was last compared with ours.
    pub compared: Option<SystemTime>,
}

impl Status {
    pub(super) fn new() -> Self {
        Self {
            health: Health::Starting,
            costs: RpcCosts::default(),
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
