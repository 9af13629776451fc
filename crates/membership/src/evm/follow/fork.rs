//! Search for the start of a reorganisation, by bisection over the known blocks.

use alloy::primitives::B256;

use crate::evm::store::Mark;

/// Search for the newest mark that is on the chain. All marks below it are on the chain too.
#[derive(Debug)]
pub(super) struct Search {
    marks: Vec<Mark>,
    /// Marks below this index are on the chain.
    low: usize,
    /// Marks from this index on are not on the chain.
    high: usize,
}

impl Search {
    /// Creates a search among `marks`, the lowest first.
    pub(super) fn new(marks: Vec<Mark>) -> Self {
        Self {
            low: 0,
            high: marks.len(),
            marks,
        }
    }

    /// Returns the mark to ask about next, as long as the search is not finished.
    pub(super) fn middle(&self) -> &Mark {
        &self.marks[self.at()]
    }

    /// Takes the hash that the chain has at the height of the middle mark.
    pub(super) fn narrow(&mut self, hash: B256) {
        let middle = self.at();
        if self.marks[middle].block.hash == hash {
            self.low = middle + 1;
        } else {
            self.high = middle;
        }
    }

    /// Returns the newest mark on the chain, once it is known; `Some(None)` when no mark is.
    pub(super) fn found(&self) -> Option<Option<Mark>> {
        (self.low == self.high).then(|| self.low.checked_sub(1).map(|at| self.marks[at]))
    }

    fn at(&self) -> usize {
        (self.low + self.high) / 2
    }
}
