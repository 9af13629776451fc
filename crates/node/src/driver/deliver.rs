//! Handing messages to the application, after the copies to peers are on their way.

use tokio::sync::mpsc;

use crate::handle::{Deliveries, Delivery};

/// Delivers, as a task of its own. Its turn on the network thread comes after those of the
/// connections that were woken to write: a relay's latency does not include its application. What
/// waits is bounded by what one turn of the event loop accepts.
pub(crate) async fn run(mut waiting: mpsc::UnboundedReceiver<Delivery>, sinks: Deliveries) {
    while let Some(delivery) = waiting.recv().await {
        sinks.deliver(&delivery);
    }
}
