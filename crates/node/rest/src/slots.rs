//! Limit on connections: a new one replaces the one that has been idle longest, unless that one has not yet had time
//! to send its request.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

#[cfg(test)]
#[path = "tests/slots.rs"]
mod tests;

/// Time that a connection has to send its first or next request before it can be replaced. Meanwhile clients wait in
/// the system's queue: behind 2,000 connections that reopen whenever they are closed, a client waits for 2,000 / 128
/// such periods.
const GRACE: Duration = Duration::from_millis(25);

/// Slots of all open connections, at most `max`.
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
    by_rank: BTreeMap<(bool, u64), HeldSlot>,
}

/// Entry of a connection that holds a slot.
#[derive(Debug)]
struct HeldSlot {
    leave: Arc<Notify>,
    /// Time of the last event: opened, request received, or request answered.
    since: Instant,
}

impl HeldSlots {
    fn enter(&mut self, is_busy: bool, leave: Arc<Notify>) -> (bool, u64) {
        let rank = (is_busy, self.next);
        self.next += 1;
        let since = Instant::now();
        self.by_rank.insert(rank, HeldSlot { leave, since });
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

/// Rank of a connection by its last activity.
#[derive(Debug, Clone, Copy)]
struct Last {
    rank: (bool, u64),
    /// Whether the connection has given its slot up for good.
    has_given_up: bool,
}

impl Slots {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            max: max.max(1),
            held: Mutex::default(),
        })
    }

    /// Returns the time at which a slot becomes available; `None` if one is available now. Until then the connection
    /// to be replaced still has time to send its request.
    pub(super) fn free_at(&self) -> Option<Instant> {
        let held = self.held.lock();
        let ((is_busy, _), first) = held.by_rank.first_key_value()?;
        if held.by_rank.len() < self.max || *is_busy {
            return None;
        }
        let at = first.since + GRACE;
        (at > Instant::now()).then_some(at)
    }

    /// Takes a slot; if all are taken, tells another connection to close.
    pub(super) fn take(self: &Arc<Self>) -> Slot {
        let leave = Arc::new(Notify::new());
        let mut held = self.held.lock();
        while held.by_rank.len() >= self.max
            && let Some((_, other)) = held.by_rank.pop_first()
        {
            other.leave.notify_one();
        }
        let rank = held.enter(false, Arc::clone(&leave));
        drop(held);
        Slot {
            slots: Arc::clone(self),
            leave,
            last: Mutex::new(Last {
                rank,
                has_given_up: false,
            }),
        }
    }
}

impl Slot {
    /// Records that a request has begun (`is_busy`) or was answered. If a connection was told to close but has
    /// received a request meanwhile, it takes a slot again, so that the request is answered. The next new connection
    /// then replaces two.
    pub(super) fn touch(&self, is_busy: bool) {
        let mut last = self.last.lock();
        let mut held = self.slots.held.lock();
        let was_held = held.by_rank.remove(&last.rank).is_some();
        if was_held || (is_busy && !last.has_given_up) {
            last.rank = held.enter(is_busy, Arc::clone(&self.leave));
        }
    }

    /// Gives up the slot, while the connection continues with an answer that has a limit of its own.
    pub(super) fn give_up(&self) {
        let mut last = self.last.lock();
        last.has_given_up = true;
        self.slots.held.lock().by_rank.remove(&last.rank);
    }

    /// Whether the connection was told to close and has not taken a slot again.
    pub(super) fn must_leave(&self) -> bool {
        let last = self.last.lock();
        !self.slots.held.lock().by_rank.contains_key(&last.rank)
    }

    /// Completes when the slot is needed for another connection.
    pub(super) async fn is_wanted(&self) {
        self.leave.notified().await;
    }

    /// Whether more than `long` has passed since the last request was answered, with no new one begun.
    pub(super) fn is_idle_for(&self, long: Duration) -> bool {
        let last = self.last.lock();
        let held = self.slots.held.lock();
        let own = held.by_rank.get(&last.rank);
        own.is_some_and(|own| !last.rank.0 && own.since.elapsed() > long)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let rank = self.last.lock().rank;
        self.slots.held.lock().by_rank.remove(&rank);
    }
}
