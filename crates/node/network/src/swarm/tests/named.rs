use std::net::TcpListener;

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::tcp;

use super::*;

/// Dials an address over TCP, and returns the error, if there is one.
async fn dial(address: &Multiaddr, trusted: &TrustedNames) -> Result<(), String> {
    let sockets = tcp::tokio::Transport::new(tcp::Config::default());
    let mut named = Named::system(sockets, trusted.clone()).unwrap();
    let options = DialOpts {
        role: Endpoint::Dialer,
        port_use: PortUse::New,
    };
    let dialled = named.dial(address.clone(), options).unwrap().await;
    dialled.map(drop).map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_name_leads_into_a_private_network_only_if_the_operator_gave_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let address = |host: &str| -> Multiaddr { format!("/{host}/tcp/{port}").parse().unwrap() };
    let named = address("dns4/localhost");

    let trusted = TrustedNames::default();
    trusted.trust(&address("dns4/example.org"));
    let refused = dial(&named, &trusted).await.unwrap_err();
    let resolved = address("ip4/127.0.0.1");
    assert!(refused.contains(&resolved.to_string()), "{refused}");

    // Without the check, the transport would dial the last of several hosts.
    let twofold = address("ip4/20.0.0.1/ip4/127.0.0.1");
    dial(&twofold, &trusted).await.unwrap_err();

    trusted.trust(&address("dns/LocalHost"));
    dial(&named, &trusted).await.unwrap();
    dial(&named, &TrustedNames::all()).await.unwrap();
}

/// Hole punching dials any address that the peer names, and the next request reveals the outcome to
/// the peer.
#[tokio::test]
async fn an_address_of_a_private_network_is_dialled_only_if_the_operator_gave_it() {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [given, other] = listeners.each_ref().map(|listener| -> Multiaddr {
        let port = listener.local_addr().unwrap().port();
        format!("/ip4/127.0.0.1/tcp/{port}").parse().unwrap()
    });
    let trusted = TrustedNames::default();
    dial(&given, &trusted).await.unwrap_err();
    trusted.trust(&given);
    dial(&given, &trusted).await.unwrap();
    // Another port of the same host is still untrusted.
    dial(&other, &trusted).await.unwrap_err();
    listeners[1].set_nonblocking(true).unwrap();
    assert!(listeners[1].accept().is_err(), "no packet was sent there");
    dial(&other, &TrustedNames::all()).await.unwrap();
}
