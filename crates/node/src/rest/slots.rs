//! Bound on connections: a new one replaces the one that has been idle longest.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

#[cfg(test)]
mod tests;

/// Places of all open connections, at most `max`.
#[derive(Debug)]
pub(super) struct Slots {
    max: usize,
    held: Mutex<HeldSlots>,
}

#[derive(Debug, Default)]
struct HeldSlots {
    next: u64,
    /// Connections in the order in which they are closed: those without a request in progress first, and in
    /// each group the one that has been inactive longest.
    by_rank: BTreeMap<(bool, u64), Arc<Notify>>,
}

impl HeldSlots {
    fn enter(&mut self, is_busy: bool, leave: Arc<Notify>) -> (bool, u64) {
        let rank = (is_busy, self.next);
        self.next += 1;
        self.by_rank.insert(rank, leave);
        rank
    }
}

/// One connection's slot, freed when dropped.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    leave: Arc<Notify>,
    last: Mutex<Last>,
}

/// Rank and time of a connection's last activity.
#[derive(Debug, Clone, Copy)]
struct Last {
    rank: (bool, u64),
    at: Instant,
}

impl Slots {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            max: max.max(1),
            held: Mutex::default(),
        })
    }

    /// Takes a slot; if all are taken, another connection is told to close.
    pub(super) fn take(self: &Arc<Self>) -> Slot {
        let leave = Arc::new(Notify::new());
        let mut held = self.held.lock();
        while held.by_rank.len() >= self.max
            && let Some((_, other)) = held.by_rank.pop_first()
        {
            other.notify_one();
        }
        let rank = held.enter(false, Arc::clone(&leave));
        drop(held);
        let at = Instant::now();
        Slot {
            slots: Arc::clone(self),
            leave,
            last: Mutex::new(Last { rank, at }),
        }
    }
}

impl Slot {
    /// Records that a request has begun (`is_busy`) or was answered.
    pub(super) fn touch(&self, is_busy: bool) {
        let mut last = self.last.lock();
        let mut held = self.slots.held.lock();
        // A connection that was told to close gets no new slot.
        if held.by_rank.remove(&last.rank).is_some() {
            last.rank = held.enter(is_busy, Arc::clone(&self.leave));
            last.at = Instant::now();
        }
    }

    /// Gives the slot to others, while the connection goes on with an answer that has a bound of its own.
    pub(super) fn give_up(&self) {
        let last = self.last.lock();
        self.slots.held.lock().by_rank.remove(&last.rank);
    }

    /// Completes when the slot is needed for another connection.
    pub(super) async fn is_wanted(&self) {
        self.leave.notified().await;
    }

    /// Whether more than `long` has passed since a request was answered, and no other has begun.
    pub(super) fn is_idle_for(&self, long: Duration) -> bool {
        let last = self.last.lock();
        !last.rank.0 && last.at.elapsed() > long
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let rank = self.last.lock().rank;
        self.slots.held.lock().by_rank.remove(&rank);
    }
}
