//! Unacknowledged messages of the local member.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use undertone_gossip::Time;

use super::{BloomView, Id, SdsConfig};

/// Message that waits for acknowledgement.
#[derive(Debug, Clone)]
pub(super) struct Unacknowledged {
    pub(super) frame: Arc<[u8]>,
    pub(super) resends: u32,
    pub(super) resend_at: Time,
    /// Members whose filters contained the message. The same member's next filter is no further evidence, since it
    /// has the same bits.
    pub(super) seen_by: BTreeSet<Id>,
}

/// Action for a message that is due.
#[derive(Debug)]
pub(super) enum Due {
    Resend(Id, Arc<[u8]>),
    GiveUp(Id),
}

/// Ids newly found in a Bloom filter.
#[derive(Debug, Default)]
pub(super) struct AcknowledgedIds {
    pub(super) acknowledged: Vec<Id>,
    pub(super) possibly: Vec<Id>,
}

/// Buffer of unacknowledged outgoing messages.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    messages: BTreeMap<Id, Unacknowledged>,
    bytes: usize,
}

impl Outgoing {
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.messages.contains_key(id)
    }

    /// Whether there is room for another message of this length.
    pub(super) fn has_room(&self, size_bytes: usize, config: &SdsConfig) -> bool {
        let limits = &config.limits;
        self.messages.len() < limits.max_outgoing
            && self.bytes.saturating_add(size_bytes) <= limits.max_outgoing_bytes
    }

    pub(super) fn insert(&mut self, id: Id, message: Unacknowledged) {
        self.bytes += message.frame.len();
        if let Some(old) = self.messages.insert(id, message) {
            self.bytes -= old.frame.len();
        }
    }

    /// Removes a message that another member names, so has; returns whether it was waiting.
    pub(super) fn acknowledge(&mut self, id: &str) -> bool {
        let Some(message) = self.messages.remove(id) else {
            return false;
        };
        self.bytes -= message.frame.len();
        true
    }

    /// Checks a member's filter, and removes the messages that enough members have.
    pub(super) fn review(
        &mut self,
        filter: BloomView<'_>,
        sender: &Id,
        config: &SdsConfig,
    ) -> AcknowledgedIds {
        let mut seen = AcknowledgedIds::default();
        for (id, message) in &mut self.messages {
            if message.seen_by.contains(sender) || !filter.contains(id) {
                continue;
            }
            message.seen_by.insert(sender.clone());
            if message.seen_by.len() >= config.possible_acks_needed {
                seen.acknowledged.push(id.clone());
            } else if message.seen_by.len() == 1 {
                seen.possibly.push(id.clone());
            }
        }
        for id in &seen.acknowledged {
            self.acknowledge(id);
        }
        seen
    }

    /// Returns the next message that is due; when resent, it is scheduled again.
    pub(super) fn take_due(&mut self, now: Time, config: &SdsConfig) -> Option<Due> {
        let mut messages = self.messages.iter_mut();
        let (id, message) = messages.find(|(_, message)| due_at(message, config) <= now)?;
        let id = id.clone();
        if message.resends >= config.max_resends {
            self.acknowledge(&id);
            return Some(Due::GiveUp(id));
        }
        message.resends += 1;
        message.resend_at = now.after(Duration::from_millis(config.resend_ms.max(1)));
        Some(Due::Resend(id, message.frame.clone()))
    }

    pub(super) fn next_timeout(&self, config: &SdsConfig) -> Option<Time> {
        self.messages
            .values()
            .map(|message| due_at(message, config))
            .min()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Id, &Unacknowledged)> {
        self.messages.iter()
    }
}

/// Returns the time at which a message is next resent: later if a member possibly has it.
fn due_at(message: &Unacknowledged, config: &SdsConfig) -> Time {
    if message.seen_by.is_empty() {
        return message.resend_at;
    }
    let further_ms = config.resend_possible_ms.saturating_sub(config.resend_ms);
    message.resend_at.after(Duration::from_millis(further_ms))
}
