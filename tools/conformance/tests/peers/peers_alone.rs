//! The peer programs among themselves: what a test against them can rely on.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

use std::path::Path;

use undertone_conformance::protocol::Content;
use undertone_conformance::{PeerCommand, PeerProcess, programs};

const TOPIC: &str = "/waku/2/rs/66/3";
const HEARTBEAT_MS: u64 = 200;

fn js() -> PeerCommand {
    programs::js_gossipsub()
        .unwrap()
        .option("heartbeat-ms", HEARTBEAT_MS)
}

fn rust() -> PeerCommand {
    let program = Path::new(env!("CARGO_BIN_EXE_gossipsub-peer"));
    PeerCommand::new("rust-gossipsub", program).option("heartbeat-ms", HEARTBEAT_MS)
}

fn on_waku_id(command: PeerCommand) -> PeerCommand {
    command.option("protocol", programs::WAKU_RELAY)
}

/// Starts the peers, each connected to the one before it, and waits until neighbours share a mesh.
async fn line(commands: &[PeerCommand]) -> Vec<PeerProcess> {
    let mut peers: Vec<PeerProcess> = Vec::new();
    for command in commands {
        let mut peer = PeerProcess::spawn(command).await.unwrap();
        peer.subscribe(TOPIC).await.unwrap();
        if let Some(before) = peers.last() {
            assert_eq!(peer.connect(before.addr()).await.unwrap(), before.peer_id());
        }
        peers.push(peer);
    }
    let last = peers.len() - 1;
    for (index, peer) in peers.iter_mut().enumerate() {
        let neighbours = usize::from(index > 0) + usize::from(index < last);
        peer.wait_mesh(TOPIC, neighbours).await.unwrap();
        assert_eq!(peer.peers(TOPIC).await.unwrap().len(), neighbours);
    }
    peers
}

/// Publishes at `from`; everyone else must receive it once, with the same id.
async fn spread(peers: &mut [PeerProcess], from: usize, seq: u64, size: usize) {
    let id = peers[from]
        .publish(TOPIC, Content::Stamped { seq, size })
        .await
        .unwrap();
    for (index, peer) in peers.iter_mut().enumerate() {
        if index != from {
            let message = peer.next_message().await.unwrap();
            assert_eq!(
                (message.topic.as_str(), &message.id),
                (TOPIC, &id),
                "{}",
                peer.label()
            );
            assert_eq!(
                (message.seq, message.bytes),
                (Some(seq), size),
                "{}",
                peer.label()
            );
        }
    }
}

async fn quit(peers: Vec<PeerProcess>) {
    for mut peer in peers {
        assert_eq!(
            peer.try_message(),
            None,
            "{} received a message twice",
            peer.label()
        );
        peer.quit().await.unwrap();
    }
}

#[tokio::test]
async fn javascript_and_rust_share_a_mesh_on_the_waku_id() {
    let mut peers = line(&[on_waku_id(js()), on_waku_id(rust())]).await;
    for (seq, size) in [(1, 100), (2, 2_048), (3, 150 << 10), (4, 1_000_000)] {
        spread(&mut peers, 0, seq, size).await;
        spread(&mut peers, 1, seq + 10, size).await;
    }
    quit(peers).await;
}

#[tokio::test]
async fn messages_are_forwarded_across_implementations() {
    let mut peers = line(&[js(), rust(), js(), rust()]).await;
    for from in 0..peers.len() {
        spread(&mut peers, from, 1 + from as u64, 25 << 10).await;
    }
    quit(peers).await;
}

#[tokio::test]
async fn grafts_and_prunes_are_counted_on_both_sides() {
    let mut peers = line(&[rust(), js()]).await;
    let [rust, js] = &mut peers[..] else {
        unreachable!("two peers were started")
    };

    let grafted = rust.control().await.unwrap();
    assert!(
        grafted.sent.graft + grafted.received.graft >= 1,
        "{grafted:?}"
    );
    js.unsubscribe(TOPIC).await.unwrap();
    rust.wait_control(|control| control.received.prune == 1)
        .await
        .unwrap();
    rust.unsubscribe(TOPIC).await.unwrap();

    let (rust, js) = (rust.control().await.unwrap(), js.control().await.unwrap());
    assert_eq!(rust.received.graft, js.sent.graft);
    assert_eq!(rust.sent.graft, js.received.graft);
    assert_eq!(rust.received.prune, js.sent.prune);
    assert!(rust.received.prune_backoff_s.is_some());
    assert_eq!(rust.received.prune_backoff_s, js.sent.prune_backoff_s);
    quit(peers).await;
}

#[tokio::test]
async fn idontwant_flows_on_the_libraries_own_ids() {
    let mut peers = line(&[js(), rust(), js()]).await;
    spread(&mut peers, 0, 1, 25 << 10).await;
    peers[2]
        .wait_control(|control| control.received.idontwant == 1)
        .await
        .unwrap();
    assert_eq!(peers[1].control().await.unwrap().sent.idontwant, 1);
    quit(peers).await;

    let mut peers = line(&[rust(), js(), rust()]).await;
    spread(&mut peers, 0, 1, 25 << 10).await;
    peers[2]
        .wait_control(|control| control.received.idontwant == 1)
        .await
        .unwrap();
    assert_eq!(peers[1].control().await.unwrap().sent.idontwant, 1);
    quit(peers).await;
}

#[tokio::test]
async fn neither_library_sends_idontwant_on_the_waku_id() {
    let mut peers = line(&[js(), rust(), js(), rust()].map(on_waku_id)).await;
    spread(&mut peers, 0, 1, 25 << 10).await;
    // It would have left before the message did, and the last peer has that.
    for peer in &mut peers {
        assert_eq!(
            peer.control().await.unwrap().sent.idontwant,
            0,
            "{}",
            peer.label()
        );
    }
    quit(peers).await;
}

#[tokio::test]
async fn js_waku_relays_exchange_valid_messages() {
    let command = programs::js_waku_relay()
        .unwrap()
        .option("heartbeat-ms", HEARTBEAT_MS)
        .option("cluster", 66)
        .option("shard", 3);
    let mut peers = line(&[command.clone(), command]).await;
    for (seq, size) in [(1, 100), (2, 150 << 10)] {
        spread(&mut peers, 0, seq, size).await;
        spread(&mut peers, 1, seq + 10, size).await;
    }
    quit(peers).await;
}

#[tokio::test]
async fn refusals_reach_the_driver() {
    for command in [js(), rust()] {
        let mut peer = PeerProcess::spawn(&command).await.unwrap();
        let dead_end =
            "/ip4/127.0.0.1/tcp/1/p2p/12D3KooWPQMdtRqWXVSChz2B7kqRLXkHmqnMUUFhnX1w93JEdQ3L";
        peer.connect(dead_end).await.unwrap_err();
        peer.publish(TOPIC, Content::Stamped { seq: 1, size: 3 })
            .await
            .unwrap_err();
        peer.publish(
            TOPIC,
            Content::Raw {
                hex: "abc".to_owned(),
            },
        )
        .await
        .unwrap_err();
        peer.quit().await.unwrap();
    }
}
