//! Connections of a network, derived from its topology.

use std::collections::BTreeSet;

use undertone_link::ConnIx;

use crate::error::SimError;
use crate::layout::RankPart;
use crate::scenario::{RelaySetup, Topology};
use crate::seeds::SeededRng;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnEnd {
    /// Node at the other end.
    pub(crate) remote: u32,
    /// Index of the connection among those of the other node.
    pub(crate) remote_conn: ConnIx,
    /// Whether this end dialled the other.
    pub(crate) outbound: bool,
    /// Number of connections that the dialler made before this one.
    pub(crate) dialled_before: u32,
}

/// Connections of a whole network, in the order in which they are made.
#[derive(Debug)]
pub(crate) enum Edges {
    /// For each node, a fixed number of slots for the nodes that it dialled; unused slots are [`NOBODY`].
    Dialled { dials: usize, others: Vec<u32> },
    /// Pairs of dialler and dialled.
    Listed(Vec<(u32, u32)>),
}

/// Marks an unused slot in [`Edges::Dialled`].
const NOBODY: u32 = u32::MAX;

impl Edges {
    /// All pairs of dialler and dialled.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let (dials, others, pairs) = match self {
            Self::Dialled { dials, others } => (*dials, others.as_slice(), &[][..]),
            Self::Listed(pairs) => (1, &[][..], pairs.as_slice()),
        };
        let dialled = others.chunks(dials).zip(0..).flat_map(|(others, from)| {
            let some = others.iter().filter(|other| **other != NOBODY);
            some.map(move |other| (from, *other))
        });
        dialled.chain(pairs.iter().copied())
    }
}

/// Returns the connections of every node of a part, in the order in which they are made.
pub(crate) fn wire(edges: &Edges, nodes: u32, part: RankPart) -> Vec<Vec<ConnEnd>> {
    let mut degree = vec![0u32; nodes as usize];
    for (from, to) in edges.iter() {
        degree[from as usize] += 1;
        degree[to as usize] += 1;
    }
    let held = (0..).zip(&degree).filter(|(node, _)| part.holds(*node));
    let mut ends: Vec<Vec<ConnEnd>> = held
        .map(|(_, degree)| Vec::with_capacity(*degree as usize))
        .collect();
    let mut dialled = vec![0u32; nodes as usize];
    let mut made = degree;
    made.fill(0);
    for (from, to) in edges.iter() {
        let dialled_before = dialled[from as usize];
        dialled[from as usize] += 1;
        let conns = [made[from as usize], made[to as usize]];
        for (node, remote, remote_conn, outbound) in
            [(from, to, conns[1], true), (to, from, conns[0], false)]
        {
            made[node as usize] += 1;
            if part.holds(node) {
                ends[part.slot(node)].push(ConnEnd {
                    remote,
                    remote_conn: ConnIx(remote_conn),
                    outbound,
                    dialled_before,
                });
            }
        }
    }
    ends
}

/// Returns the connections of a topology as (dialler, dialled), with no pair twice.
///
/// # Errors
/// Returns [`SimError::Invalid`] for a topology that is impossible in a network of this size.
pub(crate) fn edges(
    topology: &Topology,
    nodes: u32,
    setup: &RelaySetup,
    rng: &mut SeededRng,
) -> Result<Edges, SimError> {
    let invalid = |what, value: String, rule| SimError::Invalid { what, value, rule };
    Ok(Edges::Listed(match topology {
        Topology::Dials(dials) => {
            let known = Known::new(nodes, setup);
            if *dials == 0 || *dials >= known.fewest() {
                let rule = "it must be at least 1 and less than the number of nodes that have a topic in common";
                return Err(invalid("topology.dials", dials.to_string(), rule));
            }
            return Ok(dial_at_random(nodes, *dials, &known, rng));
        }
        Topology::Regular(degree) => {
            let odd = u64::from(*degree) * u64::from(nodes) % 2 == 1;
            if *degree == 0 || *degree >= nodes || odd {
                let rule = "it must be less than the number of nodes, and their product even";
                return Err(invalid("topology.degree", degree.to_string(), rule));
            }
            regular(nodes, *degree, rng)
        }
        Topology::Line => (1..nodes).map(|n| (n - 1, n)).collect(),
        Topology::Ring if nodes == 2 => vec![(0, 1)],
        Topology::Ring => (0..nodes).map(|n| (n, (n + 1) % nodes)).collect(),
        Topology::Star => (1..nodes).map(|n| (n, 0)).collect(),
        // With discovery, any two nodes may connect.
        Topology::FullMesh | Topology::Discovery(_) => (0..nodes)
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .collect(),
        Topology::Edges(edges) => {
            let mut seen = BTreeSet::new();
            for (a, b) in edges {
                if a == b || *a >= nodes || *b >= nodes {
                    let rule = "an edge joins two different nodes of the network";
                    return Err(invalid("topology.edges", format!("{a} - {b}"), rule));
                }
                if !seen.insert((a.min(b), a.max(b))) {
                    let rule = "it must not be named twice";
                    return Err(invalid("topology.edges", format!("{a} - {b}"), rule));
                }
            }
            edges.clone()
        }
    }))
}

