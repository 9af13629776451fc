//! Delivery of messages to the application, after the copies to peers have been queued.

use tokio::sync::mpsc;

use crate::handle::{Deliveries, Delivery};

/// Delivers messages, as a task of its own. On the network thread it runs after the connection tasks that
/// were woken to write, so that the application does not add to the relay's latency. The queue is bounded by
/// what one turn of the event loop accepts.
pub(crate) async fn run(mut waiting: mpsc::UnboundedReceiver<Delivery>, sinks: Deliveries) {
    while let Some(first) = waiting.recv().await {
        tokio::task::yield_now().await;
        sinks.deliver(&first);
        while let Ok(delivery) = waiting.try_recv() {
            sinks.deliver(&delivery);
        }
    }
}
