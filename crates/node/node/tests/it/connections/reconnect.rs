//! Connections that die without a word, and peers that come back before anybody has noticed.

use std::time::{Duration, Instant};

use undertone_message::WakuMessage;
use undertone_node::command::ConnectFailure;
use undertone_node::{Keypair, Multiaddr};

use super::proxy::Proxy;
use super::support::{Node, topic, until_heard};

/// Shorter than any connection takes to be found dead, so that what arrives came over a new one.
const BEFORE_DEAD: Duration = Duration::from_secs(12);

/// A dead connection is closed after 26 s; the rest is for a machine that is busy.
const DEAD: Duration = Duration::from_secs(45);

async fn messages_flow(one: &Node, other: &Node) {
    let there = until_heard(one, other, BEFORE_DEAD).await;
    let back = until_heard(other, one, BEFORE_DEAD).await;
    println!("a message after {there:?}, one back after {back:?}");
}

/// Wi-Fi changes, or a NAT forgets: the client knows, the server does not.
#[tokio::test]
async fn a_client_that_dials_again_is_heard_while_its_dead_connection_is_held() {
    let server = Node::start(Keypair::generate_secp256k1(), Vec::new()).await;
    let proxy = Proxy::to(server.address()).await;
    let client = Node::start(Keypair::generate_secp256k1(), vec![proxy.address.clone()]).await;
    server.until_in_mesh().await;
    client.until_in_mesh().await;
    messages_flow(&client, &server).await;
    proxy.forget();
    messages_flow(&client, &server).await;
    proxy.end_silent();
    messages_flow(&client, &server).await;
    client.stop().await;
    server.stop().await;
}

/// Suspended and woken elsewhere: the server had dialled the client, which now dials the server.
#[tokio::test]
async fn a_client_that_was_dialled_and_dials_itself_is_heard_while_its_dead_connection_is_held() {
    let keypair = Keypair::generate_secp256k1();
    let before = Node::start(keypair.clone(), Vec::new()).await;
    let proxy = Proxy::to(before.address()).await;
    let server = Node::start(Keypair::generate_secp256k1(), vec![proxy.address.clone()]).await;
    server.until_in_mesh().await;
    messages_flow(&before, &server).await;
    proxy.silence();
    before.stop().await;
    let client = Node::start(keypair, vec![server.address().clone()]).await;
    messages_flow(&client, &server).await;
    proxy.end_silent();
    messages_flow(&client, &server).await;
    client.stop().await;
    server.stop().await;
}

/// What waits to be sent, and what the kernel has taken, must not keep the connection either.
#[tokio::test]
async fn a_connection_that_fell_silent_is_given_up_by_both_sides() {
    let mut server = Node::start(Keypair::generate_secp256k1(), Vec::new()).await;
    let proxy = Proxy::to(server.address()).await;
    let mut client = Node::start(Keypair::generate_secp256k1(), vec![proxy.address.clone()]).await;
    server.until_in_mesh().await;
    proxy.silence();
    let since = Instant::now();
    for n in 0..60 {
        let message = WakuMessage::new(vec![n; 140_000], "/test/1/a/proto");
        let published = server.running.handle.publish(topic(), message).await;
        published.expect("the server still counts on its peer");
    }
    server.until_peer_is_gone().await;
    client.until_peer_is_gone().await;
    println!("given up after {:?}", since.elapsed());
    assert!(since.elapsed() < DEAD, "after {:?}", since.elapsed());
    client.stop().await;
    server.stop().await;
}

/// A peer that is configured with two addresses, none of which names it.
#[tokio::test(flavor = "multi_thread")]
async fn a_static_peer_with_two_addresses_keeps_its_session() {
    let mut server = Node::start(Keypair::generate_secp256k1(), Vec::new()).await;
    let by_number = server.address().clone();
    let by_name = by_number
        .to_string()
        .replace("ip4/127.0.0.1", "dns4/localhost");
    let static_peers = vec![by_number, by_name.parse().expect("an address")];
    let client = Node::start(Keypair::generate_secp256k1(), static_peers).await;
    server.until_in_mesh().await;
    // Peers that are missing are dialled every two seconds.
    server.sessions_ended_in(Duration::from_secs(3)).await;
    let ended = server.sessions_ended_in(Duration::from_secs(6)).await;
    assert_eq!(ended, 0, "it is connected, and not dialled again");
    client.stop().await;
    server.stop().await;
}

/// The peer accepts the connection and says nothing: who asks meanwhile must not be told that it is connected.
#[tokio::test]
async fn who_asks_for_a_peer_that_is_being_dialled_is_told_how_that_ends() {
    let mute = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = mute.local_addr().unwrap().port();
    let peer = Keypair::generate_secp256k1().public().to_peer_id();
    let address: Multiaddr = format!("/ip4/127.0.0.1/tcp/{port}/p2p/{peer}")
        .parse()
        .unwrap();
    let node = Node::start(Keypair::generate_secp256k1(), Vec::new()).await;
    let connect = || node.running.handle.connect(address.clone());
    let first = connect();
    let second = async {
        let dialled = mute.accept().await.unwrap();
        let answer = connect();
        tokio::pin!(answer);
        let early = tokio::time::timeout(Duration::from_millis(200), &mut answer).await;
        assert!(early.is_err(), "answered while the dial goes on: {early:?}");
        drop(dialled);
        answer.await
    };
    let (first, second) = tokio::join!(first, second);
    let is_dial = |failure: &ConnectFailure| matches!(failure, ConnectFailure::Dial { .. });
    assert!(first.as_ref().is_err_and(is_dial), "{first:?}");
    assert!(second.as_ref().is_err_and(is_dial), "{second:?}");
    node.stop().await;
}
