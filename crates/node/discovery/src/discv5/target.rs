//! Targets of look-ups: points of the identifier space to search around.

use std::collections::VecDeque;

use enr::NodeId;

/// Bits of an identifier; also the maximum logarithmic distance in discv5.
const BITS: usize = 256;

/// Number of logarithmic distances that the library requests from a node in one look-up: that of the target, and the
/// adjacent ones.
const DISTANCES_ASKED: usize = 3;

/// Number of points for which a node is asked, to cover all distances from 256 to 242. One pair of nodes in 32,768 is
/// nearer.
const POINTS: usize = 5;

/// Number of nodes in the table from which on the network counts as large: one discv5 bucket.
const LARGE: usize = 16;

/// Targets of successive look-ups.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// Number of look-ups in a small network so far.
    looked: usize,
    /// Targets of the current look-up that have not been searched yet.
    left: VecDeque<NodeId>,
}

impl Targets {
    /// Whether the look-up under way has targets that were not searched yet.
    pub(super) fn is_under_way(&self) -> bool {
        !self.left.is_empty()
    }

    /// Takes the next target of the look-up under way.
    pub(super) fn take(&mut self) -> Option<NodeId> {
        self.left.pop_front()
    }

    /// Ends the current look-up.
    pub(super) fn give_up(&mut self) {
        self.left.clear();
    }

    /// Begins a look-up, given the nodes of the table, and returns its first target.
    ///
    /// In a large network, the only target is a random point. In a small one, random points would leave neighbours
    /// unknown. Half of all random points are at the greatest distance from a node, and a quarter at the next. A node
    /// is asked only for nodes at the distance of the target and the two adjacent distances, and one node in eight is
    /// nearer to a given node than those three. So the known nodes take turns, one per look-up, and each is asked for
    /// every distance at which a small network has nodes.
    pub(super) fn begin(&mut self, known: &[NodeId]) -> NodeId {
        self.give_up();
        if known.is_empty() || known.len() >= LARGE {
            return NodeId::random();
        }
        let node = &known[self.looked % known.len()];
        self.looked = self.looked.wrapping_add(1);
        let further = (1..POINTS).map(|point| at_distance(node, BITS - DISTANCES_ASKED * point));
        self.left.extend(further);
        at_distance(node, BITS)
    }
}

/// Returns a point at a logarithmic distance from a node: the two differ exactly in the bit of that distance.
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

    /// All targets of a look-up that begins now.
    fn look_up(targets: &mut Targets, known: &[NodeId]) -> Vec<NodeId> {
        let first = targets.begin(known);
        let all = std::iter::once(first).chain(std::iter::from_fn(|| targets.take()));
        let all = all.collect();
        assert!(!targets.is_under_way());
        all
    }

    #[test]
    fn each_of_few_nodes_is_asked_for_all_near_distances_in_turn() {
        let known = [NodeId::new(&[0x5a; 32]), NodeId::new(&[0xc3; 32])];
        let mut targets = Targets::default();
        for node in known.iter().chain(&known) {
            let searched = look_up(&mut targets, &known);
            let distances: Vec<_> = searched
                .iter()
                .map(|target| distance(node, target))
                .collect();
            assert_eq!(distances, [256, 253, 250, 247, 244]);
        }
    }

    #[test]
    fn the_target_is_random_where_no_node_or_many_are_known() {
        let many: Vec<_> = (0..16).map(|_| NodeId::random()).collect();
        for known in [&[][..], &many] {
            let mut targets = Targets::default();
            let found: Vec<_> = (0..32).flat_map(|_| look_up(&mut targets, known)).collect();
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
