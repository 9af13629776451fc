//! js-libp2p's QUIC, which is no part of it but a package of ChainSafe's, and ours.

use undertone_conformance::PeerCommand;
use undertone_conformance::programs::WAKU_RELAY;

use crate::live::support::TOPIC;
use crate::live::support::network::{Kind, MESHSUB, quit, spread, start};

/// A peer that listens on QUIC alone, so that whoever reaches it uses QUIC.
fn on_quic(kind: Kind, protocol: &str) -> PeerCommand {
    let command = kind.on(protocol);
    command.option("listen", "/ip4/127.0.0.1/udp/0/quic-v1")
}

/// js-libp2p, Undertone, js-libp2p in a line: Undertone dials and is dialled.
async fn messages_pass(protocol: &str) {
    let mut undertone = start(on_quic(Kind::Undertone, protocol)).await;
    let first = start(on_quic(Kind::Js, protocol)).await;
    let mut last = start(on_quic(Kind::Js, protocol)).await;
    for peer in [&undertone, &first] {
        assert!(peer.addr().contains("/quic-v1/p2p/"), "{}", peer.addr());
    }
    undertone.connect(first.addr()).await.unwrap();
    last.connect(undertone.addr()).await.unwrap();

    let mut peers = [first, undertone, last];
    for (peer, neighbours) in peers.iter_mut().zip([1, 2, 1]) {
        peer.wait_mesh(TOPIC, neighbours).await.unwrap();
    }
    for (turn, size) in (0..).zip([100, 2_048, 150_000]) {
        for from in 0..peers.len() {
            spread(&mut peers, from, 10 * turn + from as u64, size).await;
        }
    }
    quit(peers).await;
}

#[tokio::test]
async fn messages_pass_over_quic_on_gossipsubs_own_id() {
    messages_pass(MESHSUB).await;
}

#[tokio::test]
async fn messages_pass_over_quic_on_wakus_id() {
    messages_pass(WAKU_RELAY).await;
}
