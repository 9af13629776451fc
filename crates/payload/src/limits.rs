//! Limits on what is opened.

/// Limits on sealed payloads of unknown origin, checked before anything is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum length of a sealed payload, in bytes.
    pub sealed_bytes_max: usize,
}

impl Default for Limits {
    /// Returns 1 MiB, the most that a message of any known network has.
    fn default() -> Self {
        Self {
            sealed_bytes_max: 1024 * 1024,
        }
    }
}
