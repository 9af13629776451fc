//! Where a reorganisation began: bisection over the blocks that are known.

use alloy::primitives::B256;

use crate::evm::store::Mark;

/// A search for the newest mark that is on the chain. Those below one that is are, too.
#[derive(Debug)]
pub(super) struct Search {
    marks: Vec<Mark>,
    /// Marks below are on the chain.
    low: usize,
    /// This and those above are not.
    high: usize,
}

impl Search {
    /// A search among `marks`, the lowest first.
    pub(super) fn new(marks: Vec<Mark>) -> Self {
        Self {
            low: 0,
            high: marks.len(),
            marks,
        }
    }

    /// The mark to ask about, while nothing is found.
    pub(super) fn middle(&self) -> &Mark {
        &self.marks[self.at()]
    }

    /// Takes the hash that the chain has at the middle's height.
    pub(super) fn narrow(&mut self, hash: B256) {
        let middle = self.at();
        if self.marks[middle].block.hash == hash {
            self.low = middle + 1;
        } else {
            self.high = middle;
        }
    }

    /// The newest mark on the chain, once it is known; `Some(None)` when there is none.
    pub(super) fn found(&self) -> Option<Option<Mark>> {
        (self.low == self.high).then(|| self.low.checked_sub(1).map(|at| self.marks[at]))
    }

    fn at(&self) -> usize {
        (self.low + self.high) / 2
    }
}
