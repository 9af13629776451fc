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

#[test]
fn an_address_through_a_relay_is_the_relays_kind_no_more() {
    let relay =
        "/ip4/1.2.3.4/udp/60000/quic-v1/p2p/16Uiu2HAmPLe7Mzm8TsYUubgCAW1aJoeFScxrLj8ppHFivPo97bUZ";
    assert!(is_quic(&address(relay)) && !is_relayed(&address(relay)));
    let through = format!("{relay}/p2p-circuit");
    assert!(!is_quic(&address(&through)) && is_relayed(&address(&through)));
}
