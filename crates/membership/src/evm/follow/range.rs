//! How many blocks to ask for at once: as many as the endpoint gives.

/// Events in an answer above which the next question is for fewer blocks.
const MANY_EVENTS: usize = 4_000;

/// Answers after which a larger question is tried again.
const PATIENCE: u32 = 64;

/// The adaptive length of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evm) struct Range {
    blocks: u64,
    /// What was refused last, halved; no question is longer for a while.
    cap: u64,
    max: u64,
    answered: u32,
}

impl Range {
    /// Starts with `blocks` and never asks for more than `max`.
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

    /// Whether it makes sense to ask for less.
    pub(super) fn refused(&mut self, blocks: u64) -> bool {
        self.answered = 0;
        self.cap = (blocks / 2).max(1);
        self.blocks = self.cap;
        blocks > 1
    }
}
