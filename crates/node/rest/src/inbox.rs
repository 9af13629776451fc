//! Received messages of the REST API. Each is stored once and shared by all readers.

use std::sync::Arc;

use super::cache::MessageCache;
use super::events::EventLog;
use super::messaging::ReceivedMessages;
use undertone_network::handle::{Delivery, MessageSink};

#[cfg(test)]
#[path = "tests/inbox.rs"]
mod tests;

/// Sink of the messages of one source: relay, or the filter peers.
pub(super) struct Inbox {
    /// Messages of this source alone.
    pub(super) cache: Arc<MessageCache>,
    pub(super) received: Arc<ReceivedMessages>,
    pub(super) events: Arc<EventLog>,
}

impl MessageSink for Inbox {
    fn deliver(&self, delivery: &Delivery) -> bool {
        let delivery = Arc::new(delivery.clone());
        self.cache.keep(&delivery);
        self.received.keep(&delivery);
        // Last, so that a client notified of a message can fetch it.
        self.events.keep(&delivery);
        true
    }
}
