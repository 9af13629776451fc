//! QUIC between real nodes: large messages, peers that restart or fall silent, UDP that is blocked, crowds.

use std::time::Duration;

use futures::StreamExt as _;
use libp2p::core::Endpoint;
use libp2p::core::transport::{DialOpts, PortUse};
use libp2p::{Transport as _, quic};
use tokio::net::UdpSocket;
use tokio::task::JoinSet;
use undertone_message::WakuMessage;
use undertone_node::driver::ConnectionLimits;
use undertone_node::{Keypair, Multiaddr};

use super::support::{HANG, Node, now_ns, topic, until_heard};
use super::udp_path::UdpPath;

/// Shorter than the silence after which a connection of QUIC is closed.
const BEFORE_SILENCE: Duration = Duration::from_secs(8);

/// Payload of the longest messages, bytes; with its other fields a message stays below the network's 150 KiB.
const LARGE: usize = 150_000;

/// Handshakes that are begun and never continued, at a time.
const HALF_OPEN: usize = 200;

fn quic_at(port: u16) -> Multiaddr {
    let address = format!("/ip4/127.0.0.1/udp/{port}/quic-v1");
    address.parse().expect("made of a port")
}

fn tcp() -> Multiaddr {
    "/ip4/127.0.0.1/tcp/0".parse().expect("a constant")
}

async fn node(listen: Vec<Multiaddr>, static_peers: Vec<Multiaddr>) -> Node {
    let limits = ConnectionLimits::with_total(10);
    Node::listening(Keypair::generate_secp256k1(), listen, static_peers, limits).await
}

