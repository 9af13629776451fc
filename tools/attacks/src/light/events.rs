//! Reader of a node's event stream: which messages it delivered, and how often.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::rest;

/// Delivery counts by message hash, in REST's notation.
pub type DeliveryCounts = BTreeMap<String, u32>;

/// Reader of `/events/v1/messages`, which ends when it is dropped.
pub struct EventReader {
    counts: Arc<Mutex<DeliveryCounts>>,
    reading: JoinHandle<()>,
}

impl Drop for EventReader {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl EventReader {
    /// Starts to read the events of a node.
    ///
    /// # Errors
    /// The error of the connection, or `UnexpectedEof` if the node refused the stream.
    pub async fn start(server: SocketAddr) -> io::Result<Self> {
        let mut events = rest::events(server, "/events/v1/messages", None).await?;
        let counts = Arc::<Mutex<DeliveryCounts>>::default();
        let counting = Arc::clone(&counts);
        let reading = tokio::spawn(async move {
            while let Some(data) = events.next().await {
                let event: Value = serde_json::from_str(&data).unwrap_or_default();
                if let Some(hash) = event["messageHash"].as_str() {
                    *counting.lock().entry(hash.to_owned()).or_default() += 1;
                }
            }
        });
        Ok(Self { counts, reading })
    }

    /// Returns the deliveries so far.
    #[must_use]
    pub fn counts(&self) -> DeliveryCounts {
        self.counts.lock().clone()
    }

    /// Whether the stream has ended, after which deliveries are not counted.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.reading.is_finished()
    }
}
