use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;

use super::*;

fn address(text: &str) -> Multiaddr {
    text.parse().expect("a constant")
}

#[test]
fn addresses_of_quic_are_known_by_their_version() {
    assert!(is_quic(&address("/ip4/1.2.3.4/udp/60000/quic-v1")));
    assert!(is_quic(&address("/dns4/node.example/udp/60000/quic-v1")));
    assert!(!is_quic(&address("/ip4/1.2.3.4/udp/9000")));
    assert!(!is_quic(&address("/ip4/1.2.3.4/tcp/60000")));
}

#[tokio::test]
async fn other_addresses_are_left_to_the_next_transport() {
    let mut transport = build(&Keypair::generate_ed25519()).expect("DNS is configured");
    for other in ["/ip4/1.2.3.4/tcp/1", "/dns4/node.example/tcp/8000/ws"] {
        let options = DialOpts {
            role: Endpoint::Dialer,
            port_use: PortUse::Reuse,
        };
        let refused = transport.dial(address(other), options).map(drop);
        let refused = refused.expect_err("it is not of QUIC");
        assert!(matches!(refused, TransportError::MultiaddrNotSupported(_)));
    }
}

#[test]
fn a_connection_is_dead_after_three_lost_packets_and_holds_what_one_of_yamux_may() {
    let config = config(&Keypair::generate_ed25519());
    let silence = Duration::from_millis(u64::from(config.max_idle_timeout));
    assert!(config.keep_alive_interval * 3 < silence);
    assert!(config.max_stream_data >= 2 << 20 && config.max_connection_data <= 6 << 20);
    assert!(config.max_stream_data < config.max_connection_data);
    assert_eq!(config.max_concurrent_stream_limit, 16);
}
