//! Limits on what remote peers can make the router hold or do.

/// Limits on remote input. Those of the decoder are checked before memory is allocated; a full store drops its
/// oldest entries or refuses new ones. Start from [`Limits::default`] and set the fields that differ.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Longest RPC that is decoded, bytes. A driver must not read a longer frame either.
    pub frame_bytes_max: usize,
    /// Longest accepted topic name, bytes.
    pub topic_bytes_max: usize,
    /// Maximum number of SUBSCRIBE and UNSUBSCRIBE entries in one RPC (CVE-2026-46679).
    pub subscriptions_per_rpc_max: usize,
    /// Topics that one peer may be subscribed to.
    pub subscriptions_per_peer_max: usize,
    /// Topics known to the router, its own and remote ones together.
    pub topics_max: usize,
    /// Maximum number of messages in one RPC.
    pub messages_per_rpc_max: usize,
    /// Maximum number of IHAVE, IWANT, GRAFT, PRUNE or IDONTWANT entries in one RPC, for each kind.
    pub control_entries_per_rpc_max: usize,
    /// Maximum number of message ids in one RPC, for each kind. Further ids are skipped; if more than this number
    /// would be skipped, the frame is refused.
    pub ids_per_rpc_max: usize,
    /// Maximum number of unknown fields in one RPC; a frame with more is refused.
    pub unknown_fields_per_rpc_max: usize,
    /// Number of frames without content that one peer may send between two heartbeats. The first one above this
    /// number is an offence, and then each time the same number is exceeded again.
    pub empty_frames_per_heartbeat_max: usize,
    /// Maximum number of peers offered in one PRUNE; further ones count as unknown fields.
    pub px_peers_per_prune_max: usize,
    /// Longest signed peer record or peer id in peer exchange, bytes; longer ones are skipped.
    pub px_record_bytes_max: usize,
    /// Longest backoff that a PRUNE can ask for, seconds (CVE-2026-33040).
    pub prune_backoff_s_max: u64,
    /// Message ids remembered as seen; the newest one is always remembered.
    pub seen_max: usize,
    /// Bytes of frames kept to answer IWANT; the newest message is always kept.
    pub cache_bytes_max: usize,
    /// Messages waiting for the validator.
    pub pending_max: usize,
    /// Bytes of messages waiting for the validator.
    pub pending_bytes_max: usize,
    /// IDONTWANT ids accepted from one peer between two heartbeats.
    pub idontwant_ids_per_heartbeat_max: usize,
    /// IHAVE messages handled from one peer between two heartbeats.
    pub ihave_messages_per_heartbeat_max: usize,
    /// IHAVE messages handled between two heartbeats from a peer that speaks the large-message protocol.
    pub announcements_per_heartbeat_max: usize,
    /// Ids requested from one peer between two heartbeats.
    pub iwant_ids_per_heartbeat_max: usize,
    /// Ids requested between two heartbeats from a peer with an overdue request since its last answer.
    pub iwant_ids_of_dubious_per_heartbeat_max: usize,
    /// Peers remembered as holders of one missing message.
    pub holders_per_id_max: usize,
    /// Bytes of messages that one IWANT asks for, estimated by the longest recent message. nwaku drops
    /// messages of more than 138,240 bytes from an answer of several.
    pub iwant_answer_bytes_max: usize,
    /// Bytes of messages requested from one peer between two heartbeats, estimated in the same way. Peers
    /// bound their send queue for this node, and drop the surplus.
    pub iwant_bytes_per_heartbeat_max: usize,
    /// Assumed length of a message before any was received, bytes.
    pub iwant_unknown_message_bytes: usize,
    /// Copies queued for one peer that are remembered as cancellable.
    pub cancellable_per_peer_max: usize,
    /// Messages with delayed copies (staggered sending, interval flooding); copies of further ones are sent
    /// at once.
    pub delayed_messages_max: usize,
    /// Messages in the stem of Dandelion++; further ones are spread at once.
    pub stem_messages_max: usize,
    /// Bytes of messages in the stem; a message that does not fit is spread at once.
    pub stem_bytes_max: usize,
    /// Open IWANT requests, over all peers; also the limit on ids waiting to be requested. The last quarter is for
    /// peers of which no more than 16 ids are requested between two heartbeats.
    pub promises_max: usize,
    /// Disconnected peers whose index, score or backoff is still remembered; beyond it, the longest-departed one is
    /// dropped.
    pub retained_peers_max: usize,
    /// Backoffs remembered, over all topics and peers.
    pub backoffs_max: usize,
    /// Largest control frame that is sent, bytes; some implementations refuse more than 16 KiB.
    pub control_frame_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_bytes_max: 4 << 20,
            topic_bytes_max: 256,
            subscriptions_per_rpc_max: 256,
            subscriptions_per_peer_max: 256,
            topics_max: 4096,
            messages_per_rpc_max: 1024,
            control_entries_per_rpc_max: 512,
            ids_per_rpc_max: 5000,
            unknown_fields_per_rpc_max: 256,
            empty_frames_per_heartbeat_max: 16,
            px_peers_per_prune_max: 16,
            px_record_bytes_max: 2048,
            prune_backoff_s_max: 3600,
            seen_max: 1 << 18,
            cache_bytes_max: 64 << 20,
            pending_max: 4096,
            pending_bytes_max: 64 << 20,
            idontwant_ids_per_heartbeat_max: 1000,
            ihave_messages_per_heartbeat_max: 10,
            announcements_per_heartbeat_max: 1000,
            iwant_ids_per_heartbeat_max: 5000,
            iwant_ids_of_dubious_per_heartbeat_max: 64,
            holders_per_id_max: 32,
            iwant_answer_bytes_max: 128 << 10,
            iwant_bytes_per_heartbeat_max: 10 << 20,
            iwant_unknown_message_bytes: 2 << 10,
            cancellable_per_peer_max: 1024,
            delayed_messages_max: 256,
            stem_messages_max: 1024,
            stem_bytes_max: 16 << 20,
            promises_max: 20_000,
            retained_peers_max: 4096,
            backoffs_max: 1 << 16,
            control_frame_bytes_max: 16 << 10,
        }
    }
}
