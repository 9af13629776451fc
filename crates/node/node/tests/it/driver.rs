//! Nodes of this process over TCP on loopback.

use std::time::Duration;

use tokio::sync::mpsc;
use undertone_gossip::{FloodPublish, LARGE_MESSAGES_ID, STEM_ID, StrategyKind};
use undertone_message::{NetworkPreset, PubsubTopic, Shard, WakuMessage};
use undertone_node::Multiaddr;
use undertone_node::command::{PeerOrigin, PeerSnapshot, PublishFailure};
use undertone_node::driver::{
    ConnectionLimits, NodeEvent, NodeOptions, RunningNode, TimedEvent, start,
};
use undertone_relay::RelayConfig;

/// Guards against hangs only.
const HANG: Duration = Duration::from_secs(60);

struct Node {
    running: RunningNode,
    events: mpsc::UnboundedReceiver<TimedEvent>,
}

fn topic(cluster: u16) -> PubsubTopic {
    PubsubTopic::Static(Shard::new(cluster, 0).expect("shard 0 exists"))
}

/// A node without RLN in that cluster.
async fn node(cluster: u16, static_peers: Vec<Multiaddr>) -> Node {
    node_with(cluster, static_peers, &["/vac/waku/relay/2.0.0"], |_| {}).await
}

async fn node_with(
    cluster: u16,
    static_peers: Vec<Multiaddr>,
    protocols: &[&str],
    change: impl FnOnce(&mut RelayConfig),
) -> Node {
    let preset = NetworkPreset::by_name("local").expect("a known network");
    let mut relay = RelayConfig::for_network(&preset);
    relay.cluster_id = cluster;
    relay.rln = None;
    change(&mut relay);
    let (sender, events) = mpsc::unbounded_channel();
    let options = NodeOptions::for_network(&preset)
        .listen(["/ip4/127.0.0.1/tcp/0".parse().expect("a constant")])
        .relay(relay)
        .protocols(protocols.iter().copied())
        .topics([topic(cluster)])
        .static_peers(static_peers)
        .connections(ConnectionLimits::with_total(10))
        .events(sender);
    let running = start(options).await.expect("loopback is there");
    Node { running, events }
}

/// Waits for an event that satisfies `wanted`.
async fn until(node: &mut Node, wanted: impl Fn(&NodeEvent) -> bool) {
    let wait = async {
        loop {
            let event = node.events.recv().await.expect("the node runs");
            if wanted(&event.event) {
                return;
            }
        }
    };
    tokio::time::timeout(HANG, wait)
        .await
        .expect("the event comes");
}

async fn until_in_mesh(node: &Node) {
    until_in_meshes(node, 1).await;
}

