//! Connections of a network, derived from its topology.

use std::collections::{BTreeMap, BTreeSet};

use undertone_link::ConnIx;

use crate::error::SimError;
use crate::layout::RankPart;
use crate::scenario::{Scenario, Topology};
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

/// Adds connections, given as (dialler, dialled), to those that all nodes of a process have.
pub(crate) fn join(ends: &mut [Vec<ConnEnd>], pairs: Vec<(u32, u32)>) {
    for (from, to) in pairs {
        let before = ends[from as usize].iter().filter(|end| end.outbound);
        let dialled_before = before.count() as u32;
        let conns = [from, to].map(|node| ConnIx(ends[node as usize].len() as u32));
        for (node, remote, remote_conn, outbound) in
            [(from, to, conns[1], true), (to, from, conns[0], false)]
        {
            ends[node as usize].push(ConnEnd {
                remote,
                remote_conn,
                outbound,
                dialled_before,
            });
        }
    }
}

/// Returns the connections of a topology as (dialler, dialled), with no pair twice.
///
/// # Errors
/// Returns [`SimError::Invalid`] for a topology that is impossible in a network of this size.
pub(crate) fn edges(scenario: &Scenario, rng: &mut SeededRng) -> Result<Edges, SimError> {
    let invalid = |what, value: String, rule| SimError::Invalid { what, value, rule };
    let nodes = scenario.nodes;
    let accepts = |node: u32| scenario.accepts_connections(node);
    let pairs = match &scenario.topology {
        Topology::Dials(dials) => {
            let known = Known::new(scenario);
            if *dials == 0 || *dials >= known.fewest() {
                let rule = "it must be at least 1 and less than the number of nodes that have a topic in common \
                            and can be dialled";
                return Err(invalid("topology.dials", dials.to_string(), rule));
            }
            return Ok(dial_at_random(*dials, &known, rng));
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
                if !accepts(*b) {
                    let rule = "its second node is dialled, so its group must accept connections";
                    return Err(invalid("topology.edges", format!("{a} - {b}"), rule));
                }
            }
            edges.clone()
        }
    };
    if scenario.groups.is_empty() {
        return Ok(Edges::Listed(pairs));
    }
    // Of two nodes, one that accepts connections is dialled; two that accept none stay apart.
    let turned = pairs
        .into_iter()
        .filter_map(|(from, to)| match accepts(to) {
            true => Some((from, to)),
            false => accepts(from).then_some((to, from)),
        });
    Ok(Edges::Listed(turned.collect()))
}

/// Nodes that a node may dial: those that share a topic with it and accept connections.
struct Known<'a> {
    scenario: &'a Scenario,
    /// Nodes of each kind, and the number of nodes that they may dial, themselves included.
    kinds: BTreeMap<Kind, (u32, u32)>,
}

/// Nodes of one kind are alike for each other: their group, and their number modulo the number of topics.
type Kind = (Option<usize>, u32);

impl<'a> Known<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        // One node stands for all of its kind.
        let mut kinds: BTreeMap<Kind, (u32, u32)> = BTreeMap::new();
        for node in 0..scenario.nodes {
            kinds.entry(kind(scenario, node)).or_insert((node, 0)).1 += 1;
        }
        let known = |one: u32| {
            let dialled = kinds
                .values()
                .filter(|(other, _)| may_dial(scenario, one, *other));
            dialled.map(|(_, count)| count).sum()
        };
        let counted = kinds
            .iter()
            .map(|(kind, (one, _))| (*kind, (*one, known(*one))));
        Self {
            scenario,
            kinds: counted.collect(),
        }
    }

    fn fewest(&self) -> u32 {
        self.kinds
            .values()
            .map(|(_, known)| *known)
            .min()
            .unwrap_or(0)
    }

    fn count(&self, node: u32) -> u32 {
        self.kinds[&kind(self.scenario, node)].1
    }
}

fn kind(scenario: &Scenario, node: u32) -> Kind {
    let alike = match scenario.relay.topics_per_node {
        Some(_) => scenario.relay.topics.max(1),
        None => 1,
    };
    (scenario.group_of(node), node % alike)
}

fn may_dial(scenario: &Scenario, from: u32, to: u32) -> bool {
    scenario.accepts_connections(to) && scenario.share_a_topic(from, to)
}

/// Makes every node dial random others that it knows and is not connected to yet. A node that was dialled does not
/// dial back.
///
/// In a run on several processes, each computes the whole network, so memory is limited to four bytes per
/// connection.
fn dial_at_random(dials: u32, known: &Known<'_>, rng: &mut SeededRng) -> Edges {
    let (nodes, width) = (known.scenario.nodes, dials as usize);
    let mut others = vec![NOBODY; nodes as usize * width];
    let mut degree = vec![0u32; nodes as usize];
    let has_dialled = |others: &[u32], from: u32, to: u32| {
        let first = from as usize * width;
        others[first..first + width].contains(&to)
    };
    for node in 0..nodes {
        let mut dialled = 0;
        let known_count = known.count(node);
        while dialled < width && degree[node as usize] + 1 < known_count {
            let other = rng.below(u64::from(nodes)) as u32;
            if other == node
                || !may_dial(known.scenario, node, other)
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
