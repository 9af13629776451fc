//! Tree of first deliveries: the path on which each node first got a message.

use std::collections::{BTreeMap, BTreeSet};

use super::RunShown;
use crate::chart::{DeliveryTree, TreeNode};
use undertone_lab::report::{by_message, latency_ms};

/// Maximum number of trees in a page.
pub(super) const MAX_TREES: usize = 2;
/// Maximum number of deliveries whose path is drawn; of more, every n-th one is drawn.
const MAX_DRAWN: usize = 1_500;

/// The tree of the slowest counted message; `None` if none was delivered.
pub(super) fn slowest(shown: &RunShown<'_>) -> Option<DeliveryTree> {
    let counted = shown
        .run
        .summary
        .per_message
        .iter()
        .filter(|message| !message.warm_up);
    let by_max = counted.filter_map(|message| Some((message.latency_ms.as_ref()?.max, message)));
    let (_, slowest) = by_max.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    let mut all = by_message(&shown.run.outcome);
    let (message, deliveries) = all.find(|(message, _)| message.index == slowest.index)?;
    let by_node: BTreeMap<u32, _> = deliveries
        .iter()
        .map(|delivery| (delivery.receiver, delivery))
        .collect();
    let mut drawn = BTreeSet::new();
    let every = deliveries.len().div_ceil(MAX_DRAWN).max(1);
    for delivery in deliveries.iter().step_by(every) {
        let mut at = delivery.receiver;
        while let Some(delivery) = by_node.get(&at)
            && drawn.insert(at)
        {
            at = delivery.from;
        }
    }
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for node in &drawn {
        children.entry(by_node[node].from).or_default().push(*node);
    }
    for nodes in children.values_mut() {
        nodes.sort_by_key(|node| (by_node[node].received_ns, *node));
    }
    let place = |node: u32| match by_node.get(&node) {
        Some(delivery) => (latency_ms(message, delivery), delivery.hops),
        None => (0.0, 0),
    };
    let (nodes, rows) = rows(message.publisher, &children, place);
    let of = match every {
        1 => String::new(),
        every => format!(", every {every}th of them"),
    };
    Some(DeliveryTree {
        title: format!(
            "{}: the way of message {} from node {} to {} nodes{of}",
            shown.name,
            message.index,
            message.publisher,
            deliveries.len()
        ),
        nodes,
        rows,
    })
}

/// Places every node of a tree: leaves in rows of their own, other nodes in the middle of the leaves below them.
/// Parents come before their children in the result.
fn rows(
    root: u32,
    children: &BTreeMap<u32, Vec<u32>>,
    place: impl Fn(u32) -> (f64, u16),
) -> (Vec<TreeNode>, usize) {
    let mut nodes: Vec<TreeNode> = Vec::new();
    let mut next_row = 0;
    // In the worst case the tree is as deep as it has nodes, too deep for recursion.
    let mut open = vec![(root, None::<usize>)];
    while let Some((node, parent)) = open.pop() {
        let (latency_ms, hops) = place(node);
        let own = nodes.len();
        let below = children.get(&node).map_or(&[][..], Vec::as_slice);
        let row = next_row as f64;
        next_row += usize::from(below.is_empty());
        nodes.push(TreeNode {
            latency_ms,
            hops,
            row,
            parent,
        });
        open.extend(below.iter().rev().map(|child| (*child, Some(own))));
    }
    // From the last node to the first, so that children have their rows before their parents.
    let mut sums = vec![(0.0, 0_u32); nodes.len()];
    for at in (0..nodes.len()).rev() {
        let (sum, count) = sums[at];
        if count > 0 {
            nodes[at].row = sum / f64::from(count);
        }
        if let Some(parent) = nodes[at].parent {
            sums[parent].0 += nodes[at].row;
            sums[parent].1 += 1;
        }
    }
    (nodes, next_row)
}
