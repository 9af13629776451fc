use std::net::TcpListener;

use libp2p::core::Endpoint;
use libp2p::core::transport::{DialOpts, ListenerId, PortUse, TransportEvent};
use libp2p::futures::StreamExt as _;
use libp2p::{Multiaddr, Transport as _};
use rustix::net::sockopt::tcp_user_timeout;

use super::*;

const BOUND_MS: u32 = 20_000;

/// A neighbour whose machine lost its power never closes its connection.
#[tokio::test]
async fn a_connection_that_this_node_dials_ends_when_nothing_is_acknowledged() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let address: Multiaddr = format!("/ip4/127.0.0.1/tcp/{port}").parse().unwrap();
    let options = DialOpts {
        role: Endpoint::Dialer,
        port_use: PortUse::New,
    };
    let stream = sockets(&ListenAddresses::default())
        .dial(address, options)
        .unwrap()
        .await
        .unwrap();
    assert_eq!(tcp_user_timeout(&stream.0).unwrap(), BOUND_MS);
}

#[tokio::test]
async fn so_does_a_connection_that_another_node_dials() {
    let mut transport = sockets(&ListenAddresses::default()).boxed();
    let any = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
    transport.listen_on(ListenerId::next(), any).unwrap();
    let mut dialler = None;
    let accepted = loop {
        match transport.select_next_some().await {
            TransportEvent::NewAddress { listen_addr, .. } => {
                let port = listen_addr.iter().find_map(|part| match part {
                    libp2p::multiaddr::Protocol::Tcp(port) => Some(port),
                    _ => None,
                });
                let address = ("127.0.0.1", port.unwrap());
                dialler = Some(std::net::TcpStream::connect(address).unwrap());
            }
            TransportEvent::Incoming { upgrade, .. } => break upgrade.await.unwrap(),
            _ => {}
        }
    };
    assert_eq!(tcp_user_timeout(&accepted.0).unwrap(), BOUND_MS);
    drop(dialler);
}
