//! SDS-Repair: when to request a missing message from the channel, and when to answer.
//!
//! The specification does not name the hash in its formulas. As in js-waku, it is the first 8 bytes of SHA-256, the
//! most significant first; several arguments are concatenated without a separator.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};
use undertone_gossip::Time;

use super::Id;

#[cfg(test)]
#[path = "tests/repair.rs"]
mod tests;

/// Timing of SDS-Repair, which all members of a channel share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepairTiming {
    /// Minimum time between the detection of a gap and the request, in milliseconds (`T_min`).
    pub min_ms: u64,
    /// Maximum time until the request, and until a response, in milliseconds (`T_max`).
    pub max_ms: u64,
    /// Number of response groups, one of which answers a request: one for every 128 members, plus one.
    pub response_groups: u64,
}

impl Default for RepairTiming {
    fn default() -> Self {
        Self {
            min_ms: 30_000,
            max_ms: 120_000,
            response_groups: 1,
        }
    }
}

/// Returns the time between the detection of a gap and the participant's request for it, in milliseconds.
pub fn request_delay_ms(timing: &RepairTiming, participant_id: &str, message_id: &str) -> u64 {
    let range = timing.max_ms.saturating_sub(timing.min_ms).max(1);
    timing
        .min_ms
        .saturating_add(hash(&[participant_id, message_id]) % range)
}

/// Returns the time between a request and the participant's response to it, in milliseconds; 0 for the message's
/// sender.
pub fn response_delay_ms(
    timing: &RepairTiming,
    participant_id: &str,
    sender_id: &str,
    message_id: &str,
) -> u64 {
    let distance = hash(&[participant_id]) ^ hash(&[sender_id]);
    let product = u128::from(distance) * u128::from(hash(&[message_id]));
    // Less than `max_ms`, so it fits 64 bits.
    (product % u128::from(timing.max_ms.max(1))) as u64
}

/// Whether the participant is in the response group of a message.
pub fn responds_to(
    timing: &RepairTiming,
    participant_id: &str,
    sender_id: &str,
    message_id: &str,
) -> bool {
    let groups = timing.response_groups.max(1);
    hash(&[participant_id, message_id]) % groups == hash(&[sender_id, message_id]) % groups
}

fn hash(parts: &[&str]) -> u64 {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part.as_bytes()));
    let digest = hasher.finalize();
    digest[..8]
        .iter()
        .fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// Repair requests of others that the local member will answer unless someone else does (incoming repair request buffer).
#[derive(Debug, Default)]
pub(super) struct Responses {
    due: BTreeMap<Id, Time>,
    order: BTreeSet<(Time, Id)>,
    next_allowed: Time,
}

impl Responses {
    /// Schedules a response at `at`, unless one is scheduled for the message or `max` are waiting.
    pub(super) fn add(&mut self, id: &Id, at: Time, max: usize) {
        if self.due.contains_key(id) || self.due.len() >= max {
            return;
        }
        self.due.insert(id.clone(), at);
        self.order.insert((at, id.clone()));
    }

    pub(super) fn remove(&mut self, id: &str) {
        if let Some((id, at)) = self.due.remove_entry(id) {
            self.order.remove(&(at, id));
        }
    }

    /// Returns the next message to resend; at most one in every `gap_ms`.
    pub(super) fn take_due(&mut self, now: Time, gap_ms: u64) -> Option<Id> {
        if self.next_timeout()? > now {
            return None;
        }
        let (_, id) = self.order.pop_first()?;
        self.due.remove(&id);
        self.next_allowed = now.after(std::time::Duration::from_millis(gap_ms));
        Some(id)
    }

    pub(super) fn next_timeout(&self) -> Option<Time> {
        let (at, _) = self.order.first()?;
        Some((*at).max(self.next_allowed))
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.due.len()
    }
}
