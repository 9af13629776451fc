//! Networks of peer programs.

use std::path::Path;

use undertone_conformance::protocol::Content;
use undertone_conformance::{PeerCommand, PeerProcess, programs};
use undertone_message::WakuMessage;

use super::TOPIC;

/// Short, so that tests need not wait.
pub(crate) const HEARTBEAT_MS: u64 = 200;
/// GossipSub's own id, with IDONTWANT.
pub(crate) const MESHSUB: &str = "/meshsub/1.2.0";

/// What a peer is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Undertone,
    Rust,
    Js,
}

/// The implementations that Undertone has to get along with.
pub(crate) const OTHERS: [Kind; 2] = [Kind::Rust, Kind::Js];

impl Kind {
    /// Whether its PRUNE carries a backoff. The JavaScript library sends none on an id it does not know.
    pub(crate) fn sends_backoff(self, protocol: &str) -> bool {
        self != Self::Js || protocol == MESHSUB
    }

    /// A peer of this kind on one protocol id.
    pub(crate) fn on(self, protocol: &str) -> PeerCommand {
        let command = match self {
            Self::Undertone => {
                let program = Path::new(env!("CARGO_BIN_EXE_undertone-peer"));
                PeerCommand::new("undertone", program).option("protocol", protocol)
            }
            Self::Rust => {
                let program = Path::new(env!("CARGO_BIN_EXE_gossipsub-peer"));
                let command = PeerCommand::new("rust-gossipsub", program);
                // Named, its own id would count as version 1.1.
                if protocol == MESHSUB {
                    command
                } else {
                    command.option("protocol", protocol)
                }
            }
            Self::Js => programs::js_gossipsub()
                .unwrap()
                .option("protocol", protocol),
        };
        command.option("heartbeat-ms", HEARTBEAT_MS)
    }
}

/// Starts a peer and joins the topic.
pub(crate) async fn start(command: PeerCommand) -> PeerProcess {
    let mut peer = PeerProcess::spawn(&command).await.unwrap();
    peer.subscribe(TOPIC).await.unwrap();
    peer
}

/// Starts the peers, each connected to the one before it, and waits until neighbours share a mesh.
pub(crate) async fn line(commands: impl IntoIterator<Item = PeerCommand>) -> Vec<PeerProcess> {
    let mut peers: Vec<PeerProcess> = Vec::new();
    for command in commands {
        let mut peer = start(command).await;
        if let Some(before) = peers.last() {
            peer.connect(before.addr()).await.unwrap();
        }
        peers.push(peer);
    }
    let last = peers.len() - 1;
    for (index, peer) in peers.iter_mut().enumerate() {
        let neighbours = usize::from(index > 0) + usize::from(index < last);
        peer.wait_mesh(TOPIC, neighbours).await.unwrap();
    }
    peers
}

/// A gossip message's data: a valid `WakuMessage` whose payload has `size` bytes and follows from `seq`.
pub(crate) fn waku_data(seq: u64, size: usize) -> Vec<u8> {
    let mut payload = vec![seq.to_be_bytes()[7]; size.max(8)];
    payload[..8].copy_from_slice(&seq.to_be_bytes());
    let timestamp = 1_700_000_000_000_000_000 + i64::try_from(seq).unwrap();
    let message = WakuMessage {
        timestamp: Some(timestamp),
        ..WakuMessage::new(payload, "/undertone/1/interop/proto")
    };
    message.encode()
}

/// Publishes a `WakuMessage`; the same bytes whatever the kind of the publisher.
pub(crate) async fn publish(peer: &mut PeerProcess, seq: u64, size: usize) -> String {
    let hex = hex::encode(waku_data(seq, size));
    peer.publish(TOPIC, Content::Raw { hex }).await.unwrap()
}

/// The next message at `peer` must be this one.
pub(crate) async fn expect_message(peer: &mut PeerProcess, id: &str) {
    let message = peer.next_message().await.unwrap();
    assert_eq!(
        (message.topic.as_str(), message.id.as_str()),
        (TOPIC, id),
        "{}",
        peer.label()
    );
}

/// Publishes at `from`; everyone else must receive it once, with the same id.
pub(crate) async fn spread(peers: &mut [PeerProcess], from: usize, seq: u64, size: usize) {
    let id = publish(&mut peers[from], seq, size).await;
    for (index, peer) in peers.iter_mut().enumerate() {
        if index != from {
            expect_message(peer, &id).await;
        }
    }
}

/// Ends the peers; none of them may have a message left.
pub(crate) async fn quit(peers: impl IntoIterator<Item = PeerProcess>) {
    for mut peer in peers {
        let left = peer.try_message();
        assert_eq!(left, None, "{} received a message twice", peer.label());
        peer.quit().await.unwrap();
    }
}
