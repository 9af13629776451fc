//! Share of the rate limit that answers to repair requests of others may use.

use std::sync::Arc;

use parking_lot::Mutex;

use undertone_network::command::SendBudget;

#[cfg(test)]
#[path = "tests/repair_share.rs"]
mod tests;

/// Part of an epoch's messages, one in so many, that goes to answers: whoever can write to a channel can ask for them.
const ONE_IN: u32 = 4;

/// Answers that may still be sent in an epoch; clones, and with them all channels of a node, share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RepairShare(Arc<Mutex<EpochShare>>);

#[derive(Debug, Default)]
struct EpochShare {
    ends_ns: u64,
    left: u32,
}

impl RepairShare {
    /// Takes the place of one answer; returns whether there was one. The share of an epoch is reckoned from what is left of
    /// its messages at the first answer. Without a budget there is no limit, or none that is known.
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
