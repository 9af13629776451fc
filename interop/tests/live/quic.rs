//! QUIC between Undertone and the QUIC of js-libp2p, which is quinn, too, with another TLS and another muxer around it.

use undertone_interop::programs::WAKU_RELAY;

use crate::support::network::{Kind, line, quit, spread};

/// JavaScript, Undertone, JavaScript in a line: Undertone is dialled and dials.
#[tokio::test]
async fn messages_of_all_sizes_pass_between_js_libp2p_peers_through_undertone_over_quic() {
    let kinds = [Kind::Js, Kind::Undertone, Kind::Js];
    let over_quic = |kind: Kind| {
        kind.on(WAKU_RELAY)
            .option("listen", "/ip4/127.0.0.1/udp/0/quic-v1")
    };
    let mut peers = line(kinds.map(over_quic)).await;
    for peer in &peers {
        assert!(peer.addr().contains("/quic-v1"), "{}", peer.addr());
    }
    for (turn, size) in [100, 2_048, 150_000].into_iter().enumerate() {
        for from in 0..peers.len() {
            spread(&mut peers, from, (10 * turn + from) as u64, size).await;
        }
    }
    quit(peers).await;
}
