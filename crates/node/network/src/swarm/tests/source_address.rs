//! Linux has the whole of 127.0.0.0/8 on its loopback interface, so that one machine has many addresses.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

use std::net::TcpListener;

use libp2p::core::Endpoint;

use super::*;

/// Transport that listens on `addresses`, and has heard which ports it got.
async fn listening(addresses: &[&str], shared: &ListenAddresses) -> SourceAddress {
    let config = tcp::Config::default().nodelay(true);
    let mut transport = SourceAddress::new(tcp::tokio::Transport::new(config), shared.clone());
    for address in addresses {
        let address = address.parse().unwrap();
        transport.listen_on(ListenerId::next(), address).unwrap();
        loop {
            let event = std::future::poll_fn(|cx| Pin::new(&mut transport).poll(cx)).await;
            if matches!(event, TransportEvent::NewAddress { .. }) {
                break;
            }
        }
    }
    transport
}

/// Address from which a listener at 127.0.0.1 sees a connection of the transport come.
async fn seen_from(transport: &mut SourceAddress, port_use: PortUse) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    seen_by(transport, port_use, &listener, port).await.1
}

async fn seen_by(
    transport: &mut SourceAddress,
    port_use: PortUse,
    listener: &TcpListener,
    port: u16,
) -> (tcp::tokio::TcpStream, SocketAddr) {
    let address = format!("/ip4/127.0.0.1/tcp/{port}").parse().unwrap();
    let role = Endpoint::Dialer;
    let dial = transport.dial(address, DialOpts { role, port_use });
    let stream = dial.unwrap().await.unwrap();
    let (_, from) = listener.accept().unwrap();
    (stream, from)
}

fn own_port(transport: &SourceAddress) -> u16 {
    transport.own[0].1.port()
}

#[tokio::test]
async fn a_connection_leaves_from_the_address_and_port_of_the_only_listener() {
    let mut transport = listening(&["/ip4/127.0.0.7/tcp/0"], &ListenAddresses::default()).await;
    let from = seen_from(&mut transport, PortUse::Reuse).await;
    let expected = SocketAddr::from((Ipv4Addr::new(127, 0, 0, 7), own_port(&transport)));
    assert_eq!(from, expected);
    let from = seen_from(&mut transport, PortUse::New).await;
    assert_eq!(from.ip(), expected.ip());
    assert_ne!(from.port(), expected.port());
}

#[tokio::test]
async fn a_second_connection_to_the_same_peer_gets_another_port() {
    let mut transport = listening(&["/ip4/127.0.0.7/tcp/0"], &ListenAddresses::default()).await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let first = seen_by(&mut transport, PortUse::Reuse, &listener, port).await;
    let second = seen_by(&mut transport, PortUse::Reuse, &listener, port).await;
    assert_eq!(first.1.port(), own_port(&transport));
    assert_ne!(second.1.port(), first.1.port());
    assert_eq!(second.1.ip(), first.1.ip());
}

#[tokio::test]
async fn a_transport_that_does_not_listen_uses_the_address_of_the_one_that_does() {
    let shared = ListenAddresses::default();
    let _tcp = listening(&["/ip4/127.0.0.7/tcp/0"], &shared).await;
    let mut websocket = listening(&[], &shared).await;
    let from = seen_from(&mut websocket, PortUse::Reuse).await;
    assert_eq!(from.ip(), IpAddr::from([127, 0, 0, 7]));
}

#[tokio::test]
async fn with_several_addresses_or_all_of_them_the_system_chooses() {
    let several = ["/ip4/127.0.0.7/tcp/0", "/ip4/127.0.0.8/tcp/0"];
    for addresses in [&several[..], &["/ip4/0.0.0.0/tcp/0"]] {
        let mut transport = listening(addresses, &ListenAddresses::default()).await;
        let from = seen_from(&mut transport, PortUse::New).await;
        assert_eq!(from.ip(), IpAddr::from([127, 0, 0, 1]), "{addresses:?}");
    }
}

#[tokio::test]
async fn a_listener_that_was_closed_is_no_source() {
    let mut transport = listening(&["/ip4/127.0.0.7/tcp/0"], &ListenAddresses::default()).await;
    let id = transport.own[0].0;
    assert!(transport.remove_listener(id));
    let from = seen_from(&mut transport, PortUse::New).await;
    assert_eq!(from.ip(), IpAddr::from([127, 0, 0, 1]));
}

/// As after the machine got another address from its network.
#[tokio::test]
async fn without_the_listen_address_a_connection_leaves_from_another_one() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = SocketAddr::from(([198, 51, 100, 9], 60_000));
    connect_from(gone, listener.local_addr().unwrap())
        .await
        .unwrap();
    let (_, from) = listener.accept().unwrap();
    assert_eq!(from.ip(), IpAddr::from([127, 0, 0, 1]));
}

#[test]
fn a_loopback_listener_is_no_source_for_other_machines() {
    let shared = ListenAddresses::default();
    let ids: Vec<_> = (0..3).map(|_| ListenerId::next()).collect();
    let listen = |id: ListenerId, ip: &str| shared.add(id, ip.parse().unwrap());
    let source = |remote: &str| shared.source(remote.parse().unwrap());
    listen(ids[0], "127.0.0.1");
    assert_eq!(source("192.0.2.9"), None);
    listen(ids[1], "198.51.100.1");
    assert_eq!(source("192.0.2.9"), "198.51.100.1".parse().ok());
    assert_eq!(source("127.0.0.9"), "127.0.0.1".parse().ok());
    assert_eq!(source("2001:db8::1"), None);
    listen(ids[2], "2001:db8::7");
    assert_eq!(source("2001:db8::1"), "2001:db8::7".parse().ok());
}

/// Listens on a port of 127.0.0.8; returns the error, if there is one.
fn listen_again(port: u16) -> Result<(), TransportError<io::Error>> {
    let config = tcp::Config::default();
    let mut transport = SourceAddress::new(
        tcp::tokio::Transport::new(config),
        ListenAddresses::default(),
    );
    let address = format!("/ip4/127.0.0.8/tcp/{port}").parse().unwrap();
    transport.listen_on(ListenerId::next(), address)
}

#[tokio::test]
async fn a_port_on_which_another_transport_listens_is_taken() {
    let transport = listening(&["/ip4/127.0.0.8/tcp/0"], &ListenAddresses::default()).await;
    let port = own_port(&transport);
    let taken = listen_again(port).unwrap_err();
    let TransportError::Other(taken) = taken else {
        panic!("{taken}");
    };
    assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
    drop(transport);
    listen_again(port).unwrap();
}

#[tokio::test]
async fn a_port_whose_last_connections_have_just_ended_is_free() {
    let listener = TcpListener::bind("127.0.0.8:0").unwrap();
    let address = listener.local_addr().unwrap();
    let client = std::net::TcpStream::connect(address).unwrap();
    let (server, _) = listener.accept().unwrap();
    // Who closes first has to remember the connection for a minute.
    drop(server);
    drop((client, listener));
    listen_again(address.port()).unwrap();
}
