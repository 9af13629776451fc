//! NAT traversal between real nodes over loopback: circuits through a relay, hole punching, AutoNAT.

use std::collections::BTreeSet;
use std::time::Duration;

use libp2p::multiaddr::Protocol;
use undertone_message::WakuMessage;
use undertone_node::command::{MetricsSnapshot, Reachable};
use undertone_node::driver::{AnnouncedAddresses, CircuitLimits, NatOptions, RelayClient};
use undertone_node::{Multiaddr, PeerId};

use super::proxy::Proxy;
use super::support::{HANG, Node, now_ns, topic, until_heard};

/// How often something is looked at again.
const POLL: Duration = Duration::from_millis(20);

pub(crate) fn loopback() -> Multiaddr {
    "/ip4/127.0.0.1/tcp/0".parse().expect("a constant")
}

/// A node that relays circuits and nothing else: it is in no mesh.
async fn relay(limits: CircuitLimits) -> Node {
    let announced = AnnouncedAddresses {
        ip: Some([127, 0, 0, 1].into()),
        ..AnnouncedAddresses::default()
    };
    let nat = NatOptions {
        circuits: Some(limits),
        ..NatOptions::none()
    };
    Node::with(|options| {
        options
            .listen([loopback()])
            .announced(announced)
            .nat(nat)
            .topics([])
    })
    .await
}

/// A node that is reached through relays.
pub(crate) async fn behind(relay: &Multiaddr, listen: Option<Multiaddr>) -> Node {
    relayed(relay, listen, false).await
}

/// A node that is reached through relays; one that is not `in_internet` takes private networks for its world.
async fn relayed(relay: &Multiaddr, listen: Option<Multiaddr>, in_internet: bool) -> Node {
    let peers = [relay.clone()];
    let nat = NatOptions {
        relay_client: RelayClient::Always,
        only_global_ips: in_internet,
        ..NatOptions::none()
    };
    Node::with(|options| options.listen(listen).static_peers(peers).nat(nat)).await
}

pub(crate) fn through(relay: &Multiaddr, peer: PeerId) -> Multiaddr {
    let circuit = relay.clone().with(Protocol::P2pCircuit);
    circuit.with(Protocol::P2p(peer))
}

async fn metrics(node: &Node) -> MetricsSnapshot {
    *node.running.handle.metrics().await.expect("the node runs")
}

/// Waits until the metrics of a node satisfy a condition.
async fn until(node: &Node, is_met: impl Fn(&MetricsSnapshot) -> bool) {
    let wait = async {
        while !is_met(&metrics(node).await) {
            tokio::time::sleep(POLL).await;
        }
    };
    tokio::time::timeout(HANG, wait).await.expect("it comes");
}

/// Addresses that a node tells others.
pub(crate) async fn told(node: &Node) -> Vec<Multiaddr> {
    node.running
        .handle
        .info()
        .await
        .expect("it runs")
        .listen_addresses
}

/// Address by which a node is connected to a peer.
pub(crate) async fn connected_at(node: &Node, peer: PeerId) -> Option<Multiaddr> {
    let peers = node.running.handle.peers().await.expect("the node runs");
    let known = peers.into_iter().find(|known| known.peer_id == peer)?;
    known.multiaddr
}

pub(crate) fn is_relayed(address: &Multiaddr) -> bool {
    address.iter().any(|part| part == Protocol::P2pCircuit)
}

