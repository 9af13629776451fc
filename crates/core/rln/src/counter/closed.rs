//! Epochs in which no more ids are issued, stored as a few ranges.

use crate::epoch::Epoch;

/// Maximum number of separate ranges. Each jump of the clock adds one.
pub(super) const RANGES_MAX: usize = 4;

/// Set of epochs. It may contain more than were added: beyond [`RANGES_MAX`] ranges, the two closest
/// ones are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ClosedEpochs {
    /// First and last epoch of each range, ascending, with at least one epoch between two ranges.
    ranges: Vec<(u64, u64)>,
}

impl ClosedEpochs {
    /// Creates the set of these ranges; `None` if they are not ascending and separate, or too many.
    pub(super) fn from_ranges(ranges: &[(u64, u64)]) -> Option<Self> {
        let ordered = ranges.iter().all(|(first, last)| first <= last);
        let mut pairs = ranges.windows(2);
        let apart = pairs.all(|pair| pair[0].1.checked_add(1).is_some_and(|end| end < pair[1].0));
        let ranges = ranges.to_vec();
        (ordered && apart && ranges.len() <= RANGES_MAX).then_some(Self { ranges })
    }

    pub(super) fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    pub(super) fn contains(&self, epoch: Epoch) -> bool {
        let mut ranges = self.ranges.iter();
        ranges.any(|(first, last)| (*first..=*last).contains(&epoch.0))
    }

    /// Closes the epochs `first` to `last`, both inclusive.
    pub(super) fn close(&mut self, first: Epoch, last: Epoch) {
        self.ranges.push((first.0, last.0));
        self.ranges.sort_unstable();
        let touching = |a: &(u64, u64), b: &(u64, u64)| b.0 <= a.1.saturating_add(1);
        let mut at = 1;
        while at < self.ranges.len() {
            if touching(&self.ranges[at - 1], &self.ranges[at]) {
                self.join(at);
            } else {
                at += 1;
            }
        }
        while self.ranges.len() > RANGES_MAX {
            let gaps = self.ranges.windows(2).map(|pair| pair[1].0 - pair[0].1);
            let (before, _) = gaps
                .enumerate()
                .min_by_key(|(_, gap)| *gap)
                .expect("more ranges than one have a gap");
            self.join(before + 1);
        }
    }

    /// Merges the range at index `at` into the one before.
    fn join(&mut self, at: usize) {
        let (_, last) = self.ranges.remove(at);
        let before = &mut self.ranges[at - 1];
        before.1 = before.1.max(last);
    }

    /// Returns the last closed epoch that is not after `epoch`.
    pub(super) fn last_until(&self, epoch: Epoch) -> Option<Epoch> {
        let ranges = self.ranges.iter().rev();
        let mut begun = ranges.filter(|(first, _)| *first <= epoch.0);
        begun.next().map(|(_, last)| Epoch(epoch.0.min(*last)))
    }

    /// Returns the first open epoch that is not before `epoch`.
    pub(super) fn open_from(&self, epoch: Epoch) -> Epoch {
        let closed = |(first, last): &&(u64, u64)| (*first..=*last).contains(&epoch.0);
        match self.ranges.iter().find(closed) {
            Some((_, last)) => Epoch(last.saturating_add(1)),
            None => epoch,
        }
    }
}
