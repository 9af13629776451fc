//! Nodes that know of the contract what light mode asks for, among others.

use undertone_node::assemble::Assembled;
use undertone_node::command::{HealthStatus, MetricsSnapshot, PublishFailure};
use undertone_rln::Fr;

use crate::chain::endpoints::until_health;
use crate::chain::races::until;
use crate::chain::rig::{Registry, Role, identity, message, node, node_of, topic};

const FULL: usize = 0;
const LIGHT: usize = 1;
/// Light too, and a member only later.
const LATE: usize = 2;

fn rln(now: &MetricsSnapshot) -> &undertone_node::command::RlnSnapshot {
    now.rln.as_ref().unwrap()
}

fn is_member(now: &MetricsSnapshot) -> bool {
    rln(now).may_publish
}

async fn publish(node: &Assembled, text: &str) -> Result<(), PublishFailure> {
    let message = message(text.to_owned());
    let published = node.node.handle.publish(topic(), message).await;
    published.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
async fn light_and_full_nodes_understand_each_other() {
    let registry = Registry::start().await;
    for member in [FULL, LIGHT] {
        registry.register(identity(member).commitment()).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let roles = [Role::Publisher, Role::Light, Role::Light];
    let mut nodes: Vec<Assembled> = Vec::new();
    for (at, role) in roles.into_iter().enumerate() {
        let address = |node: &Assembled| node.node.addresses[0].to_string();
        let peers: Vec<_> = nodes.iter().map(address).collect();
        nodes.push(node(&registry, at, role, &folder, &peers).await);
    }
    let meshed = |now: &MetricsSnapshot| now.topics.iter().all(|topic| topic.mesh == 2);
    until("its mesh", &nodes, meshed).await;
    until("its own membership", &nodes[..LATE], is_member).await;
    let knows_roots = |now: &MetricsSnapshot| rln(now).membership.roots == 2;
    until("the roots", &nodes, knows_roots).await;
    // What light mode does not know, it does not make up.
    let now = nodes[LIGHT].node.handle.metrics().await.unwrap();
    assert_eq!(rln(&now).membership.members, None);
    assert_eq!(rln(&now).membership.version, None);
    publish(&nodes[LATE], "no member").await.unwrap_err();

    let mut delivered = 0;
    for (speaker, text) in [(LIGHT, "from light"), (FULL, "from full")] {
        publish(&nodes[speaker], text).await.unwrap();
        delivered += 1;
        let all = |now: &MetricsSnapshot| now.totals.delivered == delivered;
        until(text, &nodes, all).await;
    }

    // The full node hears of blocks, the light ones ask because of a message that they cannot judge.
    registry.register(identity(LATE).commitment()).await;
    for stranger in 1..=3u64 {
        registry.register(Fr::from(stranger)).await;
    }
    let heard = |now: &MetricsSnapshot| rln(now).membership.version == Some(6);
    until("the registrations", &nodes[..=FULL], heard).await;
    publish(&nodes[FULL], "a new root").await.unwrap();
    delivered += 1;
    let all = |now: &MetricsSnapshot| now.totals.delivered == delivered;
    until("a message with a new root", &nodes, all).await;
    until("its late membership", &nodes, is_member).await;
    for speaker in [LATE, LIGHT, FULL] {
        publish(&nodes[speaker], "after it").await.unwrap();
        delivered += 1;
        let all = |now: &MetricsSnapshot| now.totals.delivered == delivered;
        until("a message after it", &nodes, all).await;
    }
    for node in nodes {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
async fn a_light_node_restarts_without_an_endpoint() {
    let registry = Registry::start().await;
    registry.register(identity(LIGHT).commitment()).await;
    let folder = tempfile::tempdir().unwrap();
    let first = node(&registry, LIGHT, Role::Light, &folder, &[]).await;
    until(
        "its own membership",
        std::slice::from_ref(&first),
        is_member,
    )
    .await;
    assert_eq!(until_health(&first, HealthStatus::Ready).await, None);
    first.stop().await;

    let place = registry.place();
    drop(registry);
    let again = node_of(&place, LIGHT, Role::Light, &folder, &[]).await;
    let why = until_health(&again, HealthStatus::Synchronizing).await;
    assert!(why.is_some());
    let now = again.node.handle.metrics().await.unwrap();
    assert!(is_member(&now));
    assert_eq!(rln(&now).membership.roots, 1);
    // The proof is made; there is only nobody to send it to.
    let refused = publish(&again, "hello").await.unwrap_err();
    assert_eq!(refused, PublishFailure::NoPeers);
    again.stop().await;
}
