//! Timers of a state machine, in the order in which they are due.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Timers; those due at the same time fire in the order in which they were set.
#[derive(Debug)]
pub(crate) struct Timers<T> {
    heap: BinaryHeap<TimerEntry<T>>,
    planned: u64,
}

#[derive(Debug)]
struct TimerEntry<T> {
    at_ns: u64,
    order: u64,
    what: T,
}

impl<T> Default for Timers<T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            planned: 0,
        }
    }
}

impl<T> Timers<T> {
    pub(crate) fn at(&mut self, at_ns: u64, what: T) {
        self.planned += 1;
        self.heap.push(TimerEntry {
            at_ns,
            order: self.planned,
            what,
        });
    }

    pub(crate) fn next(&self) -> Option<u64> {
        self.heap.peek().map(|due| due.at_ns)
    }

    /// Removes and returns the next timer, if it is due.
    pub(crate) fn take(&mut self, now_ns: u64) -> Option<T> {
        let due = self.heap.peek()?.at_ns <= now_ns;
        due.then(|| self.heap.pop().expect("peeked just now").what)
    }
}

impl<T> Ord for TimerEntry<T> {
    /// The earliest timer is the greatest, as `BinaryHeap` pops the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at_ns, other.order).cmp(&(self.at_ns, self.order))
    }
}

impl<T> PartialOrd for TimerEntry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for TimerEntry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for TimerEntry<T> {}
