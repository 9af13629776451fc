//! Members who come while messages are under way, in a network of whole nodes.

use std::time::Duration;

use futures::future::join_all;
use undertone_node::assemble::Assembled;
use undertone_node::command::MetricsSnapshot;
use undertone_rln::Fr;

use crate::chain::rig::{HANG, Registry, Role, identity, message, node, topic};

const NODES: usize = 50;
/// The first of them are members before they start.
const MEMBERS: usize = 3;
/// The next become members in these rounds, while everything goes on, and publish at once.
const JOIN_IN_ROUND: [usize; 2] = [10, 20];
const PUBLISHERS: usize = MEMBERS + JOIN_IN_ROUND.len();

const ROUNDS: usize = 50;
/// Others who register in a round. Messages are behind by two rounds at most: their roots are among
/// the newest 50 everywhere, or will be as soon as a node has heard of them.
const STRANGERS_IN_ROUND: usize = 10;

/// Waits for nodes; no valid message may be dropped meanwhile.
pub(crate) async fn until(
    what: &str,
    nodes: &[Assembled],
    done: impl Fn(&MetricsSnapshot) -> bool,
) {
    for (at, node) in nodes.iter().enumerate() {
        let wait = async {
            loop {
                let now = node.node.handle.metrics().await.unwrap();
                let rejected = &now.totals.rejected;
                assert!(rejected.is_empty(), "node {at} rejected {rejected:?}");
                if done(&now) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(HANG, wait).await;
        assert!(waited.is_ok(), "node {at}: {what} never came");
    }
}

async fn publish(node: &Assembled, round: usize, at: usize) {
    let message = message(format!("{round} {at}"));
    node.node.handle.publish(topic(), message).await.unwrap();
}

fn is_member(now: &MetricsSnapshot) -> bool {
    now.rln.as_ref().unwrap().may_publish
}

fn version(now: &MetricsSnapshot) -> u64 {
    now.rln.as_ref().unwrap().membership.version.unwrap()
}

async fn network(registry: &Registry, folder: &tempfile::TempDir) -> Vec<Assembled> {
    let mut nodes: Vec<Assembled> = Vec::new();
    for at in 0..NODES {
        // Two before and two after it: more from one address would be held against them.
        let neighbours = [1, 7].into_iter().filter_map(|back| at.checked_sub(back));
        let address = |neighbour: usize| nodes[neighbour].node.addresses[0].to_string();
        let peers: Vec<_> = neighbours.map(address).collect();
        let role = match at < PUBLISHERS {
            true => Role::Publisher,
            false => Role::Relay,
        };
        nodes.push(node(registry, at, role, folder, &peers).await);
    }
    let meshed = |now: &MetricsSnapshot| now.topics.iter().all(|topic| topic.mesh >= 2);
    until("its mesh", &nodes, meshed).await;
    nodes
}

/// Members prove against roots that most relays have not heard of, some as soon as they are members.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
async fn nothing_valid_is_rejected_while_members_come() {
    let registry = Registry::start().await;
    for member in 0..MEMBERS {
        registry.register(identity(member).commitment()).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let nodes = network(&registry, &folder).await;
    let first = MEMBERS as u64;
    until("the membership", &nodes, |now| version(now) == first).await;
    until("its own membership", &nodes[..MEMBERS], is_member).await;

    let (mut members, mut registered, mut published) = (MEMBERS, first, 0);
    let mut before = [(registered, published); 2];
    for round in 0..ROUNDS {
        let [(known, delivered), _] = before;
        let heard = |now: &MetricsSnapshot| version(now) >= known;
        until("a registration", &nodes[..PUBLISHERS], heard).await;
        let got = |now: &MetricsSnapshot| now.totals.delivered >= delivered;
        until("a message", &nodes, got).await;

        let joins = JOIN_IN_ROUND.contains(&round);
        let strangers = async {
            if joins {
                registry.register(identity(members).commitment()).await;
            }
            for stranger in 0..STRANGERS_IN_ROUND {
                let commitment = 1 + round * STRANGERS_IN_ROUND + stranger;
                registry.register(Fr::from(commitment as u64)).await;
            }
        };
        // Two of the members, in turn.
        let speakers = [round % members, (round + 1) % members];
        let messages = join_all(speakers.map(|at| publish(&nodes[at], round, at)));
        let newcomer = async {
            if joins {
                until("its own membership", &nodes[members..=members], is_member).await;
                publish(&nodes[members], round, members).await;
            }
        };
        tokio::join!(strangers, messages, newcomer);
        members += usize::from(joins);
        registered += (STRANGERS_IN_ROUND + usize::from(joins)) as u64;
        published += (speakers.len() + usize::from(joins)) as u64;
        before = [before[1], (registered, published)];
    }
    let all = |now: &MetricsSnapshot| now.totals.delivered == published;
    until("the last message", &nodes, all).await;
    until("the last member", &nodes, |now| version(now) == registered).await;
    assert_eq!((members, registered, published), (PUBLISHERS, 505, 102));
    join_all(nodes.into_iter().map(Assembled::stop)).await;
}
