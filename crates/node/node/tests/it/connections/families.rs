//! IPv4 and IPv6 between real nodes: one that listens on both, and one of whose addresses one is silent.

use std::net::{Ipv6Addr, TcpListener};

use libp2p::multiaddr::Protocol;
use undertone_node::driver::ConnectionLimits;
use undertone_node::{Keypair, Multiaddr};

use super::support::Node;

fn tcp_v4() -> Multiaddr {
    "/ip4/127.0.0.1/tcp/0".parse().expect("a constant")
}

fn tcp_v6() -> Multiaddr {
    "/ip6/::1/tcp/0".parse().expect("a constant")
}

async fn node(listen: Vec<Multiaddr>, static_peers: Vec<Multiaddr>) -> Node {
    let limits = ConnectionLimits::with_total(10);
    Node::listening(Keypair::generate_secp256k1(), listen, static_peers, limits).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_on_both_families_is_reached_by_each() {
    let both = node(vec![tcp_v4(), tcp_v6()], Vec::new()).await;
    let addresses = both.running.addresses.clone();
    assert_eq!(addresses.len(), 2);
    for address in addresses {
        let peer = node(vec![tcp_v4()], vec![address.clone()]).await;
        peer.until_in_mesh().await;
        let peers = peer.running.handle.peers().await.expect("it runs");
        let at = peers[0].multiaddr.as_ref().expect("it is connected");
        assert_eq!(at.iter().next(), address.iter().next());
        peer.stop().await;
    }
    both.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_whose_ipv6_address_is_silent_is_reached_over_ipv4() {
    let peer = node(vec![tcp_v4()], Vec::new()).await;
    // The kernel accepts connections, and nobody answers what is said on them.
    let silent = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).expect("loopback is there");
    let port = silent.local_addr().expect("it is bound").port();
    let at_silent = Multiaddr::from(Ipv6Addr::LOCALHOST)
        .with(Protocol::Tcp(port))
        .with(Protocol::P2p(peer.running.peer_id));
    let addresses = vec![at_silent, peer.address().clone()];
    let dialler = node(vec![tcp_v4()], addresses).await;
    dialler.until_in_mesh().await;
    for node in [dialler, peer] {
        node.stop().await;
    }
}
