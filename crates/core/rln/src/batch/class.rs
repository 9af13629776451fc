//! Proofs of one class of peers: one queue for each peer, served round-robin.

use std::collections::{BTreeMap, VecDeque};

/// Queues of one class by peer. No queue is empty.
#[derive(Clone, Debug)]
pub(super) struct ClassQueues<T, P> {
    queues: BTreeMap<P, VecDeque<T>>,
    /// Peers with waiting proofs, in round-robin order.
    turns: VecDeque<P>,
    /// Number of proofs in all queues.
    len: usize,
    /// Work done for this class, in nanoseconds times the class's weight.
    pub(super) spent_ns: u64,
}

impl<T, P: Copy + Ord> ClassQueues<T, P> {
    pub(super) fn new() -> Self {
        Self {
            queues: BTreeMap::new(),
            turns: VecDeque::new(),
            len: 0,
            spent_ns: 0,
        }
    }

    pub(super) fn push(&mut self, peer: P, ticket: T) {
        let queue = self.queues.entry(peer).or_default();
        if queue.is_empty() {
            self.turns.push_back(peer);
        }
        queue.push_back(ticket);
        self.len += 1;
    }

    /// Takes one proof: the oldest of the next peer in turn that `may_go`.
    pub(super) fn take_one(&mut self, may_go: impl Fn(&P) -> bool) -> Option<T> {
        let at = self.turns.iter().position(may_go)?;
        let peer = self.turns.remove(at)?;
        let queue = self.queues.get_mut(&peer)?;
        let ticket = queue.pop_front()?;
        if queue.is_empty() {
            self.queues.remove(&peer);
        } else {
            self.turns.push_back(peer);
        }
        self.len -= 1;
        Some(ticket)
    }

    /// Whether a proof waits of a peer that `may_go`.
    pub(super) fn has_any(&self, may_go: impl Fn(&P) -> bool) -> bool {
        self.turns.iter().any(may_go)
    }

    /// Takes up to `count` proofs: the oldest of each peer in turn.
    pub(super) fn take(&mut self, count: usize) -> Vec<T> {
        let mut taken = Vec::with_capacity(count.min(self.len));
        while taken.len() < count
            && let Some(peer) = self.turns.pop_front()
        {
            let Some(queue) = self.queues.get_mut(&peer) else {
                continue;
            };
            taken.extend(queue.pop_front());
            if queue.is_empty() {
                self.queues.remove(&peer);
            } else {
                self.turns.push_back(peer);
            }
        }
        self.len -= taken.len();
        taken
    }

    /// Removes and returns the first proof found that satisfies `is_it`.
    pub(super) fn remove(&mut self, is_it: impl Fn(&T) -> bool) -> Option<T> {
        let mut queues = self.queues.iter();
        let (peer, place) =
            queues.find_map(|(peer, queue)| Some((*peer, queue.iter().position(&is_it)?)))?;
        let queue = self.queues.get_mut(&peer)?;
        let ticket = queue.remove(place)?;
        self.len -= 1;
        if queue.is_empty() {
            self.remove_peer(peer);
        }
        Some(ticket)
    }

    /// Removes and returns all waiting proofs of a peer, the oldest first.
    pub(super) fn remove_peer(&mut self, peer: P) -> VecDeque<T> {
        let Some(queue) = self.queues.remove(&peer) else {
            return VecDeque::new();
        };
        self.turns.retain(|other| *other != peer);
        self.len -= queue.len();
        queue
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
}
