//! Settings of a channel and bounds on what its members may send.

use super::{Id, RepairTiming};

/// Settings of a member of a channel.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SdsConfig {
    /// Channel that is synchronised.
    pub channel_id: Id,
    /// Participant id of the local member; unique in the channel and the same after a restart.
    pub participant_id: Id,
    /// Unix time at [`Time::ZERO`](undertone_gossip::Time::ZERO), in milliseconds, since Lamport timestamps stay near
    /// the wall clock.
    pub clock_origin_ms: u64,
    /// Most ids of preceding messages in a message; at least 2 are named (specification).
    pub causal_history: usize,
    /// Members in whose filters a message must be seen before it counts as acknowledged.
    pub possible_acks_needed: usize,
    /// Time after which a message without any sign of arrival is sent again, in milliseconds.
    pub resend_ms: u64,
    /// Time after which a possibly acknowledged message is sent again, in milliseconds.
    pub resend_possible_ms: u64,
    /// Most times that a message is sent again before it is given up as unconfirmed.
    pub max_resends: u32,
    /// Time between a gap's detection and its first report, in milliseconds: most gaps are messages out of order.
    pub missing_report_ms: u64,
    /// Time after which a missing message is reported again, in milliseconds.
    pub missing_again_ms: u64,
    /// Time after which a missing message is lost and those that wait for it are delivered, in milliseconds.
    pub lost_after_ms: u64,
    /// Quiet time after which a sync message is sent, in milliseconds.
    pub sync_ms: u64,
    /// Most random delay on top of `sync_ms`, in milliseconds.
    pub sync_jitter_ms: u64,
    /// Timing of SDS-Repair, the same for all members; `None` without the extension.
    pub repair: Option<RepairTiming>,
    /// Rule that the id of a message must meet for the message to be accepted.
    pub id_rule: IdRule,
    /// Bounds on memory and on what other members may send.
    pub limits: SdsLimits,
}

impl SdsConfig {
    /// Makes the default settings of a member of a channel.
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
/// The specification asks for ids that are unique and does not say how they are made. Under [`Any`](Self::Any), a
/// member can publish other content under an id that it saw, and the first to arrive wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdRule {
    /// Any id that is not empty.
    Any,
    /// SHA-256 of the content in lower-case hexadecimal, as js-waku makes them. The same content sent twice is one message.
    Sha256OfContent,
}

/// Bounds on memory and on what other members may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SdsLimits {
    /// Longest message on the wire, in bytes.
    pub max_frame_bytes: usize,
    /// Longest id of a message, member or channel, in bytes.
    pub max_id_bytes: usize,
    /// Longest retrieval hint, in bytes.
    pub max_hint_bytes: usize,
    /// Most entries in the causal history of a received message; js-waku sends 200.
    pub max_history_entries: usize,
    /// Most repair requests in a received message.
    pub max_repair_entries: usize,
    /// Most repair requests in a message sent (3 in the specification).
    pub max_repair_requests: usize,
    /// Furthest that an accepted Lamport timestamp may lie ahead of the clock, in milliseconds.
    pub max_lamport_lead_ms: u64,
    /// Largest share of set bits for a Bloom filter to count as evidence, in thousandths. A filter of
    /// [`BLOOM_CAPACITY`](super::BLOOM_CAPACITY) ids has 487.
    pub max_filter_fill_permille: u32,
    /// Most delivered messages whose ids are remembered.
    pub max_log: usize,
    /// Most bytes of delivered messages that are kept for repair.
    pub max_cached_bytes: usize,
    /// Most bytes of the local member's acknowledged messages in the state kept across restarts.
    pub max_kept_bytes: usize,
    /// Most messages of the local member that wait for acknowledgement.
    pub max_outgoing: usize,
    /// Most bytes of such messages.
    pub max_outgoing_bytes: usize,
    /// Most received messages that wait for others; the one that waited longest gives way.
    pub max_pending: usize,
    /// Most bytes of such messages.
    pub max_pending_bytes: usize,
    /// Most messages known to be missing; a random one gives way.
    pub max_missing: usize,
    /// Most missing messages in one report.
    pub max_missing_report: usize,
    /// Most repair requests of others that wait for the local member's response.
    pub max_responses: usize,
    /// Shortest time between two repair responses, in milliseconds.
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
