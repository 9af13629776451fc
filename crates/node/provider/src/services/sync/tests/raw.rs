//! Peer that speaks the protocols as a test says.

use bytes::Bytes;
use undertone_services::sync::{
    ItemSet, RangeContent, RangesPayload, SyncId, SyncRange, TransferMessage,
};

use super::*;
use crate::services::framing::{read_frame, write_frame};
use undertone_network::swarm::StreamOpenError;

/// Peer that speaks the protocols as a test says.
pub(super) struct RawPeer {
    pub(super) node: RunningNode,
    pub(super) streams: StreamOpener,
    pub(super) inbound: mpsc::UnboundedReceiver<InboundStream>,
}

impl RawPeer {
    /// Starts a peer that is connected to a store.
    pub(super) async fn of(store: &Store) -> Self {
        let (node, channels, _) = bare_node().await;
        store.connect(&node).await;
        Self {
            node,
            streams: channels.opener,
            inbound: channels.inbound,
        }
    }

    pub(super) fn peer(&self) -> PeerId {
        self.node.peer_id
    }

    /// Opens a stream of reconciliation to the store.
    pub(super) async fn begin(&self, store: &Store) -> Stream {
        self.open(store, RECONCILIATION_PROTOCOL_ID).await
    }

    /// Opens a stream of transfer to the store.
    pub(super) async fn transfer(&self, store: &Store) -> Stream {
        self.open(store, TRANSFER_PROTOCOL_ID).await
    }

    async fn open(&self, store: &Store, protocol: &'static str) -> Stream {
        let protocol = StreamProtocol::new(protocol);
        let opened = async {
            loop {
                match self.streams.open(store.peer(), protocol.clone()).await {
                    // The store has dialled, and this side hears of it a moment later.
                    Err(StreamOpenError::NotConnected) => {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    opened => return opened.unwrap(),
                }
            }
        };
        tokio::time::timeout(HANG, opened).await.unwrap()
    }

    /// Waits for a stream of the store.
    pub(super) async fn accept(&mut self) -> InboundStream {
        let next = tokio::time::timeout(HANG, self.inbound.recv());
        next.await.unwrap().unwrap()
    }

    /// Begins a session in which the peer says that it has these messages alone, and reads the answer.
    pub(super) async fn name(&self, store: &Store, messages: &[StoredMessage]) -> Stream {
        let mut stream = self.begin(store).await;
        say(&mut stream, &naming(messages)).await;
        assert!(hear(&mut stream).await.is_some(), "the store answers");
        stream
    }
}

pub(super) fn id(message: &StoredMessage) -> SyncId {
    SyncId {
        time_ns: u64::try_from(message.message.timestamp_ns()).unwrap(),
        hash: message.hash,
    }
}

/// Payload that names messages and nothing else.
pub(super) fn naming(messages: &[StoredMessage]) -> Vec<u8> {
    let mut elements: Vec<_> = messages.iter().map(id).collect();
    elements.sort_unstable();
    let now_ns = u64::try_from(unix_now_ns()).unwrap();
    let first_ns = elements.first().map_or(now_ns - 1, |id| id.time_ns);
    let last_ns = elements.last().map_or(now_ns, |id| id.time_ns + 1);
    payload(SyncRange {
        lower: SyncId::at(first_ns),
        upper: SyncId::at(last_ns),
        content: RangeContent::Items(ItemSet {
            elements,
            reconciled: true,
        }),
    })
}

pub(super) fn payload(range: SyncRange) -> Vec<u8> {
    let payload = RangesPayload {
        pubsub_topics: vec![TOPIC.into()],
        content_topics: Vec::new(),
        ranges: vec![range],
    };
    payload.encode()
}

pub(super) fn frame(message: &StoredMessage) -> Vec<u8> {
    let frame = TransferMessage {
        pubsub_topic: message.pubsub_topic.clone(),
        message: message.message.clone(),
    };
    frame.encode()
}

/// Writes a frame; the other side may have ended the stream.
pub(super) async fn say(stream: &mut Stream, bytes: &[u8]) {
    let _ = write_frame(stream, bytes).await;
}

/// Reads a frame; `None` when the other side has ended the stream.
pub(super) async fn hear(stream: &mut Stream) -> Option<Bytes> {
    let read = tokio::time::timeout(HANG, read_frame(stream, usize::MAX));
    read.await.unwrap().ok().flatten()
}
