//! Crowds that want to keep others out.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::StreamExt;
use libp2p::swarm::{SwarmEvent, dummy};
use libp2p::{Swarm, noise, tcp, yamux};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use undertone_node::driver::ConnectionLimits;
use undertone_node::{Keypair, Multiaddr};

use super::support::{HANG, Node, until_heard};

/// Members of a crowd.
const CROWD: usize = 150;

/// How often one of the crowd tries again.
const AGAIN: Duration = Duration::from_millis(66);

/// A newcomer has to be in by then.
const NEWCOMER: Duration = Duration::from_secs(10);

/// Bounds under which a loopback address counts as any other.
fn limits() -> ConnectionLimits {
    let limits = ConnectionLimits::with_total(100);
    ConnectionLimits {
        per_loopback_address_max: limits.per_address_max,
        ..limits
    }
}

fn socket_address(node: &Multiaddr) -> SocketAddr {
    let address = node.to_string().replace("/ip4/", "").replace("/tcp/", ":");
    let (address, _) = address.split_once("/p2p/").expect("it has an identity");
    address.parse().expect("an address of TCP")
}

async fn node(static_peers: Vec<Multiaddr>) -> Node {
    let keypair = Keypair::generate_secp256k1();
    let listen = "/ip4/127.0.0.1/tcp/0".parse().expect("a constant");
    Node::within(keypair, listen, static_peers, limits()).await
}

/// Opens sockets that say nothing, each again when it is closed; a few each second are new in any case.
async fn silent_sockets(address: SocketAddr) -> JoinSet<()> {
    let mut crowd = JoinSet::new();
    for n in 0..CROWD {
        crowd.spawn(async move {
            loop {
                if let Ok(mut socket) = TcpStream::connect(address).await {
                    // Silent, until the node hangs up.
                    while socket.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
                }
                tokio::time::sleep(AGAIN * u32::try_from(n % 16 + 1).expect("small")).await;
            }
        });
    }
    tokio::time::sleep(AGAIN).await;
    crowd
}

/// Peers without any protocol, each of another identity, that dial again when they are disconnected.
/// Returns when they could have filled the node.
async fn idle_identities(address: &Multiaddr) -> JoinSet<()> {
    let mut crowd = JoinSet::new();
    let arrived = Arc::new(AtomicU32::new(0));
    for _ in 0..CROWD {
        let mut swarm = idle_identity();
        let (address, arrived) = (address.clone(), arrived.clone());
        crowd.spawn(async move {
            loop {
                let _ = swarm.dial(address.clone());
                loop {
                    match swarm.select_next_some().await {
                        SwarmEvent::ConnectionClosed { .. }
                        | SwarmEvent::OutgoingConnectionError { .. } => break,
                        SwarmEvent::ConnectionEstablished { .. } => {
                            arrived.fetch_add(1, Ordering::Relaxed);
                        }
                        _ => {}
                    }
                }
                // Together they come fifteen times a second.
                tokio::time::sleep(AGAIN * u32::try_from(CROWD).expect("small")).await;
            }
        });
        tokio::task::yield_now().await;
    }
    let wait = async {
        while arrived.load(Ordering::Relaxed) < limits().total_max - 1 {
            tokio::time::sleep(AGAIN).await;
        }
    };
    tokio::time::timeout(HANG, wait)
        .await
        .expect("the crowd comes");
    crowd
}

fn idle_identity() -> Swarm<dummy::Behaviour> {
    let builder = libp2p::SwarmBuilder::with_new_identity()
        .with_tokio()
        .with_tcp(
            tcp::Config::default(),
            noise::Config::new,
            yamux::Config::default,
        )
        .expect("noise takes any key");
    let Ok(builder) = builder.with_behaviour(|_| dummy::Behaviour);
    builder
        .with_swarm_config(|config| config.with_idle_connection_timeout(Duration::from_secs(600)))
        .build()
}

/// A newcomer gets in, and those that were there go on as if nothing happened.
async fn newcomer_gets_in(server: &Node, member: &Node) {
    until_heard(server, member, NEWCOMER).await;
    let newcomer = node(vec![server.address().clone()]).await;
    let there = until_heard(&newcomer, server, NEWCOMER).await;
    let back = until_heard(server, &newcomer, NEWCOMER).await;
    println!("the newcomer is heard after {there:?}, and hears after {back:?} more");
    until_heard(member, server, NEWCOMER).await;
    newcomer.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_sockets_of_the_newcomers_own_address_do_not_keep_it_out() {
    let _alone = crate::FLOOD.lock().await;
    let server = node(Vec::new()).await;
    let member = node(vec![server.address().clone()]).await;
    server.until_in_mesh().await;
    let crowd = silent_sockets(socket_address(server.address())).await;
    newcomer_gets_in(&server, &member).await;
    drop(crowd);
    member.stop().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_identities_of_the_newcomers_own_address_do_not_keep_it_out() {
    let _alone = crate::FLOOD.lock().await;
    let server = node(Vec::new()).await;
    let member = node(vec![server.address().clone()]).await;
    server.until_in_mesh().await;
    let crowd = idle_identities(server.address()).await;
    newcomer_gets_in(&server, &member).await;
    drop(crowd);
    member.stop().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowded_node_reaches_its_static_peer_and_is_reached_by_it() {
    let _alone = crate::FLOOD.lock().await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
    let port = free.local_addr().expect("it is bound").port();
    drop(free);
    let keypair = Keypair::generate_secp256k1();
    let id = keypair.public().to_peer_id();
    let listen: Multiaddr = format!("/ip4/127.0.0.1/tcp/{port}")
        .parse()
        .expect("made of one");
    let address = format!("{listen}/p2p/{id}").parse().expect("made of one");
    let server = node(vec![address]).await;
    let crowd = idle_identities(server.address()).await;
    let friend = Node::within(keypair, listen, Vec::new(), limits()).await;
    // The server dials it again after a pause of 10 s at most, not at once.
    until_heard(&server, &friend, HANG).await;
    until_heard(&friend, &server, NEWCOMER).await;
    drop(crowd);
    friend.stop().await;
    server.stop().await;
}
