//! When to verify proofs one by one and when together: a policy without clock, threads or
//! cryptography, so that a node and a simulation run the same one.
//!
//! A lone proof is verified at once: nothing is gained by waiting for company. When several wait,
//! they share one final exponentiation. A bad proof makes a batch dear, so what comes from peers that
//! have lately delivered one is verified singly; they cannot make others' proofs late.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;

mod costs;

pub use costs::VerifyCosts;

/// When a batch is formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchPolicy {
    /// Most proofs of a batch; at least 1.
    pub max_batch: usize,
    /// With less than this many proofs waiting, the oldest is verified alone.
    pub single_below: usize,
    /// How long one worker may be kept busy by proofs that others wait behind: a batch takes no more
    /// than what the costs say is done in this time, but always `single_below` proofs.
    pub max_delay_ns: u64,
    /// How long the proofs of a peer that delivered a bad one are verified singly.
    pub suspect_for_ns: u64,
}

impl Default for BatchPolicy {
    /// Batches of 4 to 32, about 10 ms, and a minute of suspicion.
    fn default() -> Self {
        Self {
            max_batch: 32,
            single_below: 4,
            max_delay_ns: 10_000_000,
            suspect_for_ns: 60_000_000_000,
        }
    }
}

/// What a free worker is to verify. `T` names a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job<T> {
    /// One proof alone.
    Single(T),
    /// Several together.
    Batch(Vec<T>),
}

impl<T> Job<T> {
    /// The proofs.
    pub fn tickets(&self) -> &[T] {
        match self {
            Self::Single(ticket) => std::slice::from_ref(ticket),
            Self::Batch(tickets) => tickets,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Waiting<T, P> {
    ticket: T,
    peer: P,
}

/// Most peers that are suspect at a time: whoever makes up identities for bad proofs gets no more of
/// our memory.
pub const MAX_SUSPECTS: usize = 4096;

/// The proofs that wait for a worker. `T` names a proof, `P` the peer that it came from.
///
/// The owner bounds the number of proofs that wait, as it holds their bytes. Times are nanoseconds
/// since any fixed moment and do not decrease.
#[derive(Clone, Debug)]
pub struct Batcher<T, P> {
    policy: BatchPolicy,
    costs: VerifyCosts,
    waiting: VecDeque<Waiting<T, P>>,
    /// Until when each peer that delivered a bad proof is suspect.
    suspects: BTreeMap<P, u64>,
}

impl<T, P: Copy + Ord> Batcher<T, P> {
    /// Nothing waits and nobody is suspect.
    pub fn new(policy: BatchPolicy, costs: VerifyCosts) -> Self {
        Self {
            policy,
            costs,
            waiting: VecDeque::new(),
            suspects: BTreeMap::new(),
        }
    }

    /// A proof has come from `peer`.
    pub fn push(&mut self, ticket: T, peer: P) {
        self.waiting.push_back(Waiting { ticket, peer });
    }

    /// A worker is free: what it does next; `None` when nothing waits.
    ///
    /// Proofs are taken oldest first. A suspect's proof is taken alone when it is the oldest, and is
    /// left waiting when a batch is formed around it.
    pub fn next_job(&mut self, now_ns: u64) -> Option<Job<T>> {
        self.suspects.retain(|_, until_ns| *until_ns > now_ns);
        let oldest = self.waiting.front()?;
        let trusted = self.trusted().count();
        let alone = self.suspects.contains_key(&oldest.peer)
            || trusted < self.policy.single_below.max(2)
            || self.policy.max_batch < 2;
        if alone {
            return self.waiting.pop_front().map(|w| Job::Single(w.ticket));
        }
        let mut room = trusted.min(self.batch_limit());
        let mut batch = Vec::with_capacity(room);
        let mut left = VecDeque::with_capacity(self.waiting.len() - room);
        for waiting in self.waiting.drain(..) {
            if room > 0 && !self.suspects.contains_key(&waiting.peer) {
                room -= 1;
                batch.push(waiting.ticket);
            } else {
                left.push_back(waiting);
            }
        }
        self.waiting = left;
        Some(Job::Batch(batch))
    }

    /// A proof that came from `peer` did not hold. Of more than [`MAX_SUSPECTS`], the one whose
    /// suspicion ends first is let go.
    pub fn bad_proof(&mut self, peer: P, now_ns: u64) {
        if self.suspects.len() >= MAX_SUSPECTS && !self.suspects.contains_key(&peer) {
            let soonest = self.suspects.iter().min_by_key(|(_, until_ns)| **until_ns);
            if let Some(soonest) = soonest.map(|(peer, _)| *peer) {
                self.suspects.remove(&soonest);
            }
        }
        let until_ns = now_ns.saturating_add(self.policy.suspect_for_ns);
        self.suspects.insert(peer, until_ns);
    }

    /// Number of proofs that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Number of peers whose proofs were verified singly when a job was last given out, and of those
    /// that delivered a bad one since.
    pub fn suspects(&self) -> usize {
        self.suspects.len()
    }

    fn trusted(&self) -> impl Iterator<Item = &Waiting<T, P>> {
        let waiting = self.waiting.iter();
        waiting.filter(|waiting| !self.suspects.contains_key(&waiting.peer))
    }

    /// The largest batch that a worker does within the delay.
    fn batch_limit(&self) -> usize {
        let within_delay = self.costs.batch_within(self.policy.max_delay_ns);
        let least = self.policy.single_below.max(2);
        within_delay.max(least).min(self.policy.max_batch)
    }
}

#[cfg(test)]
mod tests;
