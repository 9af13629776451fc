//! What an earlier version left in its folder, and what it sent: opened, read and gone on with by this one.
//!
//! `UNDERTONE_UPGRADE_WRITE=1 cargo test -p undertone-node --test it assembled::upgrade::` writes the folder of the present version anew;
//! those of released versions stay as they are.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use undertone_gossip::{Limits, Topic, wire};
use undertone_message::{MessageHash, PubsubTopic, Shard, WakuMessage, message_hash};
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::config::NodeConfig;
use undertone_rln::RateLimitProof;
use undertone_services::history::{ContentCriteria, HistoryCriteria, HistoryQuery, PageDirection};

use crate::support::{Place, config, metrics_until};

/// Versions whose folders are kept.
const VERSIONS: [&str; 1] = ["0.1.0"];

/// File with what a folder must contain.
const EXPECTED: &str = "expected.json";

/// Longest file that is kept; tables of the prover are longer, and are made anew.
const FILE_BYTES_MAX: u64 = 256 << 10;

const CONTENT_TOPIC: &str = "/test/1/upgrade/proto";

/// One epoch until 2033, and an archive that forgets nothing by age.
const FLAGS: [(&str, &str); 5] = [
    ("shards", "0"),
    ("rln-epoch-s", "1000000000"),
    ("store", "true"),
    ("store-message-retention-policy", "capacity:1000"),
    ("rln-tokens", "0"),
];

/// Contents of a folder, as its version knew them.
#[derive(Debug, Serialize, Deserialize)]
struct Expected {
    peer_id: String,
    /// Hashes of the messages in the archive.
    stored: BTreeSet<String>,
    /// Texts of the messages in the send queue.
    queued: Vec<String>,
    /// Number of message ids of the epoch that were used.
    used_ids: u64,
    /// Frames with the messages of the archive, as they went to neighbours, in hexadecimal.
    frames: Vec<String>,
}

fn topic() -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, 0).unwrap())
}

fn message(text: &str) -> WakuMessage {
    WakuMessage::new(text.as_bytes().to_vec(), CONTENT_TOPIC)
}

fn kept(version: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/assembled");
    tests.join("upgrade").join(version)
}

/// Copies a folder's files, except those that are too long.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else if entry.metadata().unwrap().len() <= FILE_BYTES_MAX {
            fs::copy(path, to).unwrap();
        }
    }
}

/// Messages of the node's archive, oldest first.
async fn stored(node: &Assembled) -> Vec<(MessageHash, WakuMessage)> {
    let query = HistoryQuery {
        include_data: true,
        criteria: HistoryCriteria::Content(ContentCriteria {
            content_topics: vec![CONTENT_TOPIC.into()],
            ..ContentCriteria::default()
        }),
        cursor: None,
        direction: PageDirection::Forward,
        limit: 100,
    };
    let answer = node.services.handle.query_store(None, query).await.unwrap();
    let entries = answer.page.entries.into_iter();
    entries
        .map(|entry| (entry.hash, entry.data.unwrap().message))
        .collect()
}

/// Lets a node of this version work, and keeps what it leaves.
async fn write(into: &Path) {
    let place = Place::new();
    place.join(b"upgrade");
    let other = Place::with_registry_of(&place);
    let node = assemble(&place.config(&[], &FLAGS)).await.unwrap();
    let peers = [node.node.addresses[0].to_string()];
    let neighbour = assemble(&other.config(&peers, &FLAGS[..2])).await.unwrap();
    let mesh = format!("undertone_mesh_peers{{topic=\"{}\"}}", topic());
    metrics_until(&node, |now| now[&mesh] >= 1.0).await;
    for text in ["one", "two", "three"] {
        let handle = &node.node.handle;
        handle.publish(topic(), message(text)).await.unwrap();
    }
    let kept = "undertone_store_messages_total{outcome=\"kept\"}";
    metrics_until(&node, |now| now[kept] >= 3.0).await;
    neighbour.stop().await;
    metrics_until(&node, |now| now["undertone_peers"] == 0.0).await;
    let queued = ["four", "five"].map(str::to_owned);
    for text in &queued {
        let sender = node.services.handle.sender();
        sender.send(Some(topic()), message(text)).await.unwrap();
    }
    let stored = stored(&node).await;
    let name = Topic::new(&topic().to_string());
    let frame = |message: &WakuMessage| hex::encode(wire::message_frame(&name, &message.encode()));
    let expected = Expected {
        peer_id: node.node.peer_id.to_string(),
        stored: stored.iter().map(|(hash, _)| hash.to_string()).collect(),
        queued: queued.to_vec(),
        used_ids: 3,
        frames: stored.iter().map(|(_, message)| frame(message)).collect(),
    };
    assert!(node.stop().await.is_complete());
    let _ = fs::remove_dir_all(into);
    copy(place.folder.path(), into);
    let expected = serde_json::to_string_pretty(&expected).unwrap();
    fs::write(into.join(EXPECTED), expected + "\n").unwrap();
}

