//! Queue of spans between their producers and the thread that posts them.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::TraceSpan;

/// Maximum number of waiting spans; with its attributes, each takes about half a kilobyte.
pub(super) const WAITING_MAX: usize = 4_096;

/// Maximum number of spans posted together.
pub(super) const BATCH_MAX: usize = 512;

/// Time that the first span of a batch waits for others.
const LINGER: Duration = Duration::from_secs(1);

/// Totals of spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceTotals {
    /// Spans accepted by the collector.
    pub taken: u64,
    /// Spans dropped because the queue was full.
    pub dropped: u64,
    /// Spans lost because the collector was unreachable or refused them.
    pub lost: u64,
}

#[derive(Default)]
pub(super) struct SpanQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    waiting: Vec<TraceSpan>,
    totals: TraceTotals,
    is_closed: bool,
}

impl SpanQueue {
    /// Appends a span, or counts it as dropped. The lock is held only for moving data.
    pub(super) fn push(&self, span: TraceSpan) {
        let mut state = self.state.lock();
        if state.is_closed || state.waiting.len() >= WAITING_MAX {
            state.totals.dropped += 1;
            return;
        }
        state.waiting.push(span);
        let len = state.waiting.len();
        drop(state);
        if len == 1 || len == BATCH_MAX {
            self.changed.notify_one();
        }
    }

    /// Waits for spans and takes a batch of them; `None` when the queue is closed and empty.
    pub(super) fn batch(&self) -> Option<Vec<TraceSpan>> {
        let mut state = self.state.lock();
        while state.waiting.is_empty() && !state.is_closed {
            self.changed.wait(&mut state);
        }
        let until = Instant::now() + LINGER;
        while state.waiting.len() < BATCH_MAX && !state.is_closed {
            if self.changed.wait_until(&mut state, until).timed_out() {
                break;
            }
        }
        let batch = state.waiting.len().min(BATCH_MAX);
        let batch: Vec<_> = state.waiting.drain(..batch).collect();
        (!batch.is_empty()).then_some(batch)
    }

    /// Waits for `pause`. If the queue is closed, drops the waiting spans and returns `true` at once.
    pub(super) fn is_closed_within(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        let mut state = self.state.lock();
        while !state.is_closed {
            if self.changed.wait_until(&mut state, until).timed_out() {
                return false;
            }
        }
        state.totals.dropped += state.waiting.len() as u64;
        state.waiting.clear();
        true
    }

    /// Counts the spans of a batch that was posted.
    pub(super) fn posted(&self, taken: usize, lost: usize) {
        let totals = &mut self.state.lock().totals;
        totals.taken += taken as u64;
        totals.lost += lost as u64;
    }

    /// Closes the queue: no more spans are accepted.
    pub(super) fn close(&self) {
        self.state.lock().is_closed = true;
        self.changed.notify_all();
    }

    #[cfg(test)]
    pub(super) fn waiting(&self) -> Vec<TraceSpan> {
        self.state.lock().waiting.clone()
    }

    pub(super) fn totals(&self) -> TraceTotals {
        self.state.lock().totals
    }
}
