//! Targets of look-ups: points of the identifier space that the next look-up goes towards.

use enr::NodeId;

/// Bits of an identifier, which is the greatest logarithmic distance of discv5.
const BITS: usize = 256;

/// Logarithmic distances that the library asks of a node in one look-up: that of the target, and those beside it.
const DISTANCES_ASKED: usize = 3;

/// Points towards which a node is asked for all distances from 256 to 242. One pair of nodes in 32,768 is nearer.
const POINTS: usize = 5;

/// Nodes in the table from which on the network counts as large: one bucket of discv5.
const LARGE: usize = 16;

/// Sequence of targets.
#[derive(Debug, Default)]
pub(super) struct Targets {
    looked: usize,
}

impl Targets {
    /// Returns the targets of the next look-up, given the nodes of the table.
    ///
    /// In a large network it is a random point. In a small one that would leave neighbours unknown: half of all random points
    /// are at the greatest distance from a node, a quarter at the next, and a node is asked only for nodes at the distance of
    /// the target and the two distances beside it. One node in eight is nearer to a given node than those three. So the known
    /// nodes are taken in turn, one a look-up, and each is asked for every distance at which a small network has nodes.
    pub(super) fn next(&mut self, known: &[NodeId]) -> Vec<NodeId> {
        if known.is_empty() || known.len() >= LARGE {
            return vec![NodeId::random()];
        }
        let node = &known[self.looked % known.len()];
        self.looked = self.looked.wrapping_add(1);
        let distances = (0..POINTS).map(|point| BITS - DISTANCES_ASKED * point);
        distances
            .map(|distance| at_distance(node, distance))
            .collect()
    }
}

/// Returns a point at the logarithmic distance from a node: the first bit in which the two differ is that of the distance.
fn at_distance(node: &NodeId, distance: usize) -> NodeId {
    let mut point = node.raw();
    let bit = BITS - distance;
    point[bit / 8] ^= 0x80 >> (bit % 8);
    NodeId::new(&point)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(left: &NodeId, right: &NodeId) -> usize {
        let bits = left.raw().into_iter().zip(right.raw());
        let mut same = 0;
        for (left, right) in bits {
            let differing = left ^ right;
            same += differing.leading_zeros() as usize;
            if differing != 0 {
                break;
            }
        }
        BITS - same
    }

    #[test]
    fn each_of_few_nodes_is_asked_for_all_near_distances_in_turn() {
        let known = [NodeId::new(&[0x5a; 32]), NodeId::new(&[0xc3; 32])];
        let mut targets = Targets::default();
        for node in known.iter().chain(&known) {
            let next = targets.next(&known);
            let distances: Vec<_> = next.iter().map(|target| distance(node, target)).collect();
            assert_eq!(distances, [256, 253, 250, 247, 244]);
        }
    }

    #[test]
    fn the_target_is_random_where_no_node_or_many_are_known() {
        let many: Vec<_> = (0..16).map(|_| NodeId::random()).collect();
        for known in [&[][..], &many] {
            let mut targets = Targets::default();
            let found: Vec<_> = (0..32).flat_map(|_| targets.next(known)).collect();
            assert_eq!(found.len(), 32);
            // A bit that were the same in all 32 would be a chance of one in 2^31 for each of eight.
            let (mut all, mut any) = (u8::MAX, 0);
            for target in found {
                all &= target.raw()[0];
                any |= target.raw()[0];
            }
            assert_eq!((all, any), (0, u8::MAX));
        }
    }
}
