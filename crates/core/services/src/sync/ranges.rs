//! Ranges of an answer, written in order.

use super::{RangeContent, SyncId, SyncRange};

#[cfg(test)]
#[path = "tests/ranges.rs"]
mod tests;

/// Writer of consecutive ranges. It fills gaps between them with skipped ranges.
#[derive(Debug, Default)]
pub(super) struct RangeWriter {
    ranges: Vec<SyncRange>,
}

impl RangeWriter {
    /// Writes a range with content. It must not begin before the end of the previous one.
    pub(super) fn put(&mut self, lower: SyncId, upper: SyncId, content: RangeContent) {
        self.skip_to(lower);
        self.ranges.push(SyncRange {
            lower,
            upper,
            content,
        });
    }

    /// Returns the end of the last range written.
    pub(super) fn end(&self) -> SyncId {
        let last = self.ranges.last();
        last.map_or(SyncId::at(0), |range| range.upper)
    }

    /// Returns the ranges; nothing is skipped at the end.
    pub(super) fn finish(self) -> Vec<SyncRange> {
        self.ranges
    }

    fn skip_to(&mut self, upper: SyncId) {
        // On the wire, the first range begins at hash zero, and a range of more than one timestamp
        // ends at hash zero.
        let start = SyncId::at(upper.time_ns);
        let last = self.ranges.last();
        let mut reached = last.map_or(start, |range| range.upper);
        if reached.time_ns < upper.time_ns {
            self.push_skip(reached, start);
            reached = start;
        }
        if reached < upper {
            self.push_skip(reached, upper);
        }
    }

    fn push_skip(&mut self, lower: SyncId, upper: SyncId) {
        self.ranges.push(SyncRange {
            lower,
            upper,
            content: RangeContent::Skip,
        });
    }
}
