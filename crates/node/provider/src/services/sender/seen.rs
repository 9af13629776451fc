//! Own messages that come back from other nodes, by relay or pushed by a filter peer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc;

use undertone_network::handle::{Delivery, MessageSink};

/// Maximum number of messages waiting for the sender. A message dropped here is confirmed by a
/// store instead.
const WAITING_MAX: usize = 256;

/// Sink that passes on deliveries from other nodes while messages are in progress.
pub(super) struct SeenSink {
    is_wanted: Arc<AtomicBool>,
    waiting: mpsc::Sender<Delivery>,
}

/// Creates a sink, the switch that enables it, and the queue of its deliveries.
pub(super) fn seen_sink() -> (Arc<SeenSink>, Arc<AtomicBool>, mpsc::Receiver<Delivery>) {
    let (waiting, seen) = mpsc::channel(WAITING_MAX);
    let is_wanted = Arc::<AtomicBool>::default();
    let sink = SeenSink {
        is_wanted: Arc::clone(&is_wanted),
        waiting,
    };
    (Arc::new(sink), is_wanted, seen)
}

impl MessageSink for SeenSink {
    fn takes_fragments(&self) -> bool {
        true
    }

    fn deliver(&self, delivery: &Delivery) -> bool {
        if delivery.from.is_some() && self.is_wanted.load(Ordering::Relaxed) {
            // A full queue drops the message; see above.
            let _ = self.waiting.try_send(delivery.clone());
        }
        !self.waiting.is_closed()
    }
}
