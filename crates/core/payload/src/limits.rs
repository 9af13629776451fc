//! Limits on sealing and opening.

/// Longest payload that can be sealed: its length must fit three bytes, the most that the flags can express.
pub const PAYLOAD_BYTES_MAX: usize = (1 << 24) - 1;

/// Limits on sealed payloads of unknown origin, checked before anything is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PayloadLimits {
    /// Maximum length of a sealed payload, in bytes.
    pub sealed_bytes_max: usize,
}

impl Default for PayloadLimits {
    /// Returns 1 MiB, the maximum message size of any known network.
    fn default() -> Self {
        Self {
            sealed_bytes_max: 1024 * 1024,
        }
    }
}
