//! js-waku's relay on WebSocket, noise and mplex, with Waku's own validation.

use undertone_conformance::programs::{self, WAKU_RELAY};
use undertone_conformance::protocol::Content;

use crate::live::support::TOPIC;
use crate::live::support::network::{HEARTBEAT_MS, Kind, quit, start};

/// js-waku, Undertone, js-waku in a line: Undertone is dialled and dials.
#[tokio::test]
async fn messages_pass_between_js_waku_relays_through_undertone() {
    let js_waku = || {
        let command = programs::js_waku_relay().unwrap();
        command
            .option("heartbeat-ms", HEARTBEAT_MS)
            .option("cluster", 66)
            .option("shard", 3)
    };
    let undertone = Kind::Undertone.on(WAKU_RELAY);
    let undertone = undertone.option("listen", "/ip4/127.0.0.1/tcp/0");
    let undertone = undertone.option("listen", "/ip4/127.0.0.1/tcp/0/ws");
    let mut undertone = start(undertone).await;
    let (first, mut last) = (start(js_waku()).await, start(js_waku()).await);
    undertone.connect(first.addr()).await.unwrap();
    let websocket = undertone.websocket_addr().unwrap().to_owned();
    last.connect(&websocket).await.unwrap();

    let mut peers = [first, undertone, last];
    for (peer, neighbours) in peers.iter_mut().zip([1, 2, 1]) {
        peer.wait_mesh(TOPIC, neighbours).await.unwrap();
    }
    for (turn, size) in [100, 2_048, 100 << 10].into_iter().enumerate() {
        for from in 0..peers.len() {
            let seq = (10 * turn + from) as u64;
            let content = Content::Stamped { seq, size };
            let id = peers[from].publish(TOPIC, content).await.unwrap();
            for (index, peer) in peers.iter_mut().enumerate() {
                if index != from {
                    let message = peer.next_message().await.unwrap();
                    let got = (message.seq, message.bytes, message.id);
                    assert_eq!(got, (Some(seq), size, id.clone()), "{}", peer.label());
                }
            }
        }
    }
    quit(peers).await;
}

/// As a page on the Internet does, which may open no other WebSocket.
#[tokio::test]
async fn a_js_waku_relay_that_trusts_the_certificate_connects_over_wss() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (
        folder.path().join("chain.pem"),
        folder.path().join("key.pem"),
    );
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.key_pair.serialize_pem()).unwrap();
    let undertone = Kind::Undertone.on(WAKU_RELAY);
    let undertone = undertone
        .option("listen", "/ip4/127.0.0.1/tcp/0/wss")
        .option("certificate", certificate.display())
        .option("key", key.display());
    let js_waku = programs::js_waku_relay().unwrap();
    let js_waku = js_waku
        .option("heartbeat-ms", HEARTBEAT_MS)
        .variable("NODE_EXTRA_CA_CERTS", &certificate);
    let mut peers = [start(undertone).await, start(js_waku).await];
    let address = peers[0].addr().to_owned();
    assert!(address.contains("/wss/p2p/"), "{address}");
    peers[1].connect(&address).await.unwrap();
    for peer in &mut peers {
        peer.wait_mesh(TOPIC, 1).await.unwrap();
    }
    let content = Content::Stamped {
        seq: 1,
        size: 100 << 10,
    };
    let id = peers[1].publish(TOPIC, content).await.unwrap();
    let message = peers[0].next_message().await.unwrap();
    assert_eq!((message.seq, message.id), (Some(1), id));
    quit(peers).await;
}
