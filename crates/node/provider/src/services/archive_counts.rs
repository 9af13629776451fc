//! Counts of the messages that a store was offered.

use super::totals::DurationHistogram;

/// Numbers of messages that were offered to the archive, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveCounts {
    /// Messages that were written.
    pub kept: u64,
    /// Messages in the archive: the number of less than a minute ago, and those that were written since.
    pub held: u64,
    /// Messages that are not to be kept: ephemeral ones, and those of another time.
    pub refused: u64,
    /// Messages that the archive took too long for.
    pub lost: u64,
    /// Messages that wait to be written.
    pub pending: u64,
    /// Times that the archive took for its writes, of one or many messages.
    pub write_times: DurationHistogram,
}
