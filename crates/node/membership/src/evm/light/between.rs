//! Roots of the blocks between two polls, for a contract that reports only its newest root.

use undertone_rln::Fr;

use crate::evm::chain::Recent;

/// Number of blocks below the newest that are searched: endpoints without an archive keep the state
/// of about that many.
pub(super) const MAX_BLOCKS: u64 = 128;

/// Maximum number of requests per poll. Four changes in the last 128 blocks take 28.
pub(super) const MAX_QUESTIONS: usize = 32;

/// Search by bisection for the blocks in which the root has changed.
#[derive(Clone, Debug)]
pub(super) struct Between {
    /// Known heights with their roots, the lowest first. Never empty.
    points: Vec<(u64, Fr)>,
    /// The lowest height of the search.
    from: u64,
}

impl Between {
    /// Creates a search after height `known`, up to height `newest`, whose root is `root`.
    pub(super) fn new(known: u64, newest: u64, root: Fr) -> Self {
        Self {
            points: vec![(newest, root)],
            from: known.max(newest.saturating_sub(MAX_BLOCKS)).min(newest),
        }
    }

    /// Returns the height whose root to request next; `None` when the search is complete or
    /// its limit reached.
    pub(super) fn next(&self) -> Option<u64> {
        if self.points.len() > MAX_QUESTIONS {
            return None;
        }
        // The lowest block may be of a replaced chain, so its root is requested too.
        if self.points[0].0 > self.from {
            return Some(self.from);
        }
        let pairs = self.points.windows(2);
        let mut open = pairs.filter(|pair| pair[0].1 != pair[1].1 && pair[1].0 - pair[0].0 > 1);
        open.next().map(|pair| pair[0].0.midpoint(pair[1].0))
    }

    /// Records the root as of a height.
    pub(super) fn take(&mut self, height: u64, root: Fr) {
        let at = self.points.partition_point(|point| point.0 < height);
        self.points.insert(at, (height, root));
    }

    /// Returns the known roots, in the form of a contract that keeps recent roots.
    pub(super) fn roots(&self) -> Recent {
        let mut roots: Vec<Fr> = self.points.iter().map(|point| point.1).collect();
        roots.dedup();
        Recent {
            roots,
            is_full: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches a chain whose root changes at these heights; returns the roots found, each as the
    /// number of changes up to it, and the number of requests.
    fn search(changes: &[u64], known: u64, newest: u64) -> (Vec<Fr>, usize) {
        let root = |height| Fr::from(changes.iter().filter(|at| **at <= height).count() as u64);
        let mut between = Between::new(known, newest, root(newest));
        let mut asked = 0;
        while let Some(height) = between.next() {
            assert!((known..newest).contains(&height), "{height}");
            between.take(height, root(height));
            asked += 1;
        }
        (between.roots().roots, asked)
    }

    fn numbers(range: std::ops::RangeInclusive<u64>) -> Vec<Fr> {
        range.map(Fr::from).collect()
    }

    #[test]
    fn every_block_with_a_change_is_found() {
        assert_eq!(search(&[], 10, 10), (numbers(0..=0), 0));
        assert_eq!(search(&[], 10, 11), (numbers(0..=0), 1));
        assert_eq!(search(&[11], 10, 11), (numbers(0..=1), 1));
        assert_eq!(search(&[15], 10, 25), (numbers(0..=1), 5));
        assert_eq!(search(&[11, 12, 13], 10, 13), (numbers(0..=3), 3));
        let (roots, asked) = search(&[300, 310, 370, 400], 273, 400);
        assert_eq!(roots, numbers(0..=4));
        assert!(asked <= 28, "{asked}");
    }

    #[test]
    fn what_is_asked_is_bounded() {
        // One request for each of 20 adjacent changes.
        let close: Vec<u64> = (11..=30).collect();
        assert_eq!(search(&close, 10, 30), (numbers(0..=20), 20));
        let many: Vec<u64> = (1_000..2_000).collect();
        let (roots, asked) = search(&many, 1, 2_000);
        assert_eq!(asked, MAX_QUESTIONS);
        assert_eq!(roots.last(), Some(&Fr::from(1_000)));
        assert!(roots.len() <= MAX_QUESTIONS + 1);
        // Blocks too far back are not requested.
        assert_eq!(search(&[500], 1, 2_000), (numbers(1..=1), 1));
    }
}
