//! Own messages that come back from others, by relay or pushed by a filter peer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc;

use undertone_network::handle::{Delivery, MessageSink};

/// Messages that wait for the sender at most. One that is dropped here is confirmed by a store.
const WAITING_MAX: usize = 256;

/// Sink of deliveries that passes on those of other nodes while messages are on their way.
pub(super) struct SeenSink {
    is_wanted: Arc<AtomicBool>,
    waiting: mpsc::Sender<Delivery>,
}

/// Creates a sink, the switch that says whether deliveries are wanted, and the queue of wanted ones.
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
