//! Number of blocks per request for events, adapted to what the endpoint accepts.

/// Number of events in an answer above which the next request is for fewer blocks.
const MANY_EVENTS: usize = 4_000;

/// Number of answers after which the cap on the request length is doubled.
const PATIENCE: u32 = 64;

/// Adaptive length of a page of events, in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evm) struct Range {
    blocks: u64,
    /// Half the length that was refused last: an upper bound for a while.
    cap: u64,
    max: u64,
    answered: u32,
}

impl Range {
    /// Creates a range that starts with `blocks` blocks and never exceeds `max`.
    pub(in crate::evm) fn new(blocks: u64, max: u64) -> Self {
        let max = max.max(1);
        Self {
            blocks: blocks.clamp(1, max),
            cap: max,
            max,
            answered: 0,
        }
    }

    pub(super) fn end(&self, from: u64) -> u64 {
        from.saturating_add(self.blocks - 1)
    }

    pub(super) fn answered(&mut self, events: usize) {
        self.answered += 1;
        if self.answered >= PATIENCE {
            self.answered = 0;
            self.cap = self.cap.saturating_mul(2).min(self.max);
        }
        self.blocks = match events > MANY_EVENTS {
            true => (self.blocks / 2).max(1),
            false => self.blocks.saturating_mul(2).min(self.cap),
        };
    }

    /// Halves the range after a refused request for `blocks` blocks; returns whether it
    /// can be halved.
    pub(super) fn refused(&mut self, blocks: u64) -> bool {
        self.answered = 0;
        self.cap = (blocks / 2).max(1);
        self.blocks = self.cap;
        blocks > 1
    }
}
