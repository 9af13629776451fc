//! `undertone-peer` keeps to the line protocol.

use undertone_conformance::PeerProcess;
use undertone_conformance::protocol::Content;

use crate::live::support::TOPIC;
use crate::live::support::network::{Kind, MESHSUB, line, quit, start, waku_data};

async fn refusal(peer: &mut PeerProcess, data: &[u8]) -> String {
    let hex = hex::encode(data);
    let refused = peer.publish(TOPIC, Content::Raw { hex }).await;
    refused.unwrap_err().to_string()
}

#[tokio::test]
async fn refusals_say_why() {
    let mut peer = start(Kind::Undertone.on(MESHSUB)).await;
    let dead_end = "/ip4/127.0.0.1/tcp/1/p2p/12D3KooWPQMdtRqWXVSChz2B7kqRLXkHmqnMUUFhnX1w93JEdQ3L";
    let error = peer.connect(dead_end).await.unwrap_err().to_string();
    assert!(error.contains("cannot connect"), "{error}");
    let error = peer.connect("/ip4/127.0.0.1/tcp/1").await.unwrap_err();
    assert!(error.to_string().contains("/p2p/"), "{error}");
    let error = peer.subscribe("/waku/2/rs/7/0").await.unwrap_err();
    assert!(error.to_string().contains("not part of"), "{error}");

    let error = refusal(&mut peer, b"\x0a\x7fcut").await;
    assert!(error.contains("not a WakuMessage"), "{error}");
    // An unknown field, which the node would not send on.
    let mut data = waku_data(1, 100);
    data.extend_from_slice(&[12 << 3, 0]);
    let error = refusal(&mut peer, &data).await;
    assert!(error.contains("as they are"), "{error}");
    let error = refusal(&mut peer, &waku_data(1, 100)).await;
    assert!(error.contains("NoPeers"), "{error}");
    let error = peer.publish(TOPIC, Content::Stamped { seq: 1, size: 3 });
    assert!(error.await.unwrap_err().to_string().contains("16"));
    quit([peer]).await;
}

#[tokio::test]
async fn a_stamped_message_arrives_with_its_stamp() {
    let mut peers = line([Kind::Undertone; 2].map(|kind| kind.on(MESHSUB))).await;
    let (seq, size) = (7, 2_048);
    let content = Content::Stamped { seq, size };
    let id = peers[0].publish(TOPIC, content).await.unwrap();
    let message = peers[1].next_message().await.unwrap();
    assert_eq!(
        (message.seq, message.bytes, &message.id),
        (Some(7), 2_048, &id)
    );
    assert_eq!(message.from, peers[0].peer_id());
    assert!(message.head.starts_with("0000000000000007"));
    assert!(message.latency_ns.is_some());
    let subscribed = peers[0].peers(TOPIC).await.unwrap();
    assert_eq!(subscribed, [peers[1].peer_id()]);
    quit(peers).await;
}