/// Checks that frames of another version are read as what they are.
fn read_frames(expected: &Expected) {
    let mut hashes = BTreeSet::new();
    for frame in &expected.frames {
        let frame = Bytes::from(hex::decode(frame).unwrap());
        let rpc = wire::decode(&wire::unframe(&frame).unwrap(), &Limits::default()).unwrap();
        let [published] = &rpc.messages[..] else {
            panic!("{rpc:?}");
        };
        assert_eq!(published.topic.as_str(), topic().to_string());
        let message = WakuMessage::decode(&published.data).unwrap();
        assert_eq!(message.encode(), published.data, "written as it was read");
        let proof = message.rate_limit_proof.as_ref().unwrap();
        let proof = RateLimitProof::decode(proof).unwrap();
        assert_eq!(proof.encode(), *message.rate_limit_proof.unwrap());
        let message = WakuMessage::decode(&published.data).unwrap();
        hashes.insert(message_hash(&topic().to_string(), &message).to_string());
    }
    assert_eq!(hashes, expected.stored);
}

/// Starts a node in the folder.
fn configured(folder: &Path, peers: &[String]) -> NodeConfig {
    config(folder, &folder.join("registry.sqlite"), peers, &FLAGS)
}

/// Message ids of the epoch that are left.
async fn ids_left(node: &Assembled) -> u64 {
    let metrics = node.node.handle.metrics().await.unwrap();
    metrics.rln.unwrap().allowance.unwrap().left
}

#[tokio::test]
async fn what_earlier_versions_left_is_opened_and_gone_on_with() {
    let present = env!("CARGO_PKG_VERSION");
    if std::env::var_os("UNDERTONE_UPGRADE_WRITE").is_some() {
        write(&kept(present)).await;
    }
    for version in VERSIONS {
        let folder = tempfile::tempdir().unwrap();
        copy(&kept(version), folder.path());
        let expected = fs::read_to_string(folder.path().join(EXPECTED)).unwrap();
        let expected: Expected = serde_json::from_str(&expected).unwrap();
        read_frames(&expected);
        let node = assemble(&configured(folder.path(), &[])).await.unwrap();
        assert_eq!(node.node.peer_id.to_string(), expected.peer_id, "{version}");
        assert!(node.may_publish, "{version}: the membership is gone");
        let hashes = stored(&node).await.into_iter();
        let hashes: BTreeSet<_> = hashes.map(|(hash, _)| hash.to_string()).collect();
        assert_eq!(hashes, expected.stored, "{version}");
        let left = ids_left(&node).await;
        assert!(left <= 100 - expected.used_ids, "{version}: {left} left");
        // A message that has waited for a day has its end; a younger one still waits. None is gone without a word.
        let sender = node.services.handle.sender();
        let waiting = sender.messages().await.unwrap();
        let reports = sender.reports(None).await.unwrap();
        let known = waiting.iter().map(|one| one.id);
        let known: BTreeSet<_> = known.chain(reports.iter().map(|one| one.id)).collect();
        assert_eq!(known.len(), expected.queued.len(), "{version}: {reports:?}");
        // The node goes on: with a neighbour it publishes under message ids that were never used.
        let other = Place::new();
        let registry = folder.path().join("registry.sqlite");
        let peers = [node.node.addresses[0].to_string()];
        let neighbour = config(other.folder.path(), &registry, &peers, &FLAGS[..2]);
        let neighbour = assemble(&neighbour).await.unwrap();
        let mesh = format!("undertone_mesh_peers{{topic=\"{}\"}}", topic());
        metrics_until(&node, |now| now[&mesh] >= 1.0).await;
        let published = node.node.handle.publish(topic(), message("six")).await;
        assert!(published.is_ok(), "{version}: {published:?}");
        let delivered = "undertone_messages_delivered_total";
        let now = metrics_until(&neighbour, |now| now[delivered] >= 1.0).await;
        assert_eq!(now["undertone_spammers_exposed_total"], 0.0, "{version}");
        for node in [neighbour, node] {
            assert!(node.stop().await.is_complete(), "{version}");
        }
    }
}
