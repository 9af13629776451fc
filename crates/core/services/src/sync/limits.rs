//! Limits of store synchronisation.

/// Limits on a set, on what a peer sends, and on a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncLimits {
    /// Most messages of a set; the oldest ones go first.
    pub max_set: usize,
    /// Maximum length of a payload, in bytes.
    pub max_payload_bytes: usize,
    /// Most topics of either kind in a payload.
    pub max_topics: usize,
    /// Maximum length of a topic, in bytes.
    pub max_topic_bytes: usize,
    /// Most ranges of a payload.
    pub max_ranges: usize,
    /// Most messages that a peer may name in a session and this side lacks.
    pub max_missing: usize,
    /// Most payloads of the peer in a session.
    pub max_rounds: u32,
    /// Most messages of a range of unequal fingerprints that are named one by one instead of splitting the range.
    pub max_items: usize,
    /// Most parts into which a range is split.
    pub parts: usize,
}

impl Default for SyncLimits {
    /// Returns bounds for sets of up to 100,000 messages, of which the longest payload, naming each of them,
    /// takes 4 MB. nwaku keeps up to 50,000 and has no other bounds.
    fn default() -> Self {
        Self {
            max_set: 100_000,
            max_payload_bytes: 8 * 1024 * 1024,
            max_topics: 1024,
            max_topic_bytes: 1024,
            max_ranges: 65_536,
            max_missing: 100_000,
            max_rounds: 64,
            max_items: 2,
            parts: 8,
        }
    }
}
