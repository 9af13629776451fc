//! Scheduling of proof verification: which proofs to verify next, and whether singly or as a batch.
//!
//! The policy has no clock, threads or cryptography, so that a node and a simulation share it.
//!
//! A lone proof is verified at once: waiting for a second one gains nothing. When several wait, they
//! share one final exponentiation. A bad proof makes a batch expensive, so only proofs of peers that
//! have delivered a good proof are batched.
//!
//! Peers are served round-robin, in three classes that share the verification time by weight: peers that have
//! delivered a good proof, newcomers, and suspects. So neither a flood from one peer nor one from many fake
//! identities delays the proofs of others.

use std::collections::BTreeMap;
use std::fmt::Debug;

mod class;
mod costs;

use class::ClassQueues;
pub use costs::VerifyCosts;

/// Limits on the formation of batches, and the length of suspicion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchPolicy {
    /// Maximum number of proofs in a batch; at least 1.
    pub max_batch: usize,
    /// Minimum number of waiting proofs of proven peers for a batch; fewer are verified one by one.
    pub single_below: usize,
    /// Maximum time that one batch may occupy a worker, by the configured costs. A batch may hold
    /// `single_below` proofs even if they take longer.
    pub max_delay_ns: u64,
    /// Time for which a peer that delivered a bad proof is a suspect.
    pub suspect_for_ns: u64,
}

impl Default for BatchPolicy {
    /// Batches of 4 to 32 proofs that take about 10 ms, and one minute of suspicion.
    fn default() -> Self {
        Self {
            max_batch: 32,
            single_below: 4,
            max_delay_ns: 10_000_000,
            suspect_for_ns: 60_000_000_000,
        }
    }
}

/// Work for one free worker. `T` identifies a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job<T> {
    /// One proof, verified by itself.
    Single(T),
    /// Several proofs, verified as a batch.
    Batch(Vec<T>),
}

impl<T> Job<T> {
    /// Returns the proofs of the job.
    pub fn tickets(&self) -> &[T] {
        match self {
            Self::Single(ticket) => std::slice::from_ref(ticket),
            Self::Batch(tickets) => tickets,
        }
    }
}

/// Maximum number of suspects at a time. It bounds the memory that an attacker can use up with bad proofs
/// from fake peer identities.
pub const MAX_SUSPECTS: usize = 4096;

/// Maximum number of proven peers; beyond it the peer whose last good proof is the oldest is dropped.
pub const MAX_PROVEN: usize = 4096;

/// Number of classes: proven peers, newcomers, suspects.
const CLASSES: usize = 3;

const PROVEN: usize = 0;
const NEWCOMERS: usize = 1;
const SUSPECTS: usize = 2;

/// Factor by which work is counted against each class. While all three classes have work, proven peers get 12
/// parts of the time, newcomers 3 and suspects 1.
const WEIGHTS: [u64; CLASSES] = [1, 4, 12];

/// Queue of the proofs that wait for a worker. `T` identifies a proof, `P` the peer that sent the proof.
///
/// The owner must bound the number of waiting proofs, as it holds their bytes. Times are nanoseconds
/// since any fixed moment and must not decrease.
#[derive(Clone, Debug)]
pub struct Batcher<T, P> {
    policy: BatchPolicy,
    costs: VerifyCosts,
    classes: [ClassQueues<T, P>; CLASSES],
    /// Peers that delivered a good proof, each with the number of its last good verdict.
    proven: BTreeMap<P, u64>,
    /// Number of good verdicts so far.
    verdicts: u64,
    /// Peers that delivered a bad proof, each with the time at which its suspicion ends.
    suspects: BTreeMap<P, u64>,
    /// Number of proofs taken for verification and not yet settled, by peer.
    in_hand: BTreeMap<P, u32>,
    /// Weighted time of the class served last, before that job was added.
    served_ns: u64,
}

impl<T, P: Copy + Ord> Batcher<T, P> {
    /// Creates an empty queue in which every peer is a newcomer.
    pub fn new(policy: BatchPolicy, costs: VerifyCosts) -> Self {
        Self {
            policy,
            costs,
            classes: std::array::from_fn(|_| ClassQueues::new()),
            proven: BTreeMap::new(),
            verdicts: 0,
            suspects: BTreeMap::new(),
            in_hand: BTreeMap::new(),
            served_ns: 0,
        }
    }

    /// Adds a proof that came from `peer`.
    pub fn push(&mut self, ticket: T, peer: P) {
        let class = self.class_of(peer);
        self.class_mut(class).push(peer, ticket);
    }

    /// Removes and returns a waiting proof; `None` when no waiting proof satisfies `is_it`.
    pub fn remove(&mut self, is_it: impl Fn(&T) -> bool) -> Option<T> {
        self.classes
            .iter_mut()
            .find_map(|class| class.remove(&is_it))
    }

