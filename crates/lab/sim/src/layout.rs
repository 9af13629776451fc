//! Division of a network's nodes among processes and their threads.

/// The part of a network that one of several processes (ranks) simulates: every `ranks`-th node, starting with
/// `rank`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RankPart {
    rank: usize,
    ranks: usize,
}

impl RankPart {
    /// The whole network.
    pub(crate) const WHOLE: Self = Self { rank: 0, ranks: 1 };

    pub(crate) fn new(rank: usize, ranks: usize) -> Self {
        Self { rank, ranks }
    }

    pub(crate) fn rank(self) -> usize {
        self.rank
    }

    pub(crate) fn ranks(self) -> usize {
        self.ranks
    }

    /// Rank that simulates a node.
    pub(crate) fn rank_of(self, node: u32) -> usize {
        node as usize % self.ranks
    }

    pub(crate) fn holds(self, node: u32) -> bool {
        self.rank_of(node) == self.rank
    }

    /// Position of a node among those of its rank.
    pub(crate) fn slot(self, node: u32) -> usize {
        node as usize / self.ranks
    }
}

/// Division of the nodes among all threads of all ranks. Threads are numbered across ranks, starting with those of
/// rank 0.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) part: RankPart,
    /// Number of threads of each rank.
    threads: Vec<usize>,
    /// Number of the first thread of each rank.
    first: Vec<usize>,
    total: usize,
}

impl Layout {
    /// Layout for ranks with these numbers of threads, none of them 0, as seen by rank `rank`.
    pub(crate) fn new(rank: usize, threads: Vec<usize>) -> Self {
        let mut total = 0;
        let firsts = threads.iter().map(|count| {
            total += count;
            total - count
        });
        Self {
            part: RankPart::new(rank, threads.len()),
            first: firsts.collect(),
            total,
            threads,
        }
    }

    /// Layout for a single process.
    pub(crate) fn alone(threads: usize) -> Self {
        Self::new(0, vec![threads])
    }

    /// Number of threads of this rank.
    pub(crate) fn threads(&self) -> usize {
        self.threads[self.part.rank()]
    }

    /// Number of threads of all ranks.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// Number of the first thread of this rank among all threads.
    pub(crate) fn first(&self) -> usize {
        self.first[self.part.rank()]
    }

    /// Numbers of a rank's threads among all threads.
    pub(crate) fn threads_of(&self, rank: usize) -> std::ops::Range<usize> {
        self.first[rank]..self.first[rank] + self.threads[rank]
    }

    /// Number of the thread that simulates a node, among all threads.
    pub(crate) fn thread_of(&self, node: u32) -> usize {
        let rank = self.part.rank_of(node);
        self.first[rank] + self.part.slot(node) % self.threads[rank]
    }

    /// Position of a node of this rank among those of its thread.
    pub(crate) fn slot(&self, node: u32) -> usize {
        self.part.slot(node) / self.threads()
    }

    /// Nodes of a thread of this rank, below `count`.
    pub(crate) fn nodes(&self, thread: usize, count: u32) -> impl Iterator<Item = u32> {
        let first = self.part.rank() + thread * self.part.ranks();
        (0..count)
            .skip(first)
            .step_by(self.part.ranks() * self.threads())
    }
}

#[cfg(test)]
#[path = "tests/layout.rs"]
mod tests;