/// Nodes that a node may dial: those that share a topic with it, itself included.
struct Known<'a> {
    setup: &'a RelaySetup,
    /// Number of such nodes, indexed by the node's number modulo the number of topics.
    counts: Vec<u32>,
}

impl<'a> Known<'a> {
    fn new(nodes: u32, setup: &'a RelaySetup) -> Self {
        if setup.topics_per_node.is_none() {
            let counts = vec![nodes];
            return Self { setup, counts };
        }
        let alike = setup.topics.clamp(1, nodes.max(1));
        let number_alike = |first: u32| nodes / alike + u32::from(first < nodes % alike);
        let count = |node| {
            let known = (0..alike).filter(|other| setup.share_a_topic(node, *other));
            known.map(number_alike).sum()
        };
        let counts = (0..alike).map(count).collect();
        Self { setup, counts }
    }

    fn fewest(&self) -> u32 {
        self.counts.iter().copied().min().unwrap_or(0)
    }

    fn count(&self, node: u32) -> u32 {
        self.counts[node as usize % self.counts.len()]
    }
}

/// Makes every node dial random others that it knows and is not connected to yet. A node that was dialled does not
/// dial back.
///
/// In a run on several processes, each computes the whole network, so memory is limited to four bytes per
/// connection.
fn dial_at_random(nodes: u32, dials: u32, known: &Known<'_>, rng: &mut SeededRng) -> Edges {
    let width = dials as usize;
    let mut others = vec![NOBODY; nodes as usize * width];
    let mut degree = vec![0u32; nodes as usize];
    let has_dialled = |others: &[u32], from: u32, to: u32| {
        let first = from as usize * width;
        others[first..first + width].contains(&to)
    };
    for node in 0..nodes {
        let mut dialled = 0;
        while dialled < width && degree[node as usize] + 1 < known.count(node) {
            let other = rng.below(u64::from(nodes)) as u32;
            if other == node
                || !known.setup.share_a_topic(node, other)
                || has_dialled(&others, node, other)
                || (other < node && has_dialled(&others, other, node))
            {
                continue;
            }
            others[node as usize * width + dialled] = other;
            degree[node as usize] += 1;
            degree[other as usize] += 1;
            dialled += 1;
        }
    }
    Edges::Dialled {
        dials: width,
        others,
    }
}

/// Returns a random regular graph: pairs stubs at random, then repairs bad pairs by swaps.
fn regular(nodes: u32, degree: u32, rng: &mut SeededRng) -> Vec<(u32, u32)> {
    let mut stubs: Vec<u32> = (0..nodes)
        .flat_map(|n| std::iter::repeat_n(n, degree as usize))
        .collect();
    rng.shuffle(&mut stubs);
    let mut pairs: Vec<_> = stubs.chunks(2).map(|pair| (pair[0], pair[1])).collect();
    let key = |(a, b): (u32, u32)| (a.min(b), a.max(b));
    loop {
        let mut seen = BTreeSet::new();
        let bad = pairs
            .iter()
            .position(|pair| pair.0 == pair.1 || !seen.insert(key(*pair)));
        let Some(bad) = bad else { return pairs };
        let all: BTreeSet<_> = pairs.iter().map(|pair| key(*pair)).collect();
        loop {
            let other = rng.below(pairs.len() as u64) as usize;
            let ((a, b), (c, d)) = (pairs[bad], pairs[other]);
            let fresh = [(a, d), (c, b)];
            let fits = |pair: (u32, u32)| pair.0 != pair.1 && !all.contains(&key(pair));
            if other != bad && fresh.into_iter().all(fits) && key(fresh[0]) != key(fresh[1]) {
                pairs[bad] = fresh[0];
                pairs[other] = fresh[1];
                break;
            }
            // A complete graph has no other pair to swap with.
            if degree + 1 == nodes {
                return (0..nodes)
                    .flat_map(|a| (0..a).map(move |b| (a, b)))
                    .collect();
            }
        }
    }
}

#[cfg(test)]
#[path = "tests/topology.rs"]
mod tests;
