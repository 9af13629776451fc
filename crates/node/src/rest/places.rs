//! A bound on connections: a new one takes the place of the one that has been idle longest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

#[cfg(test)]
mod tests;

/// All connections there are, at most so many.
#[derive(Debug)]
pub(super) struct Places {
    max: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    next: u64,
    /// Who has to leave, in that order: those without a request under way first, of each kind the one of which
    /// nothing was heard for longest.
    by_rank: BTreeMap<(bool, u64), Arc<Notify>>,
}

impl Held {
    fn enter(&mut self, is_busy: bool, leave: Arc<Notify>) -> (bool, u64) {
        let rank = (is_busy, self.next);
        self.next += 1;
        self.by_rank.insert(rank, leave);
        rank
    }
}

/// One connection's place; given back when dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    leave: Arc<Notify>,
    last: Mutex<Last>,
}

/// What a connection did last.
#[derive(Debug, Clone, Copy)]
struct Last {
    rank: (bool, u64),
    at: Instant,
}

impl Places {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            max: max.max(1),
            held: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        // Every change leaves the map whole.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place, and one fewer for another if all are taken.
    pub(super) fn take(self: &Arc<Self>) -> Place {
        let leave = Arc::new(Notify::new());
        let mut held = self.lock();
        while held.by_rank.len() >= self.max
            && let Some((_, other)) = held.by_rank.pop_first()
        {
            other.notify_one();
        }
        let rank = held.enter(false, Arc::clone(&leave));
        drop(held);
        let at = Instant::now();
        Place {
            places: Arc::clone(self),
            leave,
            last: Mutex::new(Last { rank, at }),
        }
    }
}

impl Place {
    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request has begun or was answered.
    pub(super) fn touch(&self, is_busy: bool) {
        let mut last = self.last();
        let mut held = self.places.lock();
        // One that has to leave does not come back.
        if held.by_rank.remove(&last.rank).is_some() {
            last.rank = held.enter(is_busy, Arc::clone(&self.leave));
            last.at = Instant::now();
        }
    }

    /// Completes when the place is wanted for another.
    pub(super) async fn is_wanted(&self) {
        self.leave.notified().await;
    }

    /// Whether it has been so long since a request was answered, and none has begun.
    pub(super) fn is_idle_for(&self, long: Duration) -> bool {
        let last = self.last();
        !last.rank.0 && last.at.elapsed() > long
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let rank = self.last().rank;
        self.places.lock().by_rank.remove(&rank);
    }
}