pub(crate) async fn connect(node: &Node, address: Multiaddr) {
    let connected = node.running.handle.connect(address).await;
    connected.expect("the node runs and the relay leads to the peer");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_listen_nowhere_exchange_messages_through_a_relay() {
    let relay = relay(CircuitLimits::default()).await;
    let hidden = behind(relay.address(), None).await;
    let caller = behind(relay.address(), None).await;
    until(&relay, |m| m.nat.reservations == 2).await;
    let circuit = through(relay.address(), hidden.running.peer_id);
    assert!(told(&hidden).await.contains(&circuit), "it is announced");
    connect(&caller, circuit).await;
    until_heard(&caller, &hidden, HANG).await;
    until_heard(&hidden, &caller, HANG).await;
    assert_eq!(metrics(&relay).await.nat.circuits, 1);
    let at = connected_at(&caller, hidden.running.peer_id).await;
    assert!(at.is_some_and(|at| is_relayed(&at)));
    for node in [caller, hidden, relay] {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_in_the_internet_punches_no_hole_into_its_own_network() {
    let relay = relay(CircuitLimits::default()).await;
    // Each names the loopback address at which it listens, as somebody who wants to know which ports are open there.
    let stranger = relayed(relay.address(), Some(loopback()), true).await;
    let victim = relayed(relay.address(), Some(loopback()), true).await;
    until(&relay, |m| m.nat.reservations == 2).await;
    connect(&stranger, through(relay.address(), victim.running.peer_id)).await;
    until(&victim, |m| m.nat.holes_failed + m.nat.holes_punched == 1).await;
    for node in [&stranger, &victim] {
        assert_eq!(metrics(node).await.nat.holes_punched, 0);
    }
    let at = connected_at(&stranger, victim.running.peer_id).await;
    assert!(at.is_some_and(|at| is_relayed(&at)));
    for node in [stranger, victim, relay] {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_direct_connection_replaces_the_circuit_and_the_session_goes_on() {
    let relay = relay(CircuitLimits::default()).await;
    let hidden = behind(relay.address(), Some(loopback())).await;
    let mut caller = behind(relay.address(), Some(loopback())).await;
    until(&relay, |m| m.nat.reservations == 2).await;
    connect(&caller, through(relay.address(), hidden.running.peer_id)).await;
    until(&caller, |m| m.nat.holes_punched == 1).await;
    let direct = async {
        while connected_at(&caller, hidden.running.peer_id)
            .await
            .is_none_or(|at| is_relayed(&at))
        {
            tokio::time::sleep(POLL).await;
        }
    };
    tokio::time::timeout(HANG, direct).await.expect("it moves");
    until_heard(&caller, &hidden, HANG).await;
    until_heard(&hidden, &caller, HANG).await;
    assert_eq!(
        caller.sessions_ended_in(Duration::from_millis(200)).await,
        0
    );
    for node in [caller, hidden, relay] {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_message_is_lost_while_a_direct_connection_replaces_a_slow_circuit() {
    let relay = relay(CircuitLimits::default()).await;
    let slow = Proxy::slow(relay.address(), Duration::from_millis(300)).await;
    let hidden = behind(&slow.address, Some(loopback())).await;
    let caller = behind(relay.address(), Some(loopback())).await;
    until(&relay, |m| m.nat.reservations == 2).await;
    let mut heard = hidden.running.handle.messages(4096);
    connect(&caller, through(relay.address(), hidden.running.peer_id)).await;
    caller.until_in_mesh().await;
    let (mut sent, mut sent_after) = (0_u64, 0);
    // For some time after the circuit is given up, too.
    while sent_after < 20 {
        let message = WakuMessage {
            timestamp: Some(now_ns()),
            ..WakuMessage::new(sent.to_be_bytes().to_vec(), "/test/1/a/proto")
        };
        let published = caller.running.handle.publish(topic(), message).await;
        published.expect("a peer is in the mesh");
        sent += 1;
        let at = connected_at(&caller, hidden.running.peer_id).await;
        sent_after += u64::from(at.is_some_and(|at| !is_relayed(&at)));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(sent > sent_after, "none was sent through the relay");
    let mut missing: BTreeSet<u64> = (0..sent).collect();
    let wait = async {
        while !missing.is_empty() {
            let delivery = heard.recv().await.expect("the node runs");
            let number = delivery.message.payload[..].try_into().expect("a number");
            missing.remove(&u64::from_be_bytes(number));
        }
    };
    let arrived = tokio::time::timeout(HANG, wait).await;
    assert!(arrived.is_ok(), "missing of {sent}: {missing:?}");
    for node in [caller, hidden, relay] {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_relay_carries_no_more_than_it_grants() {
    let relay = relay(CircuitLimits {
        reservations_max: 1,
        circuit_bytes_max: 40_000,
        ..CircuitLimits::default()
    })
    .await;
    let hidden = behind(relay.address(), None).await;
    until(&relay, |m| m.nat.reservations == 1).await;
    let mut caller = behind(relay.address(), None).await;
    until(&relay, |m| m.nat.reservations_denied > 0).await;
    connect(&caller, through(relay.address(), hidden.running.peer_id)).await;
    caller.until_in_mesh().await;
    let message = WakuMessage {
        timestamp: Some(now_ns()),
        ..WakuMessage::new(vec![7; 100_000], "/test/1/a/proto")
    };
    // It may be refused, too, if the circuit has ended meanwhile.
    let _ = caller.running.handle.publish(topic(), message).await;
    caller.until_peer_is_gone().await;
    for node in [caller, hidden, relay] {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_learns_that_it_is_reached_and_loses_no_session_by_the_question() {
    let asking = || NatOptions {
        autonat: true,
        first_probe: Duration::from_millis(500),
        only_global_ips: false,
        ..NatOptions::none()
    };
    let mut first = Node::with(|options| options.listen([loopback()]).nat(asking())).await;
    let peers = [first.address().clone()];
    let second = Node::with(|options| {
        options
            .listen([loopback()])
            .static_peers(peers)
            .nat(asking())
    });
    let mut second = second.await;
    first.until_in_mesh().await;
    for node in [&first, &second] {
        until(node, |m| m.reachable == Reachable::Yes).await;
    }
    until_heard(&first, &second, HANG).await;
    until_heard(&second, &first, HANG).await;
    let watched = Duration::from_millis(200);
    assert_eq!(first.sessions_ended_in(watched).await, 0);
    assert_eq!(second.sessions_ended_in(watched).await, 0);
    for node in [first, second] {
        node.stop().await;
    }
}
