//! Time slots, into which an archive is divided.

#[cfg(test)]
#[path = "tests/slot.rs"]
mod tests;

/// Range of timestamps, both ends included, Unix nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlotRange {
    pub(crate) first_ns: i64,
    pub(crate) last_ns: i64,
}

impl SlotRange {
    /// Whether the range contains a timestamp.
    pub(crate) fn contains(&self, timestamp_ns: i64) -> bool {
        (self.first_ns..=self.last_ns).contains(&timestamp_ns)
    }

    /// Finds the range that contains a timestamp, among ordered ranges that do not overlap.
    pub(crate) fn find(ranges: &[Self], timestamp_ns: i64) -> Option<usize> {
        Self::find_by(ranges, |range| range, timestamp_ns)
    }

    /// Finds the slot whose range contains a timestamp, among ordered slots that do not overlap.
    pub(crate) fn find_by<T>(
        slots: &[T],
        range: impl Fn(&T) -> &Self,
        timestamp_ns: i64,
    ) -> Option<usize> {
        let index = slots.partition_point(|slot| range(slot).last_ns < timestamp_ns);
        let found = range(slots.get(index)?);
        found.contains(timestamp_ns).then_some(index)
    }

    /// Returns the range of a new slot for a timestamp that no existing range contains. It is the cell of a grid of the
    /// given width, minus the parts covered by existing ranges. Existing slots may have another width, or be shorter.
    pub(crate) fn new_for(timestamp_ns: i64, width_ns: i64, existing: &[Self]) -> Self {
        let width = i128::from(width_ns.max(1));
        let first = i128::from(timestamp_ns).div_euclid(width) * width;
        let last = first + width - 1;
        let mut range = Self {
            first_ns: i64::try_from(first).unwrap_or(i64::MIN),
            last_ns: i64::try_from(last).unwrap_or(i64::MAX),
        };
        let index = existing.partition_point(|other| other.last_ns < timestamp_ns);
        if let Some(before) = index.checked_sub(1).and_then(|i| existing.get(i)) {
            range.first_ns = range.first_ns.max(before.last_ns.saturating_add(1));
        }
        if let Some(after) = existing.get(index) {
            range.last_ns = range.last_ns.min(after.first_ns.saturating_sub(1));
        }
        range
    }
}
