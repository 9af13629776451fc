//! Synchronisation of real nodes over TCP.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use libp2p::swarm::Stream;
use libp2p::{PeerId, StreamProtocol};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use tempfile::TempDir;
use tokio::sync::mpsc;
use undertone_archive::{Archive, ArchiveUrl};
use undertone_message::{MessageHash, MessageLimits, NetworkPreset, WakuMessage};
use undertone_relay::RelayConfig;
use undertone_services::history::StoredMessage;
use undertone_services::sync::{RECONCILIATION_PROTOCOL_ID, TRANSFER_PROTOCOL_ID};

use super::settings::{SyncBounds, SyncTimes};
use super::*;
use crate::services::keeper::unix_now_ns;
use crate::services::service_peers::ServicePeers;
use undertone_network::driver::{NodeOptions, RunningNode, start as start_node};
use undertone_network::swarm::{InboundStream, ServiceStreams, StreamChannels, StreamOpener};

mod equal;
mod hostile;
mod liars;
mod raw;

const TOPIC: &str = "/waku/2/rs/66/0";

/// Guards against hangs only.
const HANG: Duration = Duration::from_secs(60);

/// Node that carries the streams of synchronisation and no messages.
async fn bare_node() -> (RunningNode, StreamChannels, ServicePeers) {
    let (news_in, news) = mpsc::unbounded_channel();
    let preset = NetworkPreset::by_name("local").unwrap();
    let mut relay = RelayConfig::for_network(&preset);
    relay.rln = None;
    let protocols = accepted().map(StreamProtocol::new);
    let (streams, channels) = ServiceStreams::new(protocols.to_vec());
    let options = NodeOptions::for_network(&preset)
        .listen(["/ip4/127.0.0.1/tcp/0".parse().unwrap()])
        .relay(relay)
        .services(streams)
        .peer_news(news_in);
    let node = start_node(options).await.unwrap();
    let rng = ChaCha8Rng::seed_from_u64(2);
    let cluster = preset.cluster_id;
    let peers = ServicePeers::start(Default::default(), cluster, node.handle.clone(), news, rng);
    (node, channels, peers)
}

/// Node with an archive that it synchronises, and no other service.
struct Store {
    node: RunningNode,
    archive: Archive,
    index: SyncIndex,
    sync: SyncHandle,
    _folder: TempDir,
}

impl Store {
    /// Store that begins sessions only when it is told to.
    async fn start() -> Self {
        Self::within(SyncBounds::default(), Duration::ZERO).await
    }

    async fn within(bounds: SyncBounds, interval: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = ArchiveUrl::sqlite(folder.path().join("store"));
        let archive = Archive::open(&url, Default::default()).await.unwrap();
        let (node, channels, peers) = bare_node().await;
        let StreamChannels {
            opener,
            mut inbound,
            ..
        } = channels;
        let index = SyncIndex::new(bounds.limits);
        let options = SyncOptions {
            times: SyncTimes {
                interval,
                range: Duration::from_secs(3600),
                relay_jitter: Duration::from_secs(20),
            },
            bounds,
            index: index.clone(),
        };
        let parts = SyncParts {
            node: node.handle.clone(),
            own: node.peer_id,
            streams: opener,
            archive: archive.clone(),
            check: HistoryCheck::new(MessageLimits::default(), None),
            topics: vec![TOPIC.into()],
            peers,
            store_peers: Arc::from([]),
            rng: ChaCha8Rng::seed_from_u64(1),
        };
        let (sync, streams) = start(options, parts);
        tokio::spawn(async move {
            while let Some(stream) = inbound.recv().await {
                let _ = streams.try_send(stream);
            }
        });
        Self {
            node,
            archive,
            index,
            sync,
            _folder: folder,
        }
    }

    fn peer(&self) -> PeerId {
        self.node.peer_id
    }

    async fn connect(&self, other: &RunningNode) {
        let address = other.addresses[0].clone();
        let address = address.with_p2p(other.peer_id).unwrap();
        self.node.handle.connect(address).await.unwrap();
    }

    async fn keep(&self, messages: &[StoredMessage]) {
        self.archive.insert(messages.to_vec()).await.unwrap();
        self.index.add(messages);
    }

    /// Hashes of the archive.
    async fn hashes(&self) -> BTreeSet<MessageHash> {
        let all = self.archive.hashes(0, i64::MAX, usize::MAX).await.unwrap();
        all.into_iter().map(|(_, hash)| hash).collect()
    }

    fn refused(&self, reason: &str) -> u64 {
        let totals = self.sync.totals();
        totals.refused.get(reason).copied().unwrap_or_default()
    }
}

/// Message of a minute ago.
fn message(number: u64) -> StoredMessage {
    message_at(
        number,
        unix_now_ns() - 60_000_000_000 - number as i64 * 1_000_000,
    )
}

fn message_at(number: u64, timestamp_ns: i64) -> StoredMessage {
    let mut message = WakuMessage::new(number.to_be_bytes().to_vec(), "/test/1/a/proto");
    message.timestamp = Some(timestamp_ns);
    message.rate_limit_proof = Some(b"proof".to_vec().into());
    StoredMessage::new(TOPIC, message)
}

fn hashes_of<'a>(messages: impl IntoIterator<Item = &'a StoredMessage>) -> BTreeSet<MessageHash> {
    messages.into_iter().map(|one| one.hash).collect()
}

/// Waits until something is so.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let waits = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(HANG, waits).await;
    assert!(waited.is_ok(), "never: {what}");
}
