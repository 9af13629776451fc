//! Limits of store synchronisation.

/// Limits on a set, on a peer's payloads, and on a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncLimits {
    /// Maximum number of messages of a set; the oldest ones are removed first.
    pub max_set: usize,
    /// Maximum length of a payload, in bytes.
    pub max_payload_bytes: usize,
    /// Maximum number of topics of either kind in a payload.
    pub max_topics: usize,
    /// Maximum length of a topic, in bytes.
    pub max_topic_bytes: usize,
    /// Maximum number of ranges of a payload.
    pub max_ranges: usize,
    /// Maximum number of messages listed by a peer in a session that this side lacks.
    pub max_missing: usize,
    /// Maximum number of payloads of the peer in a session.
    pub max_rounds: u32,
    /// Maximum number of messages in a differing range for which they are listed instead of splitting the range.
    pub max_items: usize,
    /// Maximum number of parts into which a range is split.
    pub parts: usize,
}

impl Default for SyncLimits {
    /// Returns limits for sets of up to 100,000 messages; the longest payload, which lists all of them, takes 4
    /// MB. nwaku keeps up to 50,000 and has no other limits.
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
