//! Settings of a channel and limits on what its members may send.

use super::{Id, RepairTiming};

/// Settings of a member of a channel.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SdsConfig {
    /// Channel to synchronise.
    pub channel_id: Id,
    /// Participant id of the local member; unique in the channel and unchanged after a restart.
    pub participant_id: Id,
    /// Unix time at [`Time::ZERO`](undertone_gossip::Time::ZERO), in milliseconds; Lamport timestamps stay near the
    /// wall clock.
    pub clock_origin_ms: u64,
    /// Maximum number of preceding ids in a message; at least 2 are named (specification).
    pub causal_history: usize,
    /// Number of members whose filters must contain a message before it counts as acknowledged.
    pub possible_acks_needed: usize,
    /// Time after which a message without any sign of arrival is resent, in milliseconds.
    pub resend_ms: u64,
    /// Time after which a possibly acknowledged message is resent, in milliseconds.
    pub resend_possible_ms: u64,
    /// Maximum number of times that a message is resent before it is given up as unconfirmed.
    pub max_resends: u32,
    /// Time between a gap's detection and its first report, in milliseconds: most gaps are only messages out of order.
    pub missing_report_ms: u64,
    /// Time after which a missing message is reported again, in milliseconds.
    pub missing_again_ms: u64,
    /// Time after which a missing message counts as lost and those that wait for it are delivered, in milliseconds.
    pub lost_after_ms: u64,
    /// Quiet time after which a sync message is sent, in milliseconds.
    pub sync_ms: u64,
    /// Maximum random delay on top of `sync_ms`, in milliseconds.
    pub sync_jitter_ms: u64,
    /// Timing of SDS-Repair, the same for all members; `None` without the extension.
    pub repair: Option<RepairTiming>,
    /// Rule that a message's id must satisfy to be accepted.
    pub id_rule: IdRule,
    /// Limits on memory and on what other members may send.
    pub limits: SdsLimits,
}

impl SdsConfig {
    /// Returns the default settings of a member of a channel.
    pub fn new(channel_id: impl Into<Id>, participant_id: impl Into<Id>) -> Self {
        Self {
            channel_id: channel_id.into(),
            participant_id: participant_id.into(),
            clock_origin_ms: 0,
            causal_history: 10,
            possible_acks_needed: 2,
            resend_ms: 60_000,
            resend_possible_ms: 180_000,
            max_resends: 10,
            missing_report_ms: 1_000,
            missing_again_ms: 60_000,
            lost_after_ms: 900_000,
            sync_ms: 30_000,
            sync_jitter_ms: 15_000,
            repair: Some(RepairTiming::default()),
            id_rule: IdRule::Any,
            limits: SdsLimits::default(),
        }
    }
}

/// Requirement on the id of a message.
///
/// The specification requires unique ids and does not say how they are made. Under [`Any`](Self::Any), a member can
/// publish other content under an id that it saw, and the first to arrive wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdRule {
    /// Any id that is not empty.
    Any,
    /// SHA-256 of the content in lower-case hexadecimal, as in js-waku. The same content sent twice is one message.
    Sha256OfContent,
}

/// Limits on memory and on what other members may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SdsLimits {
    /// Longest message on the wire, in bytes.
    pub max_frame_bytes: usize,
    /// Longest id of a message, member or channel, in bytes.
    pub max_id_bytes: usize,
    /// Longest retrieval hint, in bytes.
    pub max_hint_bytes: usize,
    /// Maximum number of entries in the causal history of a received message; js-waku sends 200.
    pub max_history_entries: usize,
    /// Maximum number of repair requests in a received message.
    pub max_repair_entries: usize,
    /// Maximum number of repair requests in a sent message (3 in the specification).
    pub max_repair_requests: usize,
    /// Maximum lead of an accepted Lamport timestamp over the clock, in milliseconds.
    pub max_lamport_lead_ms: u64,
    /// Maximum share of set bits at which a Bloom filter counts as evidence, in thousandths. A filter of
    /// [`BLOOM_CAPACITY`](super::BLOOM_CAPACITY) ids has 487.
    pub max_filter_fill_permille: u32,
    /// Maximum number of delivered messages whose ids are remembered.
    pub max_log: usize,
    /// Maximum number of bytes of delivered messages kept for repair.
    pub max_cached_bytes: usize,
    /// Maximum number of bytes of the local member's acknowledged messages in the state kept across restarts.
    pub max_kept_bytes: usize,
    /// Maximum number of messages of the local member that wait for acknowledgement.
    pub max_outgoing: usize,
    /// Maximum number of bytes of such messages.
    pub max_outgoing_bytes: usize,
    /// Maximum number of received messages that wait for others; beyond it, waiting ends for the one that waited
    /// longest.
    pub max_pending: usize,
    /// Maximum number of bytes of such messages.
    pub max_pending_bytes: usize,
    /// Maximum number of messages known to be missing; beyond it, a random one is dropped.
    pub max_missing: usize,
    /// Maximum number of missing messages in one report.
    pub max_missing_report: usize,
    /// Maximum number of others' repair requests that wait for the local member's response.
    pub max_responses: usize,
    /// Minimum time between two repair responses, in milliseconds.
    pub response_gap_ms: u64,
}

impl Default for SdsLimits {
    fn default() -> Self {
        Self {
            max_frame_bytes: 256 * 1024,
            max_id_bytes: 256,
            max_hint_bytes: 128,
            max_history_entries: 256,
            max_repair_entries: 16,
            max_repair_requests: 3,
            max_lamport_lead_ms: 3_600_000,
            max_filter_fill_permille: 600,
            max_log: 8_000,
            max_cached_bytes: 16 * 1024 * 1024,
            max_kept_bytes: 2 * 1024 * 1024,
            max_outgoing: 256,
            max_outgoing_bytes: 8 * 1024 * 1024,
            max_pending: 512,
            max_pending_bytes: 8 * 1024 * 1024,
            max_missing: 1_024,
            max_missing_report: 64,
            max_responses: 64,
            response_gap_ms: 1_000,
        }
    }
}
