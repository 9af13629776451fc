//! Search for the start of a reorganisation, by bisection over the known blocks.

use alloy::primitives::B256;

use crate::evm::store::Checkpoint;

/// Search for the newest checkpoint that is on the chain. All checkpoints below it are on the chain too.
#[derive(Debug)]
pub(super) struct ForkSearch {
    checkpoints: Vec<Checkpoint>,
    /// Checkpoints below this index are on the chain.
    low: usize,
    /// Checkpoints from this index on are not on the chain.
    high: usize,
}

impl ForkSearch {
    /// Creates a search among `checkpoints`, the lowest first.
    pub(super) fn new(checkpoints: Vec<Checkpoint>) -> Self {
        Self {
            low: 0,
            high: checkpoints.len(),
            checkpoints,
        }
    }

    /// Returns the checkpoint to ask about next, as long as the search is not finished.
    pub(super) fn middle(&self) -> &Checkpoint {
        &self.checkpoints[self.at()]
    }

    /// Takes the hash that the chain has at the height of the middle checkpoint.
    pub(super) fn narrow(&mut self, hash: B256) {
        let middle = self.at();
        if self.checkpoints[middle].block.hash == hash {
            self.low = middle + 1;
        } else {
            self.high = middle;
        }
    }

    /// Returns the newest checkpoint on the chain, once it is known; `Some(None)` when no checkpoint is.
    pub(super) fn found(&self) -> Option<Option<Checkpoint>> {
        (self.low == self.high).then(|| self.low.checked_sub(1).map(|at| self.checkpoints[at]))
    }

    fn at(&self) -> usize {
        (self.low + self.high) / 2
    }
}
