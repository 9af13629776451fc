//! Which proofs are verified next, one by one or together: a policy without clock, threads or
//! cryptography, so that a node and a simulation run the same one.
//!
//! A lone proof is verified at once: nothing is gained by waiting for company. When several wait,
//! they share one final exponentiation. A bad proof makes a batch dear, so only peers that have
//! delivered a good one share batches.
//!
//! Peers are served in turn, in three classes of which each has its share of the time while others wait
//! too: those that have delivered a good proof, newcomers, and suspects. So neither a flood of one peer
//! nor one of many made-up peers makes the proofs of the others late.

use std::collections::BTreeMap;
use std::fmt::Debug;

mod class;
mod costs;

use class::Class;
pub use costs::VerifyCosts;

/// When a batch is formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchPolicy {
    /// Most proofs of a batch; at least 1.
    pub max_batch: usize,
    /// With less than this many proofs of proven peers waiting, each is verified alone.
    pub single_below: usize,
    /// How long one worker may be kept busy by proofs that others wait behind: a batch takes no more
    /// than what the costs say is done in this time, but always `single_below` proofs.
    pub max_delay_ns: u64,
    /// How long a peer that delivered a bad proof is a suspect.
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

/// Most peers that are suspect at a time: whoever makes up identities for bad proofs gets no more of
/// our memory.
pub const MAX_SUSPECTS: usize = 4096;

/// Most peers that are remembered for a good proof; the one whose last is longest ago makes room.
pub const MAX_PROVEN: usize = 4096;

/// Number of classes: proven peers, newcomers, suspects.
const CLASSES: usize = 3;

const PROVEN: usize = 0;
const NEWCOMERS: usize = 1;
const SUSPECTS: usize = 2;

/// What a nanosecond of work counts for each class. While all three wait, proven peers have 12 parts
/// of the time, newcomers 3, suspects 1.
const WEIGHTS: [u64; CLASSES] = [1, 4, 12];

/// The proofs that wait for a worker. `T` names a proof, `P` the peer that it came from.
///
/// The owner bounds the number of proofs that wait, as it holds their bytes. Times are nanoseconds
/// since any fixed moment and do not decrease.
#[derive(Clone, Debug)]
pub struct Batcher<T, P> {
    policy: BatchPolicy,
    costs: VerifyCosts,
    classes: [Class<T, P>; CLASSES],
    /// Peers that delivered a good proof, with the number of the last verdict on one of theirs.
    proven: BTreeMap<P, u64>,
    verdicts: u64,
    /// Until when each peer that delivered a bad proof is suspect.
    suspects: BTreeMap<P, u64>,
    /// How far the class that was served last had come with its share.
    served_ns: u64,
}

impl<T, P: Copy + Ord> Batcher<T, P> {
    /// Nothing waits, and every peer is a newcomer.
    pub fn new(policy: BatchPolicy, costs: VerifyCosts) -> Self {
        Self {
            policy,
            costs,
            classes: std::array::from_fn(|_| Class::new()),
            proven: BTreeMap::new(),
            verdicts: 0,
            suspects: BTreeMap::new(),
            served_ns: 0,
        }
    }

    /// A proof has come from `peer`.
    pub fn push(&mut self, ticket: T, peer: P) {
        let class = self.class_of(peer);
        self.class_mut(class).push(peer, ticket);
    }

    /// Takes back a proof that waits; `None` when it does not, or no longer.
    pub fn remove(&mut self, is_it: impl Fn(&T) -> bool) -> Option<T> {
        self.classes
            .iter_mut()
            .find_map(|class| class.remove(&is_it))
    }

    /// A worker is free: what it does next; `None` when nothing waits.
    ///
    /// The class that is farthest behind with its share is served. Its peers have their turns; of each
    /// the oldest proof is taken first. Only proofs of proven peers are verified together.
    pub fn next_job(&mut self, now_ns: u64) -> Option<Job<T>> {
        self.end_suspicions(now_ns);
        let waiting = (0..CLASSES).filter(|class| self.classes[*class].len() > 0);
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
        let mut tickets = self.classes[class].take(count);
        let (job, cost_ns) = match tickets.len() {
            0 => return None,
            1 => (Job::Single(tickets.remove(0)), self.costs.single_ns),
            n => (Job::Batch(tickets), self.costs.batch_ns(n)),
        };
        let spent_ns = &mut self.classes[class].spent_ns;
        *spent_ns = spent_ns.saturating_add(cost_ns.saturating_mul(WEIGHTS[class]));
        Some(job)
    }

    /// A proof that came from `peer` holds.
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

    /// A proof that came from `peer` did not hold. Of more than [`MAX_SUSPECTS`], the one whose
    /// suspicion ends first is let go.
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

    /// Number of proofs that wait.
    pub fn waiting(&self) -> usize {
        self.classes.iter().map(Class::len).sum()
    }

    /// Number of peers that were suspects when a job was last given out, and of those that delivered a
    /// bad proof since.
    pub fn suspects(&self) -> usize {
        self.suspects.len()
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

    /// A class about to get a proof. One in which nothing waited has no claim to the time gone by.
    fn class_mut(&mut self, class: usize) -> &mut Class<T, P> {
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

    /// The peer is a suspect no longer, and as good as unknown.
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

    /// The largest batch that a worker does within the delay.
    fn batch_limit(&self) -> usize {
        let within_delay = self.costs.batch_within(self.policy.max_delay_ns);
        let least = self.policy.single_below.max(2);
        within_delay.max(least).min(self.policy.max_batch)
    }
}

#[cfg(test)]
mod tests;
