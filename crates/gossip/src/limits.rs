//! Every bound on what a remote can make us hold or do.

/// Bounds on remote input. Each is checked before memory is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Largest RPC that is decoded, bytes. A driver must not read a longer frame either.
    pub frame_bytes_max: usize,
    /// Longest topic name, bytes.
    pub topic_bytes_max: usize,
    /// SUBSCRIBE and UNSUBSCRIBE entries in one RPC (CVE-2026-46679).
    pub subscriptions_per_rpc_max: usize,
    /// Topics that one peer may be subscribed to.
    pub subscriptions_per_peer_max: usize,
    /// Topics known at all, ours and remote ones together.
    pub topics_max: usize,
    /// Messages in one RPC.
    pub messages_per_rpc_max: usize,
    /// IHAVE, IWANT, GRAFT, PRUNE or IDONTWANT entries in one RPC, each kind.
    pub control_entries_per_rpc_max: usize,
    /// Message ids in one RPC, each kind; further ones are skipped.
    pub ids_per_rpc_max: usize,
    /// Fields in one RPC that we know nothing of; further ones refuse the frame.
    pub unknown_fields_per_rpc_max: usize,
    /// Frames without anything in them from one peer between two heartbeats; each time as many come again is
    /// an offence.
    pub empty_frames_per_heartbeat_max: usize,
    /// Peers offered in one PRUNE; further ones are skipped.
    pub px_peers_per_prune_max: usize,
    /// Bytes of one signed peer record or peer id in peer exchange.
    pub px_record_bytes_max: usize,
    /// Backoff that a PRUNE can ask for, seconds (CVE-2026-33040).
    pub prune_backoff_s_max: u64,
    /// Ids remembered as seen; at least the newest one is.
    pub seen_max: usize,
    /// Bytes of message data kept to answer IWANT.
    pub cache_bytes_max: usize,
    /// Messages that wait for the validator.
    pub pending_max: usize,
    /// Bytes of messages that wait for the validator.
    pub pending_bytes_max: usize,
    /// IDONTWANT ids accepted from one peer between two heartbeats.
    pub idontwant_ids_per_heartbeat_max: usize,
    /// IHAVE messages handled from one peer between two heartbeats.
    pub ihave_messages_per_heartbeat_max: usize,
    /// The same from a peer that announces each large message by itself.
    pub announcements_per_heartbeat_max: usize,
    /// Ids asked for from one peer between two heartbeats.
    pub iwant_ids_per_heartbeat_max: usize,
    /// The same from a peer that has left a request unanswered.
    pub iwant_ids_of_dubious_per_heartbeat_max: usize,
    /// Peers remembered as having one message that we lack.
    pub holders_per_id_max: usize,
    /// Bytes of messages that one IWANT asks for, by the longest message seen lately. nwaku drops messages
    /// of more than 138,240 bytes from an answer of several.
    pub iwant_answer_bytes_max: usize,
    /// Bytes of messages that one peer is asked for between two heartbeats, reckoned in the same way. Peers
    /// bound what may wait for one of us, and drop the rest.
    pub iwant_bytes_per_heartbeat_max: usize,
    /// Assumed length of a message before any was seen, bytes.
    pub iwant_unknown_message_bytes: usize,
    /// Copies queued for one peer that are remembered as cancellable.
    pub cancellable_per_peer_max: usize,
    /// Ids asked for and not yet received, over all peers.
    pub promises_max: usize,
    /// Peers that are gone but whose index, score or backoff is still remembered; the one that has
    /// been gone for longest makes room.
    pub retained_peers_max: usize,
    /// Backoffs remembered, over all topics and peers.
    pub backoffs_max: usize,
    /// Largest control frame we send, bytes; some implementations refuse more than 16 KiB.
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
            promises_max: 20_000,
            retained_peers_max: 4096,
            backoffs_max: 1 << 16,
            control_frame_bytes_max: 16 << 10,
        }
    }
}
