use std::net::TcpListener;

use futures::future::poll_fn;
use futures::{AsyncReadExt as _, AsyncWriteExt as _};
use libp2p::core::Endpoint;
use libp2p::core::muxing::StreamMuxerExt as _;
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

/// Streams of the connection that a client of mplex has; reading and writing them drives it.
async fn mplex_client(address: Multiaddr) -> StreamMuxerBox {
    let keypair = Keypair::generate_ed25519();
    let client = tcp::tokio::Transport::new(tcp::Config::default())
        .upgrade(Version::V1)
        .authenticate(noise::Config::new(&keypair).expect("any key does"))
        .multiplex(libp2p_mplex::Config::default())
        .map(|(_, muxer), _| StreamMuxerBox::new(muxer));
    let options = DialOpts {
        role: Endpoint::Dialer,
        port_use: PortUse::New,
    };
    client
        .boxed()
        .dial(address, options)
        .expect("an address of TCP")
        .await
        .expect("somebody listens")
}

/// A client in a browser keeps seven streams ready, and opens one for each request.
#[tokio::test]
async fn a_client_of_mplex_has_forty_requests_at_once() {
    let limits = ConnectionLimits::with_total(10);
    let (keypair, names) = (Keypair::generate_ed25519(), TrustedNames::default());
    let certificate = RenewedCertificate::default();
    let mut server = build(&keypair, limits, false, certificate, None, &names).unwrap();
    let any = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
    server.listen_on(ListenerId::next(), any).unwrap();
    let mut client = None;
    let (_, mut accepted) = loop {
        match server.select_next_some().await {
            TransportEvent::NewAddress { listen_addr, .. } => {
                client = Some(tokio::spawn(mplex_client(listen_addr)));
            }
            TransportEvent::Incoming { upgrade, .. } => break upgrade.await.unwrap(),
            _ => {}
        }
    };
    // The node answers each stream with what it brings.
    let node = tokio::spawn(async move {
        while let Ok(mut stream) = poll_fn(|cx| accepted.poll_inbound_unpin(cx)).await {
            tokio::spawn(async move {
                let mut byte = [0];
                while stream.read_exact(&mut byte).await.is_ok() {
                    stream.write_all(&byte).await?;
                    stream.flush().await?;
                }
                io::Result::Ok(())
            });
        }
    });
    let mut client = client.unwrap().await.unwrap();
    let mut open = Vec::new();
    for _ in 0..47 {
        open.push(poll_fn(|cx| client.poll_outbound_unpin(cx)).await.unwrap());
    }
    for (n, stream) in open.iter_mut().skip(7).enumerate() {
        stream.write_all(&[7]).await.unwrap();
        stream.flush().await.unwrap();
        let mut byte = [0];
        let answer = stream.read_exact(&mut byte).await;
        assert!(answer.is_ok(), "request {n} was reset: {answer:?}");
    }
    node.abort();
}
