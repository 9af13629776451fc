//! Connections of a network, derived from its topology.

use std::collections::BTreeSet;

use undertone_link::ConnIx;

use crate::error::SimError;
use crate::scenario::Topology;
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

/// Returns the connections of every node, in the order in which they are made.
pub(crate) fn wire(edges: &[(u32, u32)], nodes: u32) -> Vec<Vec<ConnEnd>> {
    let mut degree = vec![0usize; nodes as usize];
    for (from, to) in edges {
        degree[*from as usize] += 1;
        degree[*to as usize] += 1;
    }
    let mut dialled = vec![0u32; nodes as usize];
    let mut ends: Vec<Vec<ConnEnd>> = degree.into_iter().map(Vec::with_capacity).collect();
    for (from, to) in edges {
        let dialled_before = dialled[*from as usize];
        dialled[*from as usize] += 1;
        let conns = [ends[*from as usize].len(), ends[*to as usize].len()];
        for (node, remote, remote_conn, outbound) in
            [(from, to, conns[1], true), (to, from, conns[0], false)]
        {
            ends[*node as usize].push(ConnEnd {
                remote: *remote,
                remote_conn: ConnIx(remote_conn as u32),
                outbound,
                dialled_before,
            });
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
    rng: &mut SeededRng,
) -> Result<Vec<(u32, u32)>, SimError> {
    let invalid = |what, value: String, rule| SimError::Invalid { what, value, rule };
    Ok(match topology {
        Topology::Dials(dials) => {
            if *dials == 0 || *dials >= nodes {
                let rule = "it must be at least 1 and less than the number of nodes";
                return Err(invalid("topology.dials", dials.to_string(), rule));
            }
            dial_at_random(nodes, *dials, rng)
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
    })
}

/// Lets every node dial others at random that it is not connected to yet; a node that was dialled
/// does not dial back.
fn dial_at_random(nodes: u32, dials: u32, rng: &mut SeededRng) -> Vec<(u32, u32)> {
    let mut edges = Vec::with_capacity(nodes as usize * dials as usize);
    let mut peers: Vec<Vec<u32>> = vec![Vec::new(); nodes as usize];
    for node in 0..nodes {
        let mut dialled = 0;
        while dialled < dials && peers[node as usize].len() + 1 < nodes as usize {
            let other = rng.below(u64::from(nodes)) as u32;
            if other == node || peers[node as usize].contains(&other) {
                continue;
            }
            peers[node as usize].push(other);
            peers[other as usize].push(node);
            edges.push((node, other));
            dialled += 1;
        }
    }
    edges
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
mod tests {
    use super::*;

    fn rng() -> SeededRng {
        SeededRng::new(1, "test", 0)
    }

    #[test]
    fn every_node_dials_as_many_as_it_is_told_and_nobody_twice() {
        let edges = edges(&Topology::Dials(25), 1000, &mut rng()).unwrap();
        assert_eq!(edges.len(), 25_000);
        let pairs: BTreeSet<_> = edges.iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
        assert_eq!(pairs.len(), edges.len());
        for node in 0..1000 {
            assert_eq!(edges.iter().filter(|(from, _)| *from == node).count(), 25);
        }
    }

    #[test]
    fn a_regular_graph_is_regular_and_simple() {
        for (nodes, degree) in [(1000, 6), (50, 7), (8, 7), (4, 3), (10, 2)] {
            let edges = edges(&Topology::Regular(degree), nodes, &mut rng()).unwrap();
            let pairs: BTreeSet<_> = edges.iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
            assert_eq!(pairs.len(), edges.len());
            let ends = wire(&edges, nodes);
            assert!(ends.iter().all(|ends| ends.len() == degree as usize));
        }
    }

    #[test]
    fn both_ends_know_of_each_other() {
        let edges = edges(&Topology::Dials(4), 30, &mut rng()).unwrap();
        let ends = wire(&edges, 30);
        for (node, conns) in ends.iter().enumerate() {
            for (conn, end) in conns.iter().enumerate() {
                let other = ends[end.remote as usize][end.remote_conn.0 as usize];
                assert_eq!(
                    (other.remote as usize, other.remote_conn.0 as usize),
                    (node, conn)
                );
                assert_ne!(other.outbound, end.outbound);
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (topology, nodes) in [
            (Topology::Dials(5), 5),
            (Topology::Regular(3), 5),
            (Topology::Edges(vec![(0, 0)]), 5),
            (Topology::Edges(vec![(0, 1), (1, 0)]), 5),
            (Topology::Edges(vec![(0, 9)]), 5),
        ] {
            assert!(edges(&topology, nodes, &mut rng()).is_err(), "{topology:?}");
        }
    }
}
