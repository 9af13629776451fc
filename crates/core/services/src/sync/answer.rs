//! Answer to a payload while it is built, and the choice of how to answer.

use std::collections::BTreeSet;

use super::ranges::RangeWriter;
use super::set::SetView;
use super::{Fingerprint, ItemSet, RangeContent, SyncId, SyncRange};

/// How to answer fingerprints that differ from ours, chosen by how many of them do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tactics {
    /// Whether to answer with our fingerprint of the same range.
    pub(super) reflects: bool,
    /// Number of parts into which ranges are split otherwise.
    pub(super) parts: usize,
}

impl Tactics {
    /// Number of unequal fingerprints below which saving rounds matters more than saving bytes.
    const FEW: usize = 8;

    /// Number of unequal fingerprints from which saving bytes matters more than saving rounds, even while none is
    /// equal.
    const MANY: usize = 256;

    /// Number of parts per range while there are many ranges and most differ. Evenly spread differences leave no
    /// range equal until there are about as many ranges as differences; with eight parts each, there would then be
    /// four times too many.
    const PARTS_OF_MANY: usize = 4;

    pub(super) fn of(view: &SetView, ranges: &[SyncRange], parts: usize) -> Self {
        let (mut equal, mut unequal) = (0, 0);
        for range in ranges {
            if let RangeContent::Fingerprint(theirs) = range.content {
                match view.fingerprint(range.lower, range.upper) == theirs {
                    true => equal += 1,
                    false => unequal += 1,
                }
            }
        }
        // If at most one fingerprint in twenty is equal, a range has three differences or more on average, and
        // most of many parts would differ too. If more are equal, most parts of a range are equal, and two parts
        // cost the fewest bytes. If half of them are equal, most unequal ranges have only one difference.
        if unequal < Self::FEW || equal * 19 <= unequal {
            let parts = match unequal < Self::MANY {
                true => parts,
                false => parts.min(Self::PARTS_OF_MANY),
            };
            let reflects = false;
            return Self { reflects, parts };
        }
        Self {
            reflects: equal >= unequal,
            parts: 2,
        }
    }
}

/// Answer to a payload while it is built.
#[derive(Debug, Default)]
pub(super) struct PayloadAnswer {
    pub(super) writer: RangeWriter,
    pub(super) lacking: Vec<SyncId>,
    pub(super) missing: Vec<SyncId>,
    pub(super) fingerprinted: BTreeSet<(SyncId, SyncId)>,
    pub(super) tactics: Tactics,
}

impl PayloadAnswer {
    pub(super) fn fingerprint(&mut self, lower: SyncId, upper: SyncId, fingerprint: Fingerprint) {
        self.fingerprinted.insert((lower, upper));
        let content = RangeContent::Fingerprint(fingerprint);
        self.writer.put(lower, upper, content);
    }

    pub(super) fn items(&mut self, lower: SyncId, upper: SyncId, ids: &[SyncId], reconciled: bool) {
        let content = RangeContent::Items(ItemSet {
            elements: ids.to_vec(),
            reconciled,
        });
        self.writer.put(lower, upper, content);
    }

    /// Lists our messages with timestamps from that of `first` to that of `last`, within a range.
    pub(super) fn narrow(
        &mut self,
        view: &SetView,
        lower: SyncId,
        upper: SyncId,
        first: SyncId,
        last: SyncId,
    ) {
        let lower = lower.max(SyncId::at(first.time_ns)).max(self.writer.end());
        let upper = upper.min(SyncId::at(last.time_ns + 1));
        if lower >= upper {
            // The messages with that timestamp are listed already.
            return;
        }
        let ids = view.ids(lower, upper);
        self.items(lower, upper, ids, true);
    }
}
