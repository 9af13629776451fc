//! Event queue of one thread.
//!
//! Events are ordered by time, then by the node that scheduled them, then by the order in which it did so. This
//! order does not depend on how nodes are distributed over threads. Events of the current bucket are sorted; later
//! ones wait in buckets by due time, so that the sorted part stays small however many nodes there are.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Width of a bucket in `boxes`, nanoseconds.
const BOX_NS: u64 = 20_000_000;

/// Due time of an event, and its position among events of the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EventKey {
    pub(crate) at_ns: u64,
    /// Node that scheduled the event (high half), and the number of events it had scheduled before (low half).
    pub(crate) scheduler: u64,
}

impl EventKey {
    pub(crate) fn new(at_ns: u64, scheduler: u32, count: u32) -> Self {
        Self {
            at_ns,
            scheduler: u64::from(scheduler) << 32 | u64::from(count),
        }
    }
}

/// An event of one node with its due time.
#[derive(Debug)]
pub(crate) struct Scheduled<T> {
    pub(crate) key: EventKey,
    pub(crate) node: u32,
    pub(crate) event: T,
}

/// Entry of the queue: due time, node, and index of the content in `slots`.
type Entry = (EventKey, u32, u32);

/// Scheduled events of one thread.
#[derive(Debug)]
pub(crate) struct EventQueue<T> {
    /// Events of the current bucket that were scheduled before it began, the next one last.
    sorted: Vec<Entry>,
    /// Events of the current bucket that were scheduled since it began.
    late: BinaryHeap<Reverse<Entry>>,
    /// End of the current bucket.
    near_until_ns: u64,
    boxes: BTreeMap<u64, Vec<Entry>>,
    /// Content of the events, indexed by the last number of an entry.
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> EventQueue<T> {
    pub(crate) fn new() -> Self {
        Self {
            sorted: Vec::new(),
            late: BinaryHeap::new(),
            near_until_ns: 0,
            boxes: BTreeMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, scheduled: Scheduled<T>) {
        let Scheduled { key, node, event } = scheduled;
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(event);
                slot
            }
            None => {
                self.slots.push(Some(event));
                u32::try_from(self.slots.len() - 1)
                    .expect("2^32 waiting events would take hundreds of gigabytes")
            }
        };
        if key.at_ns < self.near_until_ns {
            self.late.push(Reverse((key, node, slot)));
        } else {
            let boxed = self.boxes.entry(key.at_ns / BOX_NS).or_default();
            boxed.push((key, node, slot));
        }
    }

    /// When the current bucket is empty, moves on to the next one with an event.
    fn fill(&mut self) {
        while self.sorted.is_empty()
            && self.late.is_empty()
            && let Some((number, boxed)) = self.boxes.pop_first()
        {
            self.near_until_ns = (number + 1).saturating_mul(BOX_NS);
            self.sorted = boxed;
            self.sorted.sort_unstable_by(|a, b| b.cmp(a));
        }
    }

    /// The next entry, and whether it is from `late`.
    fn first(&mut self) -> Option<(Entry, bool)> {
        self.fill();
        match (self.sorted.last(), self.late.peek()) {
            (Some(sorted), Some(Reverse(late))) if late < sorted => Some((*late, true)),
            (None, Some(Reverse(late))) => Some((*late, true)),
            (Some(sorted), _) => Some((*sorted, false)),
            (None, None) => None,
        }
    }

    /// Time of the next event, nanoseconds.
    pub(crate) fn next_ns(&mut self) -> Option<u64> {
        self.first().map(|((key, ..), _)| key.at_ns)
    }

    /// Removes and returns the next event, if it is before `until_ns`.
    pub(crate) fn pop(&mut self, until_ns: u64) -> Option<Scheduled<T>> {
        let ((key, node, slot), is_late) = self.first()?;
        if key.at_ns >= until_ns {
            return None;
        }
        if is_late {
            self.late.pop();
        } else {
            self.sorted.pop();
        }
        self.free.push(slot);
        let event = self.slots[slot as usize].take();
        let event = event.expect("an entry names a slot that is filled");
        Some(Scheduled { key, node, event })
    }

    /// Node and content of an upcoming event, `ahead` events from now unless others are scheduled before it.
    pub(crate) fn upcoming(&self, ahead: usize) -> Option<(u32, &Option<T>)> {
        let at = self.sorted.len().checked_sub(ahead + 1)?;
        let (_, node, slot) = self.sorted[at];
        Some((node, &self.slots[slot as usize]))
    }

    /// Content of all scheduled events, in no particular order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn events_come_in_order(times in prop::collection::vec(0u64..2_000_000_000, 1..300)) {
            let mut events = EventQueue::new();
            let mut expected = Vec::new();
            let (mut now, mut popped) = (0, Vec::new());
            for (i, after) in times.iter().enumerate() {
                let key = EventKey::new(now + after, (i % 7) as u32, i as u32);
                expected.push(key);
                events.push(Scheduled { key, node: 0, event: i });
                // Time advances between two of them.
                if i % 3 == 0 && let Some(event) = events.pop(u64::MAX) {
                    now = event.key.at_ns;
                    popped.push(event.key);
                }
            }
            while let Some(event) = events.pop(u64::MAX) {
                popped.push(event.key);
            }
            prop_assert!(popped.windows(2).all(|w| w[0].at_ns <= w[1].at_ns));
            popped.sort();
            expected.sort();
            prop_assert_eq!(popped, expected);
        }
    }

    #[test]
    fn what_happens_at_once_is_ordered_by_who_caused_it() {
        let mut events = EventQueue::new();
        for (scheduler, count) in [(5, 0), (1, 1), (1, 0), (3, 9)] {
            let key = EventKey::new(7, scheduler, count);
            events.push(Scheduled {
                key,
                node: 0,
                event: (scheduler, count),
            });
        }
        let order: Vec<_> = std::iter::from_fn(|| events.pop(8))
            .map(|e| e.event)
            .collect();
        assert_eq!(order, [(1, 0), (1, 1), (3, 9), (5, 0)]);
    }

    #[test]
    fn upcoming_events_are_those_that_come_next() {
        let mut events = EventQueue::new();
        for node in 0..5 {
            let key = EventKey::new(100 - u64::from(node), node, 0);
            let event = node * 10;
            events.push(Scheduled { key, node, event });
        }
        // Taking the first event starts the bucket.
        assert_eq!(events.pop(u64::MAX).map(|first| first.node), Some(4));
        for (ahead, node) in [(0, 3), (1, 2), (3, 0)] {
            let found = events.upcoming(ahead);
            assert_eq!(found, Some((node, &Some(node * 10))));
        }
        assert_eq!(events.upcoming(4), None);
    }
}