async fn until_in_meshes(node: &Node, count: usize) {
    let wait = async {
        loop {
            let peers = node.running.handle.peers().await.expect("the node runs");
            let in_mesh = peers.iter().filter(|peer| !peer.in_mesh.is_empty());
            if in_mesh.count() >= count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(HANG, wait)
        .await
        .expect("the mesh forms");
}

#[tokio::test]
async fn a_configured_peer_is_listed_as_one_after_the_first_dial() {
    let listener = node(66, Vec::new()).await;
    let mut dialler = node(66, listener.running.addresses.clone()).await;
    until(&mut dialler, |event| {
        matches!(event, NodeEvent::PeerConnected { .. })
    })
    .await;
    let origins = |peers: Vec<PeerSnapshot>| -> Vec<_> {
        peers.into_iter().map(|peer| peer.origin).collect()
    };
    let dialled = dialler.running.handle.peers().await;
    let dialled = origins(dialled.expect("the node runs"));
    assert_eq!(dialled, [PeerOrigin::Static]);
    let came = listener.running.handle.peers().await;
    let came = origins(came.expect("the node runs"));
    assert_eq!(came, [PeerOrigin::UnknownOrigin]);
    dialler.running.stop().await;
    listener.running.stop().await;
}

#[tokio::test]
async fn a_message_reaches_the_other_node_and_a_stopped_one_is_noticed() {
    let mut alice = node(66, Vec::new()).await;
    let bob = node(66, alice.running.addresses.clone()).await;
    let mut heard = bob.running.handle.messages(8);
    until_in_mesh(&alice).await;
    let message = WakuMessage::new(&b"hello"[..], "/test/1/a/proto");
    let published = alice.running.handle.publish(topic(66), message).await;
    let published = published.expect("bob is in the mesh");
    let delivery = tokio::time::timeout(HANG, heard.recv())
        .await
        .expect("it arrives");
    let delivery = delivery.expect("bob runs");
    assert_eq!(delivery.hash(), published.hash());
    assert_eq!(delivery.id, published.id);
    assert_eq!(delivery.from, Some(alice.running.peer_id));
    assert_eq!(&delivery.message.payload[..], b"hello");

    bob.running.stop().await;
    until(&mut alice, |event| {
        matches!(event, NodeEvent::PeerDisconnected { .. })
    })
    .await;
    let message = WakuMessage::new(&b"anybody?"[..], "/test/1/a/proto");
    let alone = alice.running.handle.publish(topic(66), message).await;
    assert_eq!(alone, Err(PublishFailure::NoPeers));
    alice.running.stop().await;
}

#[tokio::test]
async fn a_peer_of_another_cluster_is_disconnected() {
    let mut ours = node(66, Vec::new()).await;
    let stranger = node(67, ours.running.addresses.clone()).await;
    until(&mut ours, |event| {
        matches!(event, NodeEvent::PeerDisconnected { .. })
    })
    .await;
    stranger.running.stop().await;
    ours.running.stop().await;
}

#[tokio::test]
async fn a_topic_of_another_cluster_cannot_be_joined() {
    let ours = node(66, Vec::new()).await;
    let refused = ours.running.handle.subscribe(topic(67)).await;
    assert!(refused.is_err(), "{refused:?}");
    ours.running.stop().await;
}

/// Reduced sending pushes no copy here, so the message comes because it is asked for; and it comes in
/// parts, which the application does not see.
#[tokio::test]
async fn nodes_that_agree_spread_large_messages_by_their_ids_and_in_parts() {
    let protocols = [LARGE_MESSAGES_ID, "/vac/waku/relay/2.0.0"];
    let reduced = |relay: &mut RelayConfig| {
        relay.gossip.strategy = StrategyKind::Reduced.into();
        relay.gossip.large.push = 0;
        relay.gossip.flood_publish = FloodPublish::Off;
        relay.fragment_bytes = Some(10_000);
    };
    let one = node_with(1, Vec::new(), &protocols, reduced).await;
    let two = node_with(1, one.running.addresses.clone(), &protocols, reduced).await;
    until_in_mesh(&one).await;
    until_in_mesh(&two).await;
    let mut deliveries = two.running.handle.messages(8);
    let message = WakuMessage::new(vec![5; 45_000], "/a/1/b/proto");
    let published = one.running.handle.publish(topic(1), message.clone()).await;
    let delivery = tokio::time::timeout(HANG, deliveries.recv()).await;
    let delivery = delivery.expect("it comes").expect("the node runs");
    assert_eq!(delivery.message.payload, message.payload);
    assert_eq!(delivery.hash(), published.expect("it was sent").hash());
    let gossip = two.running.handle.gossip().await.expect("the node runs");
    assert_eq!(
        gossip.stats.sent.iwant, 5,
        "five parts, each asked for once"
    );
    one.running.stop().await;
    two.running.stop().await;
}

/// The publisher knows both, and tells only the one that offers the stem; that one spreads the message. No embargo ends
/// in the time of the test.
#[tokio::test]
async fn a_message_in_the_stem_is_first_heard_from_another_node_than_its_publisher() {
    let ordinary = ["/vac/waku/relay/2.0.0"];
    let dandelion = |relay: &mut RelayConfig| {
        relay.gossip.strategy = StrategyKind::Dandelion.into();
        relay.gossip.dandelion.embargo_mean = Duration::from_secs(3600);
        relay.gossip.dandelion.diffuser_probability = 1.0;
    };
    let stem = [STEM_ID, ordinary[0]];
    let carol = node_with(1, Vec::new(), &ordinary, |_| {}).await;
    let bob = node_with(1, carol.running.addresses.clone(), &stem, dandelion).await;
    let both = [&bob, &carol].map(|node| node.running.addresses.clone());
    let alice = node_with(1, both.concat(), &stem, dandelion).await;
    for node in [&alice, &bob, &carol] {
        until_in_meshes(node, 2).await;
    }
    let mut heard = carol.running.handle.messages(8);
    let message = WakuMessage::new(&b"who spoke?"[..], "/a/1/b/proto");
    let published = alice.running.handle.publish(topic(1), message).await;
    published.expect("bob is a successor");
    let delivery = tokio::time::timeout(HANG, heard.recv()).await;
    let delivery = delivery.expect("it comes").expect("carol runs");
    assert_eq!(delivery.from, Some(bob.running.peer_id));
    for node in [alice, bob, carol] {
        node.running.stop().await;
    }
}
