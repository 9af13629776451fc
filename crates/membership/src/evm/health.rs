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
