//! Feed of the services: messages validated by the relay, each with its hash.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use undertone_services::history::StoredMessage;

use super::keeper::{KeeperQueue, unix_now_ns};
use undertone_network::handle::{Delivery, MessageSink, NodeHandle};

/// Maximum payload bytes waiting for the services; beyond it, messages are neither stored nor pushed.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// Maximum number of messages waiting for the services.
const WAITING_MAX: usize = 8_192;

/// Counts of messages waiting for the services; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct FeedCounts(Arc<FeedCells>);

#[derive(Debug, Default)]
struct FeedCells {
    messages: AtomicU64,
    payload_bytes: AtomicUsize,
}

impl FeedCounts {
    /// Returns the number of messages delivered but not yet offered to the archive.
    pub(super) fn waiting(&self) -> u64 {
        self.0.messages.load(Ordering::Acquire)
    }

    /// Counts a message; returns the payload bytes now waiting.
    fn add(&self, payload_bytes: usize) -> usize {
        self.0.messages.fetch_add(1, Ordering::AcqRel);
        let bytes = &self.0.payload_bytes;
        bytes.fetch_add(payload_bytes, Ordering::Relaxed) + payload_bytes
    }

    /// Reverts [`Self::add`].
    fn remove(&self, payload_bytes: usize) {
        self.0
            .payload_bytes
            .fetch_sub(payload_bytes, Ordering::Relaxed);
        self.0.messages.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Sink of a node's deliveries that passes them to the services.
struct Feed {
    waiting: mpsc::Sender<Delivery>,
    counts: FeedCounts,
}

impl MessageSink for Feed {
    fn takes_fragments(&self) -> bool {
        true
    }

    fn deliver(&self, delivery: &Delivery) -> bool {
        let len = delivery.message.payload.len();
        let waiting_bytes = self.counts.add(len);
        let sent = match waiting_bytes <= WAITING_BYTES_MAX {
            true => self.waiting.try_send(delivery.clone()),
            false => Err(TrySendError::Full(delivery.clone())),
        };
        let Err(error) = sent else { return true };
        self.counts.remove(len);
        let is_full = matches!(error, TrySendError::Full(_));
        if is_full {
            tracing::warn!("a message is neither kept nor pushed: too many wait for the services");
        }
        is_full
    }
}

/// Starts to pass the node's messages to the archive's keeper and to `pushed`, each with its hash. The hash is computed
/// off the network thread. Returns the counts of waiting messages.
pub(super) fn start(
    node: &NodeHandle,
    keeper: Option<KeeperQueue>,
    mut pushed: Option<mpsc::Sender<StoredMessage>>,
) -> FeedCounts {
    let (waiting, mut deliveries) = mpsc::channel::<Delivery>(WAITING_MAX);
    let counts = FeedCounts::default();
    let taken = counts.clone();
    tokio::spawn(async move {
        while let Some(delivery) = deliveries.recv().await {
            let payload_bytes = delivery.message.payload.len();
            let topic = delivery.pubsub_topic.to_string();
            let message = StoredMessage::new(topic, delivery.message);
            if let Some(keeper) = &keeper {
                keeper.offer(&message, unix_now_ns());
            }
            taken.remove(payload_bytes);
            if let Some(pushing) = &pushed
                && pushing.send(message).await.is_err()
            {
                // The host ends with the node's streams; messages may still be waiting for the archive then.
                pushed = None;
            }
        }
    });
    let feed = Feed {
        waiting,
        counts: counts.clone(),
    };
    node.add_sink(Arc::new(feed));
    counts
}
