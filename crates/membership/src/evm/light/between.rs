//! Roots of the blocks between two looks, where the contract tells none but the newest.

use undertone_rln::Fr;

use crate::evm::chain::Recent;

/// Blocks below the newest that are asked about: endpoints without an archive know the state of about
/// so many.
pub(super) const MAX_BLOCKS: u64 = 128;

/// Questions of one look, at most. Four changes in the last 128 blocks take 28.
pub(super) const MAX_QUESTIONS: usize = 32;

/// A search for the blocks in which the root has changed, by halving.
#[derive(Clone, Debug)]
pub(super) struct Between {
    /// Heights and the roots as of them, the lowest first. Never empty.
    points: Vec<(u64, Fr)>,
    /// The lowest height that is asked about.
    from: u64,
}

impl Between {
    /// What happened after the block at height `known`, up to the one at `newest` with this root.
    pub(super) fn new(known: u64, newest: u64, root: Fr) -> Self {
        Self {
            points: vec![(newest, root)],
            from: known.max(newest.saturating_sub(MAX_BLOCKS)).min(newest),
        }
    }

    /// The height whose root is to be asked for; `None` when all is known, or enough was asked.
    pub(super) fn next(&self) -> Option<u64> {
        if self.points.len() > MAX_QUESTIONS {
            return None;
        }
        // The lowest may be of a chain that was replaced, and is asked about too.
        if self.points[0].0 > self.from {
            return Some(self.from);
        }
        let pairs = self.points.windows(2);
        let mut open = pairs.filter(|pair| pair[0].1 != pair[1].1 && pair[1].0 - pair[0].0 > 1);
        open.next().map(|pair| pair[0].0.midpoint(pair[1].0))
    }

    /// Takes the root as of a height.
    pub(super) fn take(&mut self, height: u64, root: Fr) {
        let at = self.points.partition_point(|point| point.0 < height);
        self.points.insert(at, (height, root));
    }

    /// The roots that are known, as a contract would tell them that keeps some.
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

    /// Asks about a chain whose root changes at these heights; tells the roots, as how often it had
    /// changed by then, and how much was asked.
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
        // One question each for 20 changes close together.
        let close: Vec<u64> = (11..=30).collect();
        assert_eq!(search(&close, 10, 30), (numbers(0..=20), 20));
        let many: Vec<u64> = (1_000..2_000).collect();
        let (roots, asked) = search(&many, 1, 2_000);
        assert_eq!(asked, MAX_QUESTIONS);
        assert_eq!(roots.last(), Some(&Fr::from(1_000)));
        assert!(roots.len() <= MAX_QUESTIONS + 1);
        // Nothing is asked about blocks that are long past.
        assert_eq!(search(&[500], 1, 2_000), (numbers(1..=1), 1));
    }
}
