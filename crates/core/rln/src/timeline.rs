//! Timeline of the membership roots: which root was accepted when.
//!
//! A relay compares the root of a proof with a window of the newest roots ([`crate::RootWindow`]). Judging past
//! messages takes the windows of the past instead.

use std::collections::{BTreeMap, BTreeSet};

use crate::field::{Fr, fr_to_le};

/// All roots of a registry, in the order of its changes, and the known times of the changes.
///
/// Every root has a moment: a number in the order of the registry's log, such as a version or a block height,
/// which several roots may share. Times are assigned to moments, and may be incomplete: a root with an unknown
/// time counts as accepted for as long as the known times before and after it allow.
#[derive(Clone, Debug)]
pub struct RootTimeline {
    /// Number of newest roots that are accepted at a time, at least 1.
    window: usize,
    /// Moment of each root, non-decreasing.
    moments: Vec<u64>,
    /// Each root with its index in `moments`; a recurring root has several.
    indexes: BTreeSet<([u8; 32], u32)>,
    /// Known times of moments, Unix nanoseconds.
    times_ns: BTreeMap<u64, u64>,
}

/// Accepted differences between the clocks and views of a publisher, a relay and the registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RootTolerance {
    /// Time by which a message may precede its root, nanoseconds: the publisher's clock may be behind.
    pub early_ns: u64,
    /// Time for which a root is still accepted after it has left the window, nanoseconds: the views of relays
    /// may lag behind the registry.
    pub late_ns: u64,
    /// Maximum time for which a replaced root is accepted, nanoseconds; `None` for as long as it is in the
    /// window.
    pub max_age_ns: Option<u64>,
}

impl RootTolerance {
    /// Tolerance with these differences, and without a limit on the age of roots in the window.
    pub const fn new(early_ns: u64, late_ns: u64) -> Self {
        Self {
            early_ns,
            late_ns,
            max_age_ns: None,
        }
    }

    /// Limits the time for which a replaced root is accepted, nanoseconds.
    #[must_use]
    pub const fn with_max_age_ns(mut self, max_age_ns: Option<u64>) -> Self {
        self.max_age_ns = max_age_ns;
        self
    }
}

/// Standing of a root at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootStanding {
    /// The registry never had this root.
    Unknown,
    /// The registry got the root only later.
    Early {
        /// Time at which the registry first had the root, Unix nanoseconds.
        since_ns: u64,
    },
    /// The root had left the window, or was replaced too long ago.
    Expired {
        /// Time until which the root was accepted, Unix nanoseconds.
        until_ns: u64,
    },
    /// The root was among the accepted ones.
    Accepted {
        /// Time since a newer root had replaced it, nanoseconds; `None` if it was the newest.
        replaced_for_ns: Option<u64>,
    },
}

impl RootTimeline {
    /// Creates an empty timeline of a registry whose newest `window` roots are accepted (The Waku Network: 50);
    /// 0 is read as 1.
    pub fn new(window: usize) -> Self {
        Self {
            window: window.max(1),
            moments: Vec::new(),
            indexes: BTreeSet::new(),
            times_ns: BTreeMap::new(),
        }
    }

    /// Adds the root after the next change. A moment before that of the last root is raised to it.
    pub fn push(&mut self, root: Fr, moment: u64) {
        let moment = self.moments.last().map_or(moment, |last| moment.max(*last));
        let index = u32::try_from(self.moments.len()).unwrap_or(u32::MAX);
        self.moments.push(moment);
        self.indexes.insert((fr_to_le(&root), index));
    }

    /// Records the time of a moment, Unix nanoseconds.
    pub fn set_time(&mut self, moment: u64, unix_ns: u64) {
        self.times_ns.insert(moment, unix_ns);
    }

    /// Number of roots, including recurrences.
    pub fn len(&self) -> usize {
        self.moments.len()
    }

    /// Whether there are no roots.
    pub fn is_empty(&self) -> bool {
        self.moments.is_empty()
    }

    /// Returns the moments whose unknown times decide the standing of a root at a time, Unix nanoseconds.
    pub fn undated(&self, root: &Fr, at_ns: u64, tolerance: &RootTolerance) -> BTreeSet<u64> {
        let mut open = BTreeSet::new();
        for index in self.indexes(root) {
            let limits = RootThresholds::of(self, index, at_ns, tolerance);
            let decisive = [
                Some((limits.since, limits.latest_since_ns)),
                limits.left.map(|left| (left, limits.earliest_end_ns)),
                limits.replaced.zip(limits.earliest_replaced_ns),
            ];
            let decisive = decisive.into_iter().flatten();
            open.extend(
                decisive
                    .filter(|(moment, threshold_ns)| self.is_open(*moment, *threshold_ns))
                    .map(|(moment, _)| moment),
            );
        }
        open
    }

