use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::{mpsc, oneshot};

use super::stderr::Stderr;
use crate::protocol::{Delivery, Event, Outcome, Ready, Reply};

/// State shared by the task that reads the peer's lines and the peer's driver.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Waiters for replies by request reference; `None` once the peer has closed its output.
    pub(super) waiting: Mutex<Option<BTreeMap<u64, oneshot::Sender<Outcome>>>>,
    /// Line that broke the protocol and so ended the reading.
    pub(super) broken_line: Mutex<Option<String>>,
    pub(super) stderr: Stderr,
}

/// Passes every line to its receiver until the output ends or a line breaks the protocol.
pub(super) async fn read_lines(
    stdout: impl AsyncRead + Unpin,
    shared: Arc<Shared>,
    ready: oneshot::Sender<Ready>,
    messages: mpsc::UnboundedSender<Delivery>,
) {
    let mut ready = Some(ready);
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Ok(event) = serde_json::from_str::<Event>(&line) {
            match event {
                Event::Message(message) => drop(messages.send(message)),
                Event::Ready(found) => drop(ready.take().map(|sender| sender.send(found))),
            }
        } else if let Ok(reply) = serde_json::from_str::<Reply>(&line) {
            let waiting = shared
                .waiting
                .lock()
                .as_mut()
                .and_then(|all| all.remove(&reply.reference));
            // The waiter may have given up.
            drop(waiting.map(|sender| sender.send(reply.outcome)));
        } else {
            *shared.broken_line.lock() = Some(line);
            break;
        }
    }
    *shared.waiting.lock() = None;
}
