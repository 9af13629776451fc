//! Handing messages to the application, after the copies to peers are on their way.

use tokio::sync::mpsc;

use crate::handle::{Deliveries, Delivery};

/// Delivers, as a task of its own. Its turn on the network thread comes when nothing else has one, so
/// after those of the connections that were woken to write: a relay's latency does not include its
/// application. What waits is bounded by what one turn of the event loop accepts.
pub(crate) async fn run(mut waiting: mpsc::UnboundedReceiver<Delivery>, sinks: Deliveries) {
    while let Some(first) = waiting.recv().await {
        tokio::task::yield_now().await;
        sinks.deliver(&first);
        while let Ok(delivery) = waiting.try_recv() {
            sinks.deliver(&delivery);
        }
    }
}