    /// Returns the standing of a root at a time, Unix nanoseconds.
    pub fn standing(&self, root: &Fr, at_ns: u64, tolerance: &RootTolerance) -> RootStanding {
        let each = self
            .indexes(root)
            .map(|index| self.standing_of(index, at_ns, tolerance));
        // For a recurring root, the best standing counts; if none is accepted, the reason of the nearest
        // occurrence.
        each.fold(RootStanding::Unknown, |best, standing| {
            match (best, standing) {
                (
                    RootStanding::Accepted {
                        replaced_for_ns: None,
                    },
                    _,
                ) => best,
                (_, RootStanding::Accepted { .. }) => standing,
                (RootStanding::Accepted { .. }, _) => best,
                (_, RootStanding::Expired { .. }) => standing,
                (RootStanding::Unknown, _) => standing,
                _ => best,
            }
        })
    }

    /// Indexes of a root, ascending.
    fn indexes(&self, root: &Fr) -> impl Iterator<Item = usize> {
        let root = fr_to_le(root);
        let range = self.indexes.range((root, 0)..=(root, u32::MAX));
        range.map(|(_, index)| *index as usize)
    }

    fn standing_of(&self, index: usize, at_ns: u64, tolerance: &RootTolerance) -> RootStanding {
        let limits = RootThresholds::of(self, index, at_ns, tolerance);
        let since_ns = self.earliest_ns(limits.since);
        if since_ns > limits.latest_since_ns {
            return RootStanding::Early { since_ns };
        }
        let left_ns = limits.left.and_then(|moment| self.latest_ns(moment));
        if let Some(until_ns) = left_ns.filter(|left_ns| *left_ns < limits.earliest_end_ns) {
            return RootStanding::Expired { until_ns };
        }
        let replaced_ns = limits.replaced.and_then(|moment| self.latest_ns(moment));
        if let (Some(replaced_ns), Some(earliest_ns)) = (replaced_ns, limits.earliest_replaced_ns)
            && replaced_ns < earliest_ns
        {
            let max_age_ns = tolerance.max_age_ns.unwrap_or(0);
            return RootStanding::Expired {
                until_ns: replaced_ns.saturating_add(max_age_ns),
            };
        }
        let replaced_ns = replaced_ns.filter(|replaced_ns| *replaced_ns < at_ns);
        RootStanding::Accepted {
            replaced_for_ns: replaced_ns.map(|replaced_ns| at_ns - replaced_ns),
        }
    }

    /// Whether the unknown time of a moment may be before or after `threshold_ns`.
    fn is_open(&self, moment: u64, threshold_ns: u64) -> bool {
        !self.times_ns.contains_key(&moment)
            && self.earliest_ns(moment) <= threshold_ns
            && self
                .latest_ns(moment)
                .is_none_or(|latest_ns| latest_ns >= threshold_ns)
    }

    /// Returns the earliest possible time of a moment, given the known times.
    fn earliest_ns(&self, moment: u64) -> u64 {
        let known = self.times_ns.range(..=moment).next_back();
        known.map_or(0, |(_, unix_ns)| *unix_ns)
    }

    /// Returns the latest possible time of a moment, given the known times; `None` if unbounded.
    fn latest_ns(&self, moment: u64) -> Option<u64> {
        let known = self.times_ns.range(moment..).next();
        known.map(|(_, unix_ns)| *unix_ns)
    }
}

/// When a root was current, and the thresholds for accepting it.
struct RootThresholds {
    since: u64,
    /// Moment at which a newer root replaced it.
    replaced: Option<u64>,
    /// Moment at which it left the window.
    left: Option<u64>,
    /// Latest acceptable time of the root's appearance.
    latest_since_ns: u64,
    /// Earliest acceptable time of the root's leaving the window.
    earliest_end_ns: u64,
    /// Earliest acceptable time of the root's replacement, if there is a limit.
    earliest_replaced_ns: Option<u64>,
}

impl RootThresholds {
    fn of(timeline: &RootTimeline, index: usize, at_ns: u64, tolerance: &RootTolerance) -> Self {
        let moment = |index: usize| timeline.moments.get(index).copied();
        let earliest_end_ns = at_ns.saturating_sub(tolerance.late_ns);
        let max_age_ns = tolerance.max_age_ns;
        Self {
            since: timeline.moments[index],
            replaced: moment(index + 1),
            left: moment(index + timeline.window),
            latest_since_ns: at_ns.saturating_add(tolerance.early_ns),
            earliest_end_ns,
            earliest_replaced_ns: max_age_ns.map(|age_ns| earliest_end_ns.saturating_sub(age_ns)),
        }
    }
}

#[cfg(test)]
#[path = "tests/timeline.rs"]
mod tests;