    /// Returns the next job for a free worker; `None` when no proof waits.
    ///
    /// The class that is farthest behind its share of the time is served. Its peers take turns, each with its
    /// oldest proof first. Only proofs of proven peers are batched. An unproven peer has at most one proof in
    /// verification, see [`Batcher::taken`].
    pub fn next_job(&mut self, now_ns: u64) -> Option<Job<T>> {
        self.end_suspicions(now_ns);
        let waiting = (0..CLASSES).filter(|class| self.has_ready(*class));
        let class = waiting.min_by_key(|class| self.classes[*class].spent_ns)?;
        self.served_ns = self.classes[class].spent_ns;
        let proofs = self.classes[class].len();
        let together = class == PROVEN
            && proofs >= self.policy.single_below.max(2)
            && self.policy.max_batch >= 2;
        let count = if together {
            proofs.min(self.batch_limit())
        } else {
            1
        };
        let mut tickets = match class {
            PROVEN => self.classes[class].take(count),
            _ => {
                let in_hand = &self.in_hand;
                let taken = self.classes[class].take_one(|peer| !in_hand.contains_key(peer));
                taken.into_iter().collect()
            }
        };
        let (job, cost_ns) = match tickets.len() {
            0 => return None,
            1 => (Job::Single(tickets.remove(0)), self.costs.single_ns),
            n => (Job::Batch(tickets), self.costs.batch_ns(n)),
        };
        let spent_ns = &mut self.classes[class].spent_ns;
        *spent_ns = spent_ns.saturating_add(cost_ns.saturating_mul(WEIGHTS[class]));
        Some(job)
    }

    /// Records that a proof from `peer` is being verified. Until its verdict is [settled](Self::settled), no
    /// other proof of an unproven peer is taken: if the verdict cuts the peer off, no work was wasted on the
    /// next one.
    pub fn taken(&mut self, peer: P) {
        *self.in_hand.entry(peer).or_default() += 1;
    }

    /// Records that the verdict on a proof from `peer` has been fully applied.
    pub fn settled(&mut self, peer: P) {
        if let Some(count) = self.in_hand.get_mut(&peer) {
            *count -= 1;
            if *count == 0 {
                self.in_hand.remove(&peer);
            }
        }
    }

    /// Records that a proof from `peer` is valid. Has no effect while the peer is a suspect.
    pub fn good_proof(&mut self, peer: P) {
        if self.suspects.contains_key(&peer) {
            return;
        }
        self.verdicts += 1;
        let is_new = self.proven.insert(peer, self.verdicts).is_none();
        if is_new {
            self.move_peer(peer, NEWCOMERS, PROVEN);
        }
        if self.proven.len() > MAX_PROVEN {
            let oldest = self.proven.iter().min_by_key(|(_, verdict)| **verdict);
            if let Some(oldest) = oldest.map(|(peer, _)| *peer) {
                self.proven.remove(&oldest);
                self.move_peer(oldest, PROVEN, NEWCOMERS);
            }
        }
    }

    /// Records that a proof from `peer` is invalid, which makes the peer a suspect.
    ///
    /// Beyond [`MAX_SUSPECTS`], the suspect whose suspicion ends first becomes a newcomer.
    pub fn bad_proof(&mut self, peer: P, now_ns: u64) {
        if self.suspects.len() >= MAX_SUSPECTS && !self.suspects.contains_key(&peer) {
            let soonest = self.suspects.iter().min_by_key(|(_, until_ns)| **until_ns);
            if let Some(soonest) = soonest.map(|(peer, _)| *peer) {
                self.clear(soonest);
            }
        }
        let was = self.class_of(peer);
        self.proven.remove(&peer);
        let until_ns = now_ns.saturating_add(self.policy.suspect_for_ns);
        self.suspects.insert(peer, until_ns);
        self.move_peer(peer, was, SUSPECTS);
    }

    /// Number of proofs that wait for a worker.
    pub fn waiting(&self) -> usize {
        self.classes.iter().map(ClassQueues::len).sum()
    }

    /// Number of suspects. An expired suspicion still counts until the next call of [`Batcher::next_job`].
    pub fn suspects(&self) -> usize {
        self.suspects.len()
    }

    /// Whether a proof of the class can be taken.
    fn has_ready(&self, class: usize) -> bool {
        match class {
            PROVEN => self.classes[class].len() > 0,
            _ => self.classes[class].has_any(|peer| !self.in_hand.contains_key(peer)),
        }
    }

    fn class_of(&self, peer: P) -> usize {
        if self.suspects.contains_key(&peer) {
            SUSPECTS
        } else if self.proven.contains_key(&peer) {
            PROVEN
        } else {
            NEWCOMERS
        }
    }

    /// Returns a class that is about to receive a proof. An empty class forfeits its unused time, so that it
    /// cannot later be served exclusively to catch up.
    fn class_mut(&mut self, class: usize) -> &mut ClassQueues<T, P> {
        let class = &mut self.classes[class];
        if class.len() == 0 {
            class.spent_ns = class.spent_ns.max(self.served_ns);
        }
        class
    }

    fn move_peer(&mut self, peer: P, from: usize, to: usize) {
        if from == to {
            return;
        }
        for ticket in self.classes[from].remove_peer(peer) {
            self.class_mut(to).push(peer, ticket);
        }
    }

    /// Ends the suspicion of a peer, which becomes a newcomer.
    fn clear(&mut self, peer: P) {
        self.suspects.remove(&peer);
        self.move_peer(peer, SUSPECTS, NEWCOMERS);
    }

    fn end_suspicions(&mut self, now_ns: u64) {
        let over = |(_, until_ns): &(&P, &u64)| **until_ns <= now_ns;
        let cleared: Vec<P> = self.suspects.iter().filter(over).map(|(p, _)| *p).collect();
        for peer in cleared {
            self.clear(peer);
        }
    }

    /// Returns the largest batch that a worker finishes within the policy's delay, limited by the policy's
    /// bounds.
    fn batch_limit(&self) -> usize {
        let within_delay = self.costs.batch_within(self.policy.max_delay_ns);
        let least = self.policy.single_below.max(2);
        within_delay.max(least).min(self.policy.max_batch)
    }
}

#[cfg(test)]
#[path = "tests/batch.rs"]
mod tests;
