//! Share of the rate limit reserved for answers to repair requests of others.

use std::sync::Arc;

use parking_lot::Mutex;

use undertone_network::command::SendBudget;

#[cfg(test)]
#[path = "tests/repair_share.rs"]
mod tests;

/// One in this many of an epoch's messages may be an answer: anyone who can write to a channel can request them.
const ONE_IN: u32 = 4;

/// Number of answers that may still be sent in an epoch. Clones share it, and so do all channels of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct RepairShare(Arc<Mutex<EpochShare>>);

#[derive(Debug, Default)]
struct EpochShare {
    ends_ns: u64,
    left: u32,
}

impl RepairShare {
    /// Takes the place of one answer; returns whether there was one. An epoch's share is a fraction of the messages
    /// left at its first answer. Without a budget there is no limit, or no known one.
    pub(crate) fn take(&self, budget: Option<SendBudget>) -> bool {
        let Some(budget) = budget else {
            return true;
        };
        let mut share = self.0.lock();
        if share.ends_ns != budget.epoch_ends_ns {
            share.ends_ns = budget.epoch_ends_ns;
            share.left = budget.remaining / ONE_IN;
        }
        let left = share.left.checked_sub(1);
        share.left = left.unwrap_or(0);
        left.is_some()
    }
}
