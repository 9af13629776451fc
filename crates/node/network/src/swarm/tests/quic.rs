use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;

use super::*;

fn address(text: &str) -> Multiaddr {
    text.parse().expect("a constant")
}

#[tokio::test]
async fn other_addresses_are_left_to_the_next_transport() {
    let keypair = Keypair::generate_ed25519();
    let transport = build(&keypair, &TrustedNames::default());
    let mut transport = transport.expect("DNS is configured");
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
    assert_eq!(config.max_concurrent_stream_limit, 128);
}
