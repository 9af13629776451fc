//! Names of the transports that connections use.

use libp2p::Multiaddr;
use libp2p::core::ConnectedPoint;
use libp2p::multiaddr::Protocol;

/// Returns the transport of a connection: `tcp`, `ws`, `wss` or `quic`, or `relay` if it leads through another node. It
/// is read from the dialled address, because the addresses that a peer announces do not show which one was used.
pub(crate) fn of_connection(endpoint: &ConnectedPoint) -> &'static str {
    match endpoint {
        ConnectedPoint::Dialer { address, .. } => of_address(address),
        ConnectedPoint::Listener { local_addr, .. } => of_address(local_addr),
    }
}

fn of_address(address: &Multiaddr) -> &'static str {
    let mut name = "tcp";
    for part in address {
        name = match part {
            Protocol::P2pCircuit => return "relay",
            Protocol::Ws(_) if name == "tls" => "wss",
            Protocol::Ws(_) => "ws",
            Protocol::Wss(_) => "wss",
            Protocol::Tls => "tls",
            Protocol::Quic | Protocol::QuicV1 => "quic",
            _ => name,
        };
    }
    name
}

#[cfg(test)]
mod tests {
    use libp2p::core::Endpoint;
    use libp2p::core::transport::PortUse;

    use super::*;

    #[test]
    fn a_transport_is_read_from_the_address() {
        for (address, expected) in [
            ("/ip4/1.2.3.4/tcp/1", "tcp"),
            ("/ip4/1.2.3.4/tcp/1/ws", "ws"),
            ("/dns4/a.example/tcp/1/wss", "wss"),
            ("/dns4/a.example/tcp/1/tls/ws", "wss"),
            ("/ip4/1.2.3.4/udp/1/quic-v1", "quic"),
            (
                "/ip4/1.2.3.4/tcp/1/p2p/16Uiu2HAm5BA5KRSvW6kR2tPxtrZKTgtRagj5b5tTF9hJxuZ5sMuP/p2p-circuit",
                "relay",
            ),
        ] {
            assert_eq!(of_address(&address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn the_address_that_was_dialled_counts() {
        let dialled: Multiaddr = "/ip4/1.2.3.4/tcp/8000/ws".parse().unwrap();
        let other: Multiaddr = "/ip4/5.6.7.8/tcp/50000".parse().unwrap();
        let inbound = ConnectedPoint::Listener {
            local_addr: dialled.clone(),
            send_back_addr: other,
        };
        let outbound = ConnectedPoint::Dialer {
            address: dialled,
            role_override: Endpoint::Dialer,
            port_use: PortUse::Reuse,
        };
        assert_eq!(of_connection(&inbound), "ws");
        assert_eq!(of_connection(&outbound), "ws");
    }
}
