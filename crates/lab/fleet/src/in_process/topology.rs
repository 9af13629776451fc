//! Random choice of the connections between nodes.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// Returns for each node the others that it dials: `each` at random, less those that already dial it.
/// Every node has at least `each` connections (or all others, if there are fewer), no pair of nodes has
/// two, and the result depends on the seed alone.
pub(crate) fn dials(nodes: usize, each: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut dials: Vec<Vec<usize>> = Vec::with_capacity(nodes);
    for node in 0..nodes {
        let mut others: Vec<usize> = (0..nodes).filter(|other| *other != node).collect();
        choose(&mut rng, &mut others, each);
        let dials_us = |other: &usize| dials.get(*other).is_some_and(|of| of.contains(&node));
        others.retain(|other| !dials_us(other));
        dials.push(others);
    }
    dials
}

/// Keeps `count` random items, or all if there are fewer.
pub(crate) fn choose<T>(rng: &mut impl RngCore, items: &mut Vec<T>, count: usize) {
    for at in 0..count.min(items.len()) {
        let rest = (items.len() - at) as u64;
        // The bias of the remainder is far too small to matter here.
        let other = at + (rng.next_u64() % rest) as usize;
        items.swap(at, other);
    }
    items.truncate(count);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_node_has_its_connections_and_no_pair_has_two() {
        for (nodes, each, seed) in [(5, 6, 1), (6, 3, 2), (100, 6, 3), (1, 6, 4)] {
            let dials = dials(nodes, each, seed);
            let mut pairs = BTreeSet::new();
            let mut degree = vec![0; nodes];
            for (node, others) in dials.iter().enumerate() {
                for &other in others {
                    assert_ne!(node, other);
                    assert!(pairs.insert((node.min(other), node.max(other))));
                    degree[node] += 1;
                    degree[other] += 1;
                }
            }
            let least = each.min(nodes - 1);
            assert!(degree.iter().all(|&degree| degree >= least), "{degree:?}");
        }
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(dials(50, 6, 7), dials(50, 6, 7));
        assert_ne!(dials(50, 6, 7), dials(50, 6, 8));
    }
}