/// Transport of a node's only connection.
async fn only_transport(node: &Node) -> String {
    let peers = node.running.handle.peers().await.expect("the node runs");
    let [peer] = &peers[..] else {
        panic!("one peer, not {peers:?}");
    };
    let address = peer.multiaddr.as_ref().expect("it is connected");
    address.to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_longest_messages_travel_over_two_hops_of_quic() {
    let first = node(vec![quic_at(0)], Vec::new()).await;
    let middle = node(vec![quic_at(0)], vec![first.address().clone()]).await;
    let last = node(vec![quic_at(0)], vec![middle.address().clone()]).await;
    until_heard(&first, &last, HANG).await;
    let mut heard = last.running.handle.messages(64);
    for n in 0..8_u8 {
        let message = WakuMessage {
            timestamp: Some(now_ns()),
            ..WakuMessage::new(vec![n; LARGE], "/test/1/a/proto")
        };
        let published = first.running.handle.publish(topic(), message).await;
        published.expect("there is a peer");
    }
    let mut missing: Vec<u8> = (0..8).collect();
    let wait = async {
        while !missing.is_empty() {
            let payload = heard.recv().await.expect("the node runs").message.payload;
            if payload.len() == LARGE {
                missing.retain(|n| payload[..] != vec![*n; LARGE][..]);
            }
        }
    };
    tokio::time::timeout(HANG, wait).await.expect("all arrive");
    for node in [first, middle, last] {
        node.stop().await;
    }
}

/// A node that stops says so; one that is there again has forgotten the connection, and says that too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_restarts_is_missed_and_found_again_at_once() {
    let keypair = Keypair::generate_secp256k1();
    let limits = ConnectionLimits::with_total(10);
    let before = Node::within(keypair.clone(), quic_at(0), Vec::new(), limits.clone()).await;
    let address = before.address().clone();
    let mut client = node(vec![quic_at(0)], vec![address.clone()]).await;
    until_heard(&client, &before, HANG).await;
    before.stop().await;
    let gone = tokio::time::timeout(BEFORE_SILENCE, client.until_peer_is_gone());
    gone.await.expect("the node has closed its connections");
    let listen = address.to_string();
    let (listen, _) = listen.split_once("/p2p/").expect("it has an identity");
    let listen = listen.parse().expect("a part of an address");
    let after = Node::within(keypair, listen, Vec::new(), limits).await;
    until_heard(&client, &after, HANG).await;
    until_heard(&after, &client, HANG).await;
    client.stop().await;
    after.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_fell_silent_is_given_up_by_both_sides() {
    let mut server = node(vec![quic_at(0)], Vec::new()).await;
    let path = UdpPath::to(server.address()).await;
    let mut client = node(vec![quic_at(0)], vec![path.address.clone()]).await;
    server.until_in_mesh().await;
    path.silence();
    for n in 0..60 {
        let message = WakuMessage::new(vec![n; 140_000], "/test/1/a/proto");
        let published = server.running.handle.publish(topic(), message).await;
        published.expect("the server still counts on its peer");
    }
    server.until_peer_is_gone().await;
    client.until_peer_is_gone().await;
    client.stop().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_with_both_addresses_is_dialled_over_quic() {
    let server = node(vec![tcp(), quic_at(0)], Vec::new()).await;
    let client = node(vec![tcp(), quic_at(0)], server.running.addresses.clone()).await;
    client.until_in_mesh().await;
    let address = only_transport(&client).await;
    assert!(address.contains("/quic-v1"), "{address}");
    client.stop().await;
    server.stop().await;
}

/// A firewall that drops UDP answers nothing at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_udp_is_blocked_the_peer_is_reached_over_tcp() {
    let server = node(vec![tcp()], Vec::new()).await;
    let blocked = UdpSocket::bind("127.0.0.1:0").await.expect("loopback");
    let port = blocked.local_addr().expect("it is bound").port();
    let id = server.running.peer_id;
    let unanswered: Multiaddr = format!("{}/p2p/{id}", quic_at(port))
        .parse()
        .expect("an address");
    let static_peers = vec![unanswered, server.address().clone()];
    let client = node(vec![tcp(), quic_at(0)], static_peers.clone()).await;
    until_heard(&client, &server, HANG).await;
    let address = only_transport(&client).await;
    assert!(address.contains("/tcp/"), "{address}");
    let mut tried = [0; 1500];
    assert!(blocked.try_recv(&mut tried).is_ok(), "QUIC was tried first");
    client.stop().await;
    // A node without QUIC takes no time to find that out.
    let client = node(vec![tcp()], static_peers).await;
    until_heard(&client, &server, HANG).await;
    client.stop().await;
    server.stop().await;
}

/// Begins handshakes whose answers are lost, until it is dropped.
async fn half_open(path: &UdpPath) -> JoinSet<()> {
    path.silence_answers();
    let keypair = Keypair::generate_secp256k1();
    let mut transport = quic::tokio::Transport::new(quic::Config::new(&keypair)).boxed();
    let mut crowd = JoinSet::new();
    for _ in 0..HALF_OPEN {
        let options = DialOpts {
            role: Endpoint::Dialer,
            port_use: PortUse::Reuse,
        };
        let dial = transport.dial(path.address.clone(), options);
        let dial = dial.expect("an address of QUIC");
        crowd.spawn(async move {
            // It cannot succeed.
            let _ = dial.await;
        });
    }
    crowd.spawn(async move {
        loop {
            transport.select_next_some().await;
        }
    });
    crowd
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handshakes_that_are_never_continued_do_not_keep_a_newcomer_out() {
    let limits = ConnectionLimits {
        pending_max: 8,
        per_loopback_address_max: 4,
        ..ConnectionLimits::with_total(10)
    };
    let keypair = Keypair::generate_secp256k1();
    let server = Node::within(keypair, quic_at(0), Vec::new(), limits).await;
    let path = UdpPath::to(server.address()).await;
    let crowd = half_open(&path).await;
    let newcomer = node(vec![quic_at(0)], vec![server.address().clone()]).await;
    until_heard(&newcomer, &server, HANG).await;
    drop(crowd);
    newcomer.stop().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_address_has_no_more_connections_over_quic_than_it_may() {
    let limits = ConnectionLimits {
        per_loopback_address_max: 2,
        ..ConnectionLimits::with_total(20)
    };
    let keypair = Keypair::generate_secp256k1();
    let server = Node::within(keypair, quic_at(0), Vec::new(), limits).await;
    let mut crowd = Vec::new();
    for _ in 0..2 {
        let client = node(vec![quic_at(0)], vec![server.address().clone()]).await;
        client.until_in_mesh().await;
        crowd.push(client);
    }
    // Peers of good standing do not give way.
    let mut refused = node(vec![quic_at(0)], vec![server.address().clone()]).await;
    refused.sessions_ended_in(Duration::from_secs(3)).await;
    let peers = server.running.handle.peers().await.expect("the node runs");
    let speaking = peers.iter().filter(|peer| !peer.topics.is_empty()).count();
    assert_eq!(speaking, 2, "{peers:?}");
    for node in crowd {
        node.stop().await;
    }
    refused.stop().await;
    server.stop().await;
}
