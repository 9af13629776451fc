//! Reader of a node's event stream: which messages it delivered, and how often.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// Numbers of deliveries, by the messages' hashes as REST writes them.
pub type DeliveryCounts = BTreeMap<String, u32>;

/// Reader of `/events/v1/messages`; a drop ends it.
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
    /// Begins to read the events of a node.
    ///
    /// # Errors
    /// The error of the connection.
    pub async fn start(rest: SocketAddr) -> io::Result<Self> {
        let mut stream = TcpStream::connect(rest).await?;
        // By HTTP/1.0 the stream comes in one piece.
        let request = format!("GET /events/v1/messages HTTP/1.0\r\nHost: {rest}\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let counts = Arc::<Mutex<DeliveryCounts>>::default();
        let counting = Arc::clone(&counts);
        let reading = tokio::spawn(async move {
            let mut lines = BufReader::new(stream).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let Some(data) = line.strip_prefix("data:") else {
                    continue;
                };
                let event: Value = serde_json::from_str(data).unwrap_or_default();
                if let Some(hash) = event["messageHash"].as_str() {
                    *counting.lock().entry(hash.to_owned()).or_default() += 1;
                }
            }
        });
        Ok(Self { counts, reading })
    }

    /// Returns what was delivered so far.
    #[must_use]
    pub fn counts(&self) -> DeliveryCounts {
        self.counts.lock().clone()
    }

    /// Whether the stream has ended, so that later deliveries are not counted.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.reading.is_finished()
    }
}
