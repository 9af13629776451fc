//! Conditions for sending as last reported to the machine, so that only changes are reported.

use std::collections::BTreeSet;
use std::sync::Arc;

use undertone_gossip::Time;
use undertone_services::sending::Input;

use undertone_network::command::{SendBudget, SendConditions};

#[cfg(test)]
#[path = "tests/conditions.rs"]
mod tests;

/// Conditions for sending, as last reported.
#[derive(Debug)]
pub(super) struct ToldConditions {
    /// Length of an epoch; `None` without rate limiting.
    epoch_ns: Option<u64>,
    topics: BTreeSet<Arc<str>>,
    /// `None` if nothing was reported yet, or the reported value turned out wrong.
    budget: Option<SendBudget>,
    /// Whether the node knew the reported budget.
    is_known: bool,
}

impl ToldConditions {
    pub(super) fn new(epoch_s: Option<u64>) -> Self {
        Self {
            epoch_ns: epoch_s.map(|epoch_s| epoch_s.max(1).saturating_mul(1_000_000_000)),
            topics: BTreeSet::new(),
            budget: None,
            is_known: false,
        }
    }

    /// Returns the changes up to `now_ns`, Unix time. `unix_ns_at_zero` is the Unix time at the machine's time zero.
    pub(super) fn changes(
        &mut self,
        conditions: &SendConditions,
        now_ns: u64,
        unix_ns_at_zero: u64,
    ) -> Vec<Input> {
        let mut changes = Vec::new();
        let reached = conditions.reached.iter();
        let topics: BTreeSet<Arc<str>> = reached.map(|topic| topic.to_string().into()).collect();
        if topics != self.topics {
            self.topics.clone_from(&topics);
            changes.push(Input::RelayTopics(topics));
        }
        let Some(epoch_ns) = self.epoch_ns else {
            return changes;
        };
        // An unknown limit is discovered by reaching it.
        let unknown = SendBudget {
            remaining: u32::MAX,
            epoch_ends_ns: (now_ns / epoch_ns)
                .saturating_add(1)
                .saturating_mul(epoch_ns),
        };
        self.is_known = conditions.budget.is_some();
        let budget = conditions.budget.unwrap_or(unknown);
        if self.budget != Some(budget) {
            self.budget = Some(budget);
            changes.push(Input::Budget {
                remaining: budget.remaining,
                epoch_ends: Time::from_nanos(budget.epoch_ends_ns.saturating_sub(unix_ns_at_zero)),
            });
        }
        changes
    }

    /// Records that the limit turned out to be used up. A known budget is then reported again: the exhausted epoch was
    /// that of an older timestamp.
    pub(super) fn limit_used_up(&mut self) {
        if self.is_known {
            self.budget = None;
        }
    }
}
