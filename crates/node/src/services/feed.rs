//! Feed of the services: messages that the relay found valid, each with its hash.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use undertone_services::history::StoredMessage;

use super::keeper::{KeeperQueue, unix_now_ns};
use crate::handle::{Delivery, MessageSink};

/// Bytes of payloads that wait for the services at most; later messages are not kept or pushed.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// Messages that wait for the services at most.
const WAITING_MAX: usize = 8_192;

/// Sink of a node's deliveries that passes them to the services.
pub(super) struct Feed {
    waiting: mpsc::Sender<Delivery>,
    waiting_bytes: Arc<AtomicUsize>,
}

impl MessageSink for Feed {
    fn deliver(&self, delivery: &Delivery) -> bool {
        let len = delivery.message.payload.len();
        let waiting = self.waiting_bytes.fetch_add(len, Ordering::Relaxed) + len;
        let sent = match waiting <= WAITING_BYTES_MAX {
            true => self.waiting.try_send(delivery.clone()),
            false => Err(TrySendError::Full(delivery.clone())),
        };
        let Err(error) = sent else { return true };
        self.waiting_bytes.fetch_sub(len, Ordering::Relaxed);
        let is_full = matches!(error, TrySendError::Full(_));
        if is_full {
            tracing::warn!("a message is neither kept nor pushed: too many wait for the services");
        }
        is_full
    }
}

/// Starts to pass messages to the archive's keeper and to `pushed`, each with its hash, which is computed away
/// from the network's thread.
pub(super) fn start(
    keeper: Option<KeeperQueue>,
    pushed: Option<mpsc::Sender<StoredMessage>>,
) -> Feed {
    let (waiting, mut deliveries) = mpsc::channel::<Delivery>(WAITING_MAX);
    let waiting_bytes = Arc::new(AtomicUsize::new(0));
    let taken_bytes = Arc::clone(&waiting_bytes);
    tokio::spawn(async move {
        while let Some(delivery) = deliveries.recv().await {
            taken_bytes.fetch_sub(delivery.message.payload.len(), Ordering::Relaxed);
            let topic = delivery.pubsub_topic.to_string();
            let message = StoredMessage::new(topic, delivery.message);
            if let Some(keeper) = &keeper {
                keeper.offer(&message, unix_now_ns());
            }
            if let Some(pushed) = &pushed
                && pushed.send(message).await.is_err()
            {
                return;
            }
        }
    });
    Feed {
        waiting,
        waiting_bytes,
    }
}
