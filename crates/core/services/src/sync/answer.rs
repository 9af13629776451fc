//! Answer to a payload in the making, and the choice of how to answer.

use std::collections::BTreeSet;

use super::ranges::RangeWriter;
use super::set::SetView;
use super::{Fingerprint, ItemSet, RangeContent, SyncId, SyncRange};

/// How to answer the fingerprints of a payload that differ from ours, chosen by how many of them do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tactics {
    /// Whether they are answered with our fingerprint of the same range.
    pub(super) reflects: bool,
    /// Number of parts into which ranges are split otherwise.
    pub(super) parts: usize,
}

impl Tactics {
    /// Number of unequal fingerprints below which rounds count more than bytes.
    const FEW: usize = 8;

    /// Number of unequal fingerprints from which on bytes count more than rounds, also while none is equal.
    const MANY: usize = 256;

    /// Parts of a range while most ranges differ and they are many. Evenly spread differences leave no range equal
    /// until there are about as many ranges as differences; eight parts of each would then be four times too many.
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
        // With no more than one equal in twenty, a range has three differences or more on average, and most
        // of many parts would differ too. With more equal, most parts of a range are equal: two cost the
        // fewest bytes. With half of them equal, most unequal ranges have one difference only.
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

/// Answer to a payload in the making.
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

    /// Names our messages of the timestamps from that of `first` to that of `last`, within a range.
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
            // The messages of that timestamp are named already.
            return;
        }
        let ids = view.ids(lower, upper);
        self.items(lower, upper, ids, true);
    }
}
