//! Counts of the messages offered to a store.

use super::totals::DurationHistogram;

/// Numbers of messages offered to the archive, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveCounts {
    /// Messages that were written.
    pub kept: u64,
    /// Messages in the archive: a count less than a minute old, plus those written since.
    pub held: u64,
    /// Messages that are not stored: ephemeral ones, and those with a timestamp out of range.
    pub refused: u64,
    /// Messages dropped because the archive was too slow.
    pub lost: u64,
    /// Messages waiting to be written.
    pub pending: u64,
    /// Durations of the archive's writes, of one or many messages each.
    pub write_times: DurationHistogram,
}
