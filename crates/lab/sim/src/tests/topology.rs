//! Tests of topologies and their parts.

use super::*;
use crate::scenario::Scenario;

/// A network in which all nodes subscribe to one topic.
fn network(topology: &Topology, nodes: u32) -> Scenario {
    let mut scenario = Scenario::plain(nodes);
    scenario.topology = topology.clone();
    scenario
}

fn edges_of(topology: &Topology, nodes: u32) -> Result<Edges, SimError> {
    edges(&network(topology, nodes), &mut rng())
}

fn rng() -> SeededRng {
    SeededRng::new(1, "test", 0)
}

fn listed(topology: &Topology, nodes: u32) -> Vec<(u32, u32)> {
    let edges = edges_of(topology, nodes).unwrap();
    edges.iter().collect()
}

#[test]
fn every_node_dials_as_many_as_it_is_told_and_nobody_twice() {
    let edges = listed(&Topology::Dials(25), 1000);
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
        let all = edges_of(&Topology::Regular(degree), nodes).unwrap();
        let edges: Vec<_> = all.iter().collect();
        let pairs: BTreeSet<_> = edges.iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
        assert_eq!(pairs.len(), edges.len());
        let ends = wire(&all, nodes, RankPart::WHOLE);
        assert!(ends.iter().all(|ends| ends.len() == degree as usize));
    }
}

#[test]
fn both_ends_know_of_each_other() {
    let edges = edges_of(&Topology::Dials(4), 30).unwrap();
    let ends = wire(&edges, 30, RankPart::WHOLE);
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
        assert!(edges_of(&topology, nodes).is_err(), "{topology:?}");
    }
}

#[test]
fn parts_make_up_the_whole() {
    let edges = edges_of(&Topology::Dials(4), 31).unwrap();
    let whole = wire(&edges, 31, RankPart::WHOLE);
    for ranks in [2, 3, 40] {
        for rank in 0..ranks {
            let part = RankPart::new(rank, ranks);
            let held: Vec<u32> = (0..31).filter(|node| part.holds(*node)).collect();
            let ends = wire(&edges, 31, part);
            assert_eq!(ends.len(), held.len());
            for node in held {
                assert_eq!(ends[part.slot(node)], whole[node as usize]);
            }
        }
    }
}

#[test]
fn a_network_that_is_soon_complete_has_no_empty_dials() {
    let edges = listed(&Topology::Dials(4), 5);
    assert_eq!(edges.len(), 10);
}

#[test]
fn who_has_no_topic_in_common_is_not_dialled() {
    for (topics, per_node, common) in [(8, 1, 10), (8, 3, 50), (5, 5, 80), (3, 1, 26)] {
        let with_dials = |dials| {
            let mut network = network(&Topology::Dials(dials), 80);
            (network.relay.topics, network.relay.topics_per_node) = (topics, Some(per_node));
            network
        };
        let setup = with_dials(3).relay;
        let all = edges(&with_dials(3), &mut rng()).unwrap();
        for (from, to) in all.iter() {
            assert!((0..topics).any(|topic| setup.joins(from, topic) && setup.joins(to, topic)));
        }
        assert_eq!(all.iter().count(), 80 * 3);
        let fits = |dials| edges(&with_dials(dials), &mut rng()).is_ok();
        assert!(
            fits(common - 1) && !fits(common),
            "{common} of 80 nodes have a topic in common"
        );
    }
}
